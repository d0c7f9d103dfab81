// What the SDK knows of a deal before it is dealt: what comes of it in receipts, and when the server's log is asked for a proof.
#include <filesystem>
#include <iostream>

#include "arena_client/chance.h"
#include "arena_client/connection.h"
#include "arena_client/log.h"
#include "conversation.h"
#include "virtual_clock.h"

namespace {

namespace fs = std::filesystem;
namespace v1 = arena::v1;

std::vector<std::string> said;

struct Nobody : arena::Inbox {
  void deliver(std::uint64_t, std::shared_ptr<const v1::PlayResponse>, double) override {}
  void over(std::uint64_t) override {}
  void hurry() override {}
  void end(std::exception_ptr) override {}
};

/// A server that keeps what it hears and is asked.
struct Server {
  struct Line : arena::Call {
    explicit Line(Server& server) : server(server) {}
    void write(const v1::PlayRequest& request) override { server.heard.push_back(request); }
    void end() override {}
    void cancel() override {}
    Server& server;
  };
  struct Door : arena::Channel {
    explicit Door(Server& server) : server(server) {}
    std::shared_ptr<arena::Call> play(const std::string&, arena::CallEvents events) override {
      server.events = std::move(events);
      return std::make_shared<Line>(server);
    }
    void register_bot(const v1::RegisterBotRequest&, double, Registered) override {}
    void prove(std::uint64_t first, std::uint64_t second, double, std::function<void(const arena::Proof&)> told) override {
      server.asked.push_back(std::to_string(first) + " " + std::to_string(second));
      server.told = std::move(told);
    }
    Server& server;
  };

  void says(const v1::PlayResponse& message) { events.message(std::make_shared<v1::PlayResponse>(message)); }

  std::vector<v1::PlayRequest> heard;
  std::vector<std::string> asked;
  arena::CallEvents events;
  std::function<void(const arena::Proof&)> told;
};

/// A bot with its receipts, on a server; started anew with the same file where a folder has one.
struct Playing {
  explicit Playing(const std::string& file) : checker(file) {
    profile.token = "t";
    profile.games = {"sixth_sense"};
    profile.capacity = 2;
    const auto open = [this] { return std::make_shared<Server::Door>(server); };
    connection = std::make_unique<arena::Connection>(profile, open, clock, inbox, [] { return 1.0; }, nullptr, &checker);
    connection->start();
  }
  ~Playing() { connection->end(); }

  void welcome(const v1::LogState& log) {
    v1::PlayResponse message;
    message.mutable_welcome()->add_games()->set_name("sixth_sense");
    *message.mutable_welcome()->mutable_log() = log;
    server.says(message);
  }
  /// Invite it and begin the match: the deal is the one it was promised, or another. Returns its own chance.
  std::string deal(std::uint64_t number, const std::string& commitment, const std::string& dealt) {
    v1::PlayResponse invited;
    auto* invitation = invited.add_invitations();
    invitation->set_invitation_id(number);
    invitation->set_commitment(arena::sha256(SALT + commitment));
    server.heard.clear();
    server.says(invited);
    begin(number, dealt);
    demand(server.heard.size() == 1 && server.heard[0].ready_size() == 1, "it is ready");
    return server.heard[0].ready(0).nonce();
  }
  void begin(std::uint64_t number, const std::string& dealt) {
    v1::PlayResponse started;
    auto* start = started.add_starts();
    start->set_invitation_id(number);
    start->set_match_id(number);
    start->set_seat(3);
    start->set_salt(SALT);
    start->set_commitment(dealt);
    server.says(started);
  }
  void report(const v1::MatchReport& report) {
    v1::PlayResponse message;
    *message.add_reports() = report;
    server.says(message);
  }

