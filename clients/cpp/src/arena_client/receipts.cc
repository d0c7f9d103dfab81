#include "arena_client/receipts.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "arena_client/chance.h"
#include "arena_client/files.h"
#include "arena_client/json.h"
#include "arena_client/log.h"

namespace arena {
namespace {

constexpr std::size_t KEPT = 1000;  // receipts that stay in the file when it is pruned, at twice as many lines
const std::string PIN = R"({"arena_receipts")";

std::string digits(const std::string& bytes) { return json::quoted(hex(bytes)); }

std::string line_of(const v1::LogHead& head) {
  return R"({"size":)" + std::to_string(head.size()) + R"(,"root":)" + digits(head.root()) + R"(,"signature":)" +
         digits(head.signature()) + "}";
}

bool is_pin(const std::string& line) { return line.rfind(PIN, 0) == 0; }

}  // namespace

void Receipts::record_log(const v1::LogState& state) {
  read_once();
  if (!state.has_head()) return;
  std::vector<std::string> restores;
  for (const v1::LogEntry& entry : state.restores()) restores.push_back(entry.leaf());
  const std::vector<std::string> keys(state.keys().begin(), state.keys().end());
  const std::string line = PIN + ":1,\"keys\":" + json::quoted(keys) + ",\"restores\":" + json::quoted(restores) + ",\"head\":" +
                           line_of(state.head()) + "}";
  const bool continues = keys_.size() <= keys.size() && std::equal(keys_.begin(), keys_.end(), keys.begin()) &&
                         state.head().size() >= longest_;
  if (continues && line != pin_) add(line);
}

void Receipts::record_match(const v1::MatchReport& report, const Seat* seat) {
  read_once();
  const v1::LogEntry& entry = report.entry();
  if (!entry.has_head()) return;
  std::vector<std::string> proof;
  for (const std::string& each : entry.proof()) proof.push_back(hex(each));
  std::string line = R"({"match":)" + std::to_string(report.match_id()) + R"(,"seat":)" + std::to_string(report.seat());
  if (seat) {
    line += R"(,"nonce":)" + digits(seat->nonce) + R"(,"salt":)" + digits(seat->salt) + R"(,"commitment":)" + digits(seat->commitment);
  }
  line += R"(,"number":)" + std::to_string(entry.number()) + R"(,"leaf":)" + json::quoted(entry.leaf());
  add(line + R"(,"head":)" + line_of(entry.head()) + R"(,"proof":)" + json::quoted(proof) + "}");
}

/// Read the file at the first call, and remove an unfinished last line, which would corrupt the next line.
void Receipts::read_once() {
  if (read_) return;
  read_ = true;
  try {
    std::string content = read_file(file_).value_or("");
    const std::size_t whole = content.rfind('\n') == std::string::npos ? 0 : content.rfind('\n') + 1;
    if (whole < content.size()) {
      log(Level::warn, "the last line of " + file_ + " was not finished, and is left out");
      shorten_file(file_, whole);
      content.resize(whole);
    }
    std::istringstream text(content);
    for (std::string line; std::getline(text, line);) {
      if (line.empty()) continue;
      lines_++;
      note(line);
    }
  } catch (const std::runtime_error& error) {
    warn(error.what());
  }
}

/// Store the parts of a line that are needed later.
void Receipts::note(const std::string& line) {
  const json::Object fields = json::object(line);
  const std::uint64_t size = json::count_of(json::field(json::object_of(json::field(fields, "head")), "size"));
  if (is_pin(line)) {
    keys_ = json::texts_of(json::field(fields, "keys"));
    pin_ = line;
  }
  longest_ = std::max(longest_, size);
}

/// Append a line, completely or not at all.
void Receipts::add(const std::string& line) {
  try {
    note(line);
    if (lines_ >= 2 * KEPT) prune();
    append_to_file(file_, line + "\n");
    lines_++;
  } catch (const std::runtime_error& error) {
    warn(error.what());
  }
}

/// Leave only the newest receipts in the file, after the newest line with keys.
void Receipts::prune() {
  std::istringstream text(read_file(file_).value_or(""));
  std::vector<std::string> lines;
  std::string kept;
  for (std::string line; std::getline(text, line);) {
    if (is_pin(line)) kept = line + "\n";
    else lines.push_back(line + "\n");
  }
  if (lines.size() > KEPT) lines.erase(lines.begin(), lines.end() - KEPT);
  lines_ = lines.size() + !kept.empty();
  for (const std::string& line : lines) kept += line;
  replace_file(file_, kept);
}

void Receipts::warn(const std::string& why) {
  if (troubled_) return;
  troubled_ = true;
  log(Level::warn, "receipts cannot be kept in " + file_ + " (" + why + "); the bot plays on without");
}

}  // namespace arena
