// The entries of the log of results and the facts about matches that a connection records.
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
  void deliver(arena::Delivery) override {}
  void hurry() override {}
  void end(std::exception_ptr) override {}
};

/// A server that stores the messages it receives.
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
    Server& server;
  };

  void says(const v1::PlayResponse& message) { events.message(std::make_shared<v1::PlayResponse>(message)); }

  std::vector<v1::PlayRequest> heard;
  arena::CallEvents events;
};

/// A bot with its receipts, on a server. If the folder contains a file of receipts, the bot appends to it.
struct Playing {
  explicit Playing(const std::string& file) : receipts(file) {
    profile.token = "t";
    profile.games = {"sixth_sense"};
    profile.capacity = 2;
    const auto open = [this](auto&) { return std::make_shared<Server::Door>(server); };
    connection = std::make_unique<arena::Connection>(profile, open, clock, inbox, [] { return 1.0; }, nullptr, &receipts);
    connection->start();
  }
  ~Playing() { connection->end(); }

  void welcome(const v1::LogState& log) {
    v1::PlayResponse message;
    message.mutable_welcome()->add_games()->set_name("sixth_sense");
    *message.mutable_welcome()->mutable_log() = log;
    server.says(message);
  }
  /// Invite the bot and start the match. Returns the bot's random bytes.
  std::string deal(std::uint64_t number, const std::string& commitment) {
    v1::PlayResponse invited;
    auto* invitation = invited.add_invitations();
    invitation->set_invitation_id(number);
    invitation->set_commitment(arena::sha256(SALT + commitment));
    server.heard.clear();
    server.says(invited);
    begin(number, commitment);
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
  arena::Receipts receipts;
  std::unique_ptr<arena::Connection> connection;
};

/// The first story about a growing log: the log in welcomes, and the reports.
struct Story {
  explicit Story(const std::string& folder) {
    const auto stories = message_from<ListValue>(content(folder + "/vectors/receipts.json"));
    for (const Value& each : stories.values(0).struct_value().fields().at("steps").list_value().values()) {
      const auto& fields = each.struct_value().fields();
      if (fields.count("reports")) reports.push_back(message_from<v1::MatchReport>(fields.at("reports")));
      if (!fields.count("shows")) continue;
      states.push_back(message_from<v1::LogState>(fields.at("shows")));
    }
    demand(reports.size() > 2 && states.size() > 2, "the story has reports and states");
  }
  std::vector<v1::MatchReport> reports;
  std::vector<v1::LogState> states;
};

void check(const std::string& folder, const std::string& file) {
  const Story story(folder);
  const std::string promised(32, '\1'), digits = arena::hex(promised), salt = arena::hex(Playing::SALT);
  {
    Playing bot(file);
    bot.welcome(story.states[0]);
    const std::string nonce = bot.deal(1, promised);
    bot.begin(1, promised);  // a reconnect repeats the start
    demand(said.size() == 1, "all is well: " + said.back());
    bot.report(story.reports[0]);
    const auto keeps = [&](const std::string& words) { return content(file).find(words) != std::string::npos; };
    demand(keeps("{\"match\":1,\"seat\":1,\"nonce\":\"" + arena::hex(nonce) + "\",\"salt\":\"" + salt + "\",\"commitment\":\"" + digits +
                 "\",\"number\":2,"),
           "a receipt has the bot's own chance: " + content(file));
    const std::string next = bot.deal(2, promised);
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
    demand(keeps(R"({"match":9,"seat":1,"nonce":"","salt":")" + salt), "whose chance an earlier run sent");
    bot.report(story.reports[2]);
    demand(keeps(R"({"match":3,"seat":1,"number":4,)"), "whose beginning nobody saw");
    demand(said.size() == 1, "nothing is verified: " + said.back());
  }
  Playing bot(file);
  bot.welcome(story.states[1]);
  const std::string grown = "{\"size\":" + std::to_string(story.states[1].head().size());
  const std::string text = content(file);
  demand(text.find(grown, text.rfind("{\"arena_receipts\"")) != std::string::npos, "the log of the next welcome is recorded, too");
}

}  // namespace

int main(int count, char** arguments) {
  const std::string folder = count > 1 ? arguments[1] : "clients/conformance";
  const fs::path home = fs::temp_directory_path() / ("arena-client-cpp-" + arena::hex(arena::random_bytes(6)));
  arena::log_to([](arena::Level, const std::string& line) { said.push_back(line); });
  int failed = 0;
  try {
    check(folder, (home / "one" / "bot.receipts").string());
  } catch (const std::exception& error) {
    failed = 1;
    std::cout << "FAILED: " << error.what() << "\n";
  }
  fs::remove_all(home);
  if (!failed) std::cout << "the log and the matches are recorded\n";
  return failed;
}