  inline static const std::string SALT{32, '\7'};
  VirtualClock clock;
  Nobody inbox;
  arena::Profile profile;
  Server server;
  arena::LogChecker checker;
  std::unique_ptr<arena::Connection> connection;
};

void demand_said(std::size_t at, const std::string& wanted) {
  std::string all;
  for (const std::string& each : said) all += each + "\n";
  demand(at < said.size() && said[at] == wanted, "it is to say " + wanted + ", and said\n" + all);
}

/// The first story of a log that grows: states that are shown, reports, and proofs.
struct Story {
  explicit Story(const std::string& folder) {
    const auto stories = message_from<ListValue>(content(folder + "/vectors/receipts.json"));
    for (const Value& each : stories.values(0).struct_value().fields().at("steps").list_value().values()) {
      const auto& fields = each.struct_value().fields();
      if (fields.count("reports")) reports.push_back(message_from<v1::MatchReport>(fields.at("reports")));
      if (!fields.count("shows")) continue;
      states.push_back(message_from<v1::LogState>(fields.at("shows")));
      const auto& asked = fields.at("proofs").struct_value().fields();
      proofs.emplace_back();
      questions.emplace_back();
      if (asked.empty()) continue;
      proofs.back() = message_from<v1::GetConsistencyResponse>("{\"proof\":" + json(asked.begin()->second) + "}");
      questions.back() = asked.begin()->first;
    }
    demand(reports.size() > 2 && states.size() > 2, "the story has reports and states");
  }
  std::vector<v1::MatchReport> reports;
  std::vector<v1::LogState> states;
  std::vector<v1::GetConsistencyResponse> proofs;
  std::vector<std::string> questions;
};

void check(const std::string& folder, const std::string& file) {
  const Story story(folder);
  const std::string promised(32, '\1'), other(32, '\2'), digits = arena::hex(promised), salt = arena::hex(Playing::SALT);
  {
    Playing bot(file);
    bot.welcome(story.states[0]);
    const std::string nonce = bot.deal(1, promised, promised);
    bot.begin(1, promised);  // a reconnection tells it again
    demand(said.size() == 1, "all is well: " + said.back());
    bot.report(story.reports[0]);
    const auto keeps = [&](const std::string& words) { return content(file).find(words) != std::string::npos; };
    demand(keeps("{\"match\":1,\"seat\":1,\"nonce\":\"" + arena::hex(nonce) + "\",\"salt\":\"" + salt + "\",\"commitment\":\"" + digits +
                 "\",\"number\":2,"),
           "a receipt has the bot's own chance: " + content(file));
    const std::string next = bot.deal(2, promised, other);
    demand_said(1, "match 2: its commitment is not the one of the invitation: the server may have chosen the deal");
    demand(nonce.size() == 16 && nonce != next, "each deal has its own");
    bot.begin(9, promised);
    v1::MatchReport casual = story.reports[1];
    casual.clear_entry();
    const std::string before = content(file);
    bot.report(casual);
    demand(content(file) == before, "without a leaf there is nothing to keep");
    v1::MatchReport invited_before = story.reports[1];
    invited_before.set_match_id(9);
    bot.report(invited_before);
    demand_said(2, "match 9: the server's log of results does not bear out its report: its leaf says 2 for \"match\", the report 9");
    demand(keeps(R"({"match":9,"seat":1,"nonce":"","salt":")" + salt), "whose chance an earlier run sent");
    bot.report(story.reports[2]);
    demand(keeps(R"({"match":3,"seat":1,"number":4,)"), "whose beginning nobody saw");
    demand(bot.server.asked.empty(), "a log that is as it was needs no proof");
  }
  said.clear();
  Playing bot(file);
  bot.welcome(story.states[1]);
  demand(bot.server.asked.empty() && said.size() == 1, "nor one whose head a receipt has");
}

void check_questions(const std::string& folder, const std::string& file) {
  const Story story(folder);
  const auto start = [&](std::size_t state) {
    said.clear();
    auto bot = std::make_unique<Playing>(file);
    bot->welcome(story.states[state]);
    return bot;
  };
  start(1);
  const std::string before = content(file);
  {
    const auto bot = start(2);
    demand(bot->server.asked == std::vector{story.questions[2]}, "it asks for a proof once");
    bot->report(story.reports[0]);
    demand(said.size() == 1 && content(file) != before, "and keeps receipts meanwhile");
    bot->server.told({{}, false, "gone"});
    demand_said(1, "the server's log of results was not checked: gone");
  }
  {
    const auto bot = start(2);
    demand(bot->server.asked == std::vector{story.questions[2]}, "at the next welcome again");
    bot->server.told({{}, true, ""});
    const std::string alarm = "THE SERVER'S LOG OF RESULTS IS NOT WHAT IT WAS: it does not begin with the 4 entries";
    demand(said.size() == 2 && said[1].rfind(alarm, 0) == 0, "a refusal is an alarm");
  }
  {
    const auto bot = start(2);
    bot->server.told({story.proofs[2].proof(), false, ""});
    const std::string pinned = "{\"size\":" + std::to_string(story.states[2].head().size());
    demand(said.size() == 1 && content(file).find(pinned) != std::string::npos, "a proof pins the head");
  }
  const auto bot = start(2);
  demand(bot->server.asked.empty() && said.size() == 1, "then there is nothing to ask");
}

}  // namespace

int main(int count, char** arguments) {
  const std::string folder = count > 1 ? arguments[1] : "clients/conformance";
  const fs::path home = fs::temp_directory_path() / ("arena-client-cpp-" + arena::hex(arena::random_bytes(6)));
  arena::log_to([](arena::Level, const std::string& line) { said.push_back(line); });
  int failed = 0;
  try {
    check(folder, (home / "one" / "bot.receipts").string());
    check_questions(folder, (home / "two" / "bot.receipts").string());
  } catch (const std::exception& error) {
    failed = 1;
    std::cout << "FAILED: " << error.what() << "\n";
  }
  fs::remove_all(home);
  if (!failed) std::cout << "commitments are held to\n";
  return failed;
}
