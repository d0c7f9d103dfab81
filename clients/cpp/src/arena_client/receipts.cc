#include "arena_client/receipts.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "arena_client/chance.h"
#include "arena_client/files.h"
#include "arena_client/log.h"
#include "arena_client/merkle.h"

namespace arena {
namespace {

constexpr std::size_t KEPT = 1000;  // receipts that a file keeps, the newest; up to twice as many for a while
const std::string PIN = R"({"arena_receipts")";

std::string digits(const std::string& bytes) { return json::quoted(hex(bytes)); }

std::string line_of(const v1::LogHead& head) {
  return R"({"size":)" + std::to_string(head.size()) + R"(,"root":)" + digits(head.root()) + R"(,"signature":)" +
         digits(head.signature()) + "}";
}

std::string bytes_of(const json::Value& value) {
  const auto bytes = from_hex(json::text_of(value));
  if (!bytes) throw std::runtime_error(json::shown(value) + " where there should be hexadecimal digits");
  return *bytes;
}

v1::LogHead head_of(const json::Value& value) {
  const json::Object& fields = json::object_of(value);
  v1::LogHead head;
  head.set_size(json::count_of(json::field(fields, "size")));
  head.set_root(bytes_of(json::field(fields, "root")));
  head.set_signature(bytes_of(json::field(fields, "signature")));
  return head;
}

template <class Each, class Which>
void drop(std::vector<Each>& all, Which which) {
  all.erase(std::remove_if(all.begin(), all.end(), which), all.end());
}

/// Keep the last ones of a list.
template <class Each>
void shed(std::vector<Each>& all) {
  if (all.size() > KEPT) all.erase(all.begin(), all.end() - KEPT);
}

template <class Numbers>
std::string list_of(const Numbers& numbers) {
  std::string text;
  for (const auto each : numbers) text += (text.empty() ? "" : ", ") + std::to_string(each);
  return "[" + text + "]";
}

/// Return what is wrong with the entry of a report, in words; empty where nothing is.
std::string problem_of(const v1::MatchReport& report) {
  const v1::LogEntry& entry = report.entry();
  if (!included(entry)) return "its proof does not lead from leaf to head";
  json::Object leaf;
  try {
    leaf = json::object(entry.leaf());
  } catch (const std::runtime_error& error) {
    return std::string("its leaf cannot be read (") + error.what() + ")";
  }
  std::vector<std::pair<std::string, std::string>> told = {{"number", std::to_string(entry.number())},
                                                           {"match", std::to_string(report.match_id())}};
  if (report.interrupted().empty()) {
    told.emplace_back("places", list_of(report.places()));
    told.emplace_back("points", list_of(report.scores()));
  }
  for (const auto& [name, said] : told) {
    const std::string says = json::shown(json::field(leaf, name));
    if (says != said) return "its leaf says " + says + " for \"" + name + "\", the report " + said;
  }
  return "";
}

}  // namespace

void Receipts::read() {
  if (read_ || file_.empty()) return;
  read_ = true;
  try {
    std::string content = read_file(file_).value_or("");
    const std::size_t whole = content.rfind('\n') == std::string::npos ? 0 : content.rfind('\n') + 1;
    if (whole < content.size()) {  // it was never finished, and the next would be a part of it
      log(Level::warn, "the last line of " + file_ + " was not finished, and is left out");
      shorten_file(file_, whole);
      content.resize(whole);
    }
    std::istringstream text(content);
    for (std::string line; std::getline(text, line);) {
      if (line.empty()) continue;
      lines_++;
      remember(line);
    }
  } catch (const std::runtime_error& error) {
    warn(error.what());
  }
}

void Receipts::remember(const std::string& line) {
  const json::Object fields = json::object(line);
  const v1::LogHead head = head_of(json::field(fields, "head"));
  if (line.rfind(PIN, 0) == 0) {
    Pin pin{json::texts_of(json::field(fields, "keys")), json::texts_of(json::field(fields, "restores")), head};
    if (fields.fields().count("cut")) forget(json::count_of(json::field(fields, "cut")));
    pin_ = std::move(pin);
    return;
  }
  entries_.push_back({json::count_of(json::field(fields, "number")), json::count_of(json::field(fields, "match"))});
  heads_.push_back(head);
}

std::optional<v1::LogHead> Receipts::latest(std::uint64_t size) const {
  std::optional<v1::LogHead> best;
  const auto weigh = [&](const v1::LogHead& head) {
    if (head.size() <= size && (!best || head.size() > best->size())) best = head;
  };
  for (const v1::LogHead& head : heads_) weigh(head);
  if (pin_) weigh(pin_->head);
  return best;
}

std::vector<std::uint64_t> Receipts::beyond(std::uint64_t size) const {
  std::vector<std::uint64_t> matches;
  for (const Entry& entry : entries_) {
    if (entry.number > size) matches.push_back(entry.match);
  }
  return matches;
}

void Receipts::pin_to(const v1::LogState& state, std::optional<std::uint64_t> cut) {
  if (cut) forget(*cut);
  pin_ = Pin{{state.keys().begin(), state.keys().end()}, {}, state.head()};
  for (const v1::LogEntry& entry : state.restores()) pin_->restores.push_back(entry.leaf());
  add(PIN + ":1,\"keys\":" + json::quoted(pin_->keys) + ",\"restores\":" + json::quoted(pin_->restores) + ",\"head\":" +
      line_of(pin_->head) + (cut ? ",\"cut\":" + std::to_string(*cut) : "") + "}");
}

/// Count no more with what lies beyond a cut; the file keeps it.
void Receipts::forget(std::uint64_t cut) {
  drop(heads_, [cut](const v1::LogHead& head) { return head.size() > cut; });
  drop(entries_, [cut](const Entry& entry) { return entry.number > cut; });
}

void Receipts::take(const v1::MatchReport& report, const Seat* seat) {
  const v1::LogEntry& entry = report.entry();
  read();
  if (const std::string problem = problem_of(report); !problem.empty()) {
    log(Level::error, "match " + std::to_string(report.match_id()) +
                          ": the server's log of results does not bear out its report: " + problem);
  }
  if (!entry.has_head()) return;
  heads_.push_back(entry.head());
  entries_.push_back({entry.number(), report.match_id()});
  std::vector<std::string> proof;
  for (const std::string& each : entry.proof()) proof.push_back(hex(each));
  std::string line = R"({"match":)" + std::to_string(report.match_id()) + R"(,"seat":)" + std::to_string(report.seat());
  if (seat) {
    line += R"(,"nonce":)" + digits(seat->nonce) + R"(,"salt":)" + digits(seat->salt) + R"(,"commitment":)" + digits(seat->commitment);
  }
  line += R"(,"number":)" + std::to_string(entry.number()) + R"(,"leaf":)" + json::quoted(entry.leaf());
  add(line + R"(,"head":)" + line_of(entry.head()) + R"(,"proof":)" + json::quoted(proof) + "}");
}

void Receipts::add(const std::string& line) {
  shed(heads_);
  shed(entries_);
  if (file_.empty()) return;
  try {
    if (lines_ >= 2 * KEPT) shorten();
    append_to_file(file_, line + "\n");
    lines_++;
  } catch (const std::runtime_error& error) {
    warn(error.what());
  }
}

/// Keep the newest receipts, and the newest pin before them.
void Receipts::shorten() {
  std::istringstream text(read_file(file_).value_or(""));
  std::vector<std::string> lines;
  std::string kept;
  for (std::string line; std::getline(text, line);) {
    if (line.rfind(PIN, 0) == 0) kept = line + "\n";
    else lines.push_back(line + "\n");
  }
  shed(lines);
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
