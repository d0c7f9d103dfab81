// The file of receipts: the test stories that all clients share, pruning, and disk errors.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>

#include "arena_client/chance.h"
#include "arena_client/log.h"
#include "arena_client/json.h"
#include "arena_client/options.h"
#include "arena_client/receipts.h"
#include "conversation.h"

namespace {

namespace fs = std::filesystem;
namespace v1 = arena::v1;
using arena::json::field;

std::string file;  // of receipts, in a folder that is removed afterwards
std::vector<std::string> said;

void hear(arena::Level level, const std::string& line) {
  const char* const names[] = {"info", "warn", "error"};
  std::string text = std::string(names[static_cast<int>(level)]) + ": " + line;
  for (auto at = text.find(file); at != std::string::npos; at = text.find(file)) text.replace(at, file.size(), "FILE");
  said.push_back(text);
}

std::string together(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& each : lines) text += each + "\n";
  return text;
}

void demand_said(const std::vector<std::string>& wanted) {
  demand(said == wanted, "it says\n" + together(said) + "and is to say\n" + together(wanted));
  said.clear();
}

std::string kept() { return fs::exists(file) ? content(file) : ""; }

const arena::Seat SEAT{1, std::string(16, '\0'), std::string(32, '\0'), std::string(32, '\0')};

void step(const Struct& step, std::optional<arena::Receipts>& receipts) {
  if (step.fields().count("starts")) {
    receipts.emplace(file);
  } else if (step.fields().count("tears")) {
    fs::resize_file(file, fs::file_size(file) - arena::json::count_of(field(step, "tears")));
  } else if (step.fields().count("reports")) {
    receipts->record_match(message_from<v1::MatchReport>(field(step, "reports")), &SEAT);
  } else {
    const Value& shows = field(step, "shows");
    if (shows.kind_case() == Value::kStructValue) receipts->record_log(message_from<v1::LogState>(shows));
  }
  std::vector<std::string> warnings;  // only warnings, because the errors in a story come from checks
  for (const std::string& each : arena::json::texts_of(field(step, "says"))) {
    if (each.rfind("warn: ", 0) == 0) warnings.push_back(each);
  }
  demand_said(warnings);
}

void check_story(const Struct& story) {
  std::optional<arena::Receipts> receipts;
  int at = 0;
  try {
    for (const Value& each : field(story, "steps").list_value().values()) at++, step(each.struct_value(), receipts);
    const std::string wanted = together(arena::json::texts_of(field(story, "kept")));
    demand(kept() == wanted, "it keeps\n" + kept() + "and is to keep\n" + wanted);
  } catch (const std::exception& error) {
    throw std::runtime_error(text_of(story, "title") + ", step " + std::to_string(at) + ": " + error.what());
  }
}

v1::LogState log_of(std::uint64_t size) {
  v1::LogState state;
  state.mutable_head()->set_size(size);
  return state;
}

v1::MatchReport report_of(std::uint64_t match) {
  v1::MatchReport report;
  report.set_match_id(match);
  report.set_interrupted("x");
  report.mutable_entry()->set_number(match);
  report.mutable_entry()->set_leaf("<&>\xFF");
  report.mutable_entry()->mutable_head()->set_size(match);
  return report;
}

void write(const std::string& text) { std::ofstream(file, std::ios::binary | std::ios::trunc) << text; }

