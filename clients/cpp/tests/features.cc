// Features of later versions of the protocol: those that a bot declares, and those that the server uses.
#include <iostream>

#include "arena_client/answering.h"
#include "arena_client/connection.h"
#include "arena_client/log.h"
#include "conversation.h"
#include "virtual_clock.h"

namespace {

namespace v1 = arena::v1;

struct Curious : arena::Bot {
  Curious() {
    features = {"made-up"};
    version = "1";
  }
  void on_welcome(const v1::Welcome& welcome) override { shown.assign(welcome.features().begin(), welcome.features().end()); }
  std::vector<std::string> shown;
};

/// A stream, with the messages that were written to it.
struct Line : arena::Call {
  void write(const v1::PlayRequest& request) override { heard.push_back(request); }
  void end() override {}
  void cancel() override {}
  std::vector<v1::PlayRequest> heard;
};

struct Door : arena::Channel {
  std::shared_ptr<arena::Call> play(const std::string&, arena::CallEvents wanted) override {
    events = std::move(wanted);
    return line;
  }
  void register_bot(const v1::RegisterBotRequest&, double, Registered) override {}
  std::shared_ptr<Line> line = std::make_shared<Line>();
  arena::CallEvents events;
};

void check() {
  Curious bot;
  arena::Options options;
  options.token = "given";
  VirtualClock clock;
  arena::Caller caller(bot, arena::OnError::raise, [&] { return clock.now(); });
  arena::Answering answering(caller, [](std::uint64_t, const v1::PlayRequest&) {});
  const auto door = std::make_shared<Door>();
  arena::Connection connection(arena::profile_of(bot, options), [&](auto&) { return door; }, clock, answering, [] { return 1.0; });
  connection.start();
  const auto& hello = door->line->heard.at(0).hello();
  demand(hello.features_size() == 1 && hello.features(0) == "made-up", "the hello names them");
  auto message = std::make_shared<v1::PlayResponse>();
  message->mutable_welcome()->add_games()->set_name("sixth_sense");
  message->mutable_welcome()->add_features("made-up");
  door->events.message(message);
  answering.step();
  demand(bot.shown == std::vector<std::string>{"made-up"}, "the bot is shown those that hold");
  connection.end();
}

}  // namespace

int main() {
  arena::log_to([](arena::Level, const std::string&) {});
  try {
    check();
  } catch (const std::exception& error) {
    std::cout << "FAILED: " << error.what() << "\n";
    return 1;
  }
  std::cout << "features are named and shown\n";
  return 0;
}