void check_shortening() {
  arena::Receipts receipts(file);
  receipts.record_log(log_of(1));
  for (std::uint64_t match = 2; match <= 2'002; match++) receipts.record_match(report_of(match), nullptr);
  said.clear();
  const std::string text = kept();
  const auto lines = std::count(text.begin(), text.end(), '\n');
  demand(lines > 1'000 && lines <= 1'100, "it keeps the newest thousand: " + std::to_string(lines));
  demand(text.rfind(R"({"arena_receipts":1,"keys":[],"restores":[],"head":{"size":1,)", 0) == 0, "the pin goes before them");
  demand(text.find("\"leaf\":\"<&>\xEF\xBF\xBD\"") != std::string::npos, "a leaf is kept as it is, as UTF-8");
  demand(text.find("\"nonce\"") == std::string::npos, "of a seat that is not known it says nothing");
  struct stat found {};
  demand(::stat(file.c_str(), &found) == 0 && (found.st_mode & 0777) == 0600, "only its owner reads it");
  demand(text.find(R"({"match":2002,)", text.size() - 200) != std::string::npos, "the newest is the last");
  arena::Receipts again(file);
  again.record_log(log_of(2'001));
  demand(kept() == text && said.empty(), "it is read again, and a log with fewer entries is left out: " + together(said));
  again.record_log(log_of(2'002));
  demand(kept().rfind(text + R"({"arena_receipts":1,)", 0) == 0, "and no other log is");
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& each : fs::directory_iterator(fs::path(file).parent_path())) files++;
  demand(files == 1, "nothing else is left there");
}

/// A file that ends in the middle of a line: the lines before that one count, and the bot continues to play.
void check_torn() {
  arena::Receipts receipts(file);
  receipts.record_log(log_of(1));
  receipts.record_match(report_of(2), &SEAT);
  const std::string whole = kept();
  for (std::size_t size : {whole.size() - 2, whole.find('\n') + 10, whole.find('\n') - 1}) {
    write(whole.substr(0, size));
    said.clear();
    arena::Receipts torn(file);
    torn.record_match(report_of(3), nullptr);
    demand_said({"warn: the last line of FILE was not finished, and is left out"});
    const std::size_t before = size > whole.find('\n') ? whole.find('\n') + 1 : 0;
    demand(kept().rfind(whole.substr(0, before) + R"({"match":3,)", 0) == 0, "only whole lines are kept: " + kept());
  }
  for (const char* strange : {"7\n", "{\"match\":1}\n",
                              R"({"arena_receipts":1,"keys":7,"restores":[],"head":{"size":1,"root":"","signature":""}})",
                              R"({"match":1,"head":{"size":-1}})", R"({"match":1,"head":{"size":1.5}})"}) {
    write(std::string(strange) + "\n");
    said.clear();
    arena::Receipts other(file);
    other.record_match(report_of(2), nullptr);
    demand(said.size() == 1 && said[0].rfind("warn: receipts cannot be kept in FILE (", 0) == 0, std::string("it is said once: ") + strange);
    demand(kept().rfind(std::string(strange) + "\n" + R"({"match":2,)", 0) == 0, "what cannot be read is left alone: " + kept());
  }
}

void check_unusable() {
  fs::create_directory(file);
  arena::Receipts receipts(file);
  receipts.record_log(log_of(1));
  receipts.record_match(report_of(2), &SEAT);
  const std::string warning = "warn: receipts cannot be kept in FILE (the file FILE cannot be used: Is a directory); the bot plays on without";
  demand_said({warning});
}

/// A disk that becomes full in the middle of a line, and later has room again.
void check_full_disk() {
  ::signal(SIGXFSZ, SIG_IGN);
  arena::Receipts receipts(file);
  receipts.record_log(log_of(1));
  const std::string before = kept();
  rlimit usual{};
  ::getrlimit(RLIMIT_FSIZE, &usual);
  const rlimit full{before.size() + 20, usual.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &full);
  for (std::uint64_t match : {2, 3}) receipts.record_match(report_of(match), &SEAT);
  ::setrlimit(RLIMIT_FSIZE, &usual);
  const std::string warning = "warn: receipts cannot be kept in FILE (the file FILE cannot be used: File too large); the bot plays on without";
  demand(std::count(said.begin(), said.end(), warning) == 1, "it is said once: " + together(said));
  demand(kept() == before, "half a line is not left there");
  receipts.record_match(report_of(4), &SEAT);
  demand(kept().rfind(before + R"({"match":4,)", 0) == 0, "what comes is kept");
}

std::string place(std::optional<std::string> token, std::optional<std::string> token_file, bool receipts = true) {
  arena::Options options;
  options.address = "localhost:1";
  options.token = std::move(token);
  options.token_file = std::move(token_file);
  options.receipts = receipts;
  arena::Bot bot;
  bot.version = "1";
  const arena::Profile profile = arena::profile_of(bot, options);
  return profile.receipts;
}

void check_places() {
  for (const char* name : {"ARENA_TOKEN", "ARENA_TOKEN_FILE"}) ::unsetenv(name);
  demand(place({}, "here") == "here.receipts", "beside the token");
  const std::string own = place({}, {});
  demand(own.find("/.arena/tokens/localhost_1-bot.token.receipts") != std::string::npos, "beside the bot's own: " + own);
  demand(place("given", {}).empty(), "a token that is given has no receipts beside it");
  demand(place("given", "here") == "here.receipts", "but where a file is named");
  demand(place({}, "here", false).empty(), "and none where none are wanted");
}

}  // namespace

int main(int count, char** arguments) {
  const std::string folder = count > 1 ? arguments[1] : "clients/conformance";
  const fs::path home = fs::temp_directory_path() / ("arena-client-cpp-" + arena::hex(arena::random_bytes(6)));
  arena::log_to(hear);
  int told = 0, failed = 0;
  const auto tell = [&](const std::function<void()>& story) {
    const fs::path place = home / std::to_string(++told);
    fs::create_directories(place);
    file = (place / "bot.receipts").string();
    said.clear();
    try {
      story();
    } catch (const std::exception& error) {
      failed++;
      std::cout << "FAILED: " << error.what() << "\n";
    }
  };
  const auto stories = message_from<ListValue>(content(folder + "/vectors/receipts.json"));
  for (const Value& each : stories.values()) {
    const Struct& story = each.struct_value();
    if (field(story, "without_checks").bool_value()) tell([&] { check_story(story); });
  }
  if (told < 10) failed++, std::cout << "FAILED: there are " << told << " stories\n";
  for (auto* check : {check_shortening, check_torn, check_unusable, check_full_disk, check_places}) tell(check);
  fs::remove_all(home);
  std::cout << told - failed << " of " << told << " stories of receipts passed\n";
  return failed ? 1 : 0;
}
