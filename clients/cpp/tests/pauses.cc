// The timing of reconnects: pauses that a server requests, the usual waits, and giving up.
#include <iostream>
#include <type_traits>

#include "arena_client/connection.h"
#include "arena_client/log.h"
#include "arena_client/status.h"
#include "conversation.h"
#include "details.h"
#include "virtual_clock.h"

namespace {

static_assert(!std::is_copy_constructible_v<arena::Connection>, "alarms and calls refer to a connection");

/// A server that ends each stream with a status.
struct Refusing : arena::Channel {
  struct Silent : arena::Call {
    void write(const arena::v1::PlayRequest&) override {}
    void end() override {}
    void cancel() override {}
  };

  Refusing(VirtualClock& clock, arena::CallStatus status) : clock(clock), status(std::move(status)) {}
  std::shared_ptr<arena::Call> play(const std::string&, arena::CallEvents events) override {
    clock.after(0, [events, status = status] { events.ended(status); });
    return std::make_shared<Silent>();
  }
  void register_bot(const arena::v1::RegisterBotRequest&, double, Registered) override {}

  VirtualClock& clock;
  const arena::CallStatus status;
};

struct Nobody : arena::Inbox {
  void deliver(arena::Delivery) override {}
  void hurry() override {}
  void end(std::exception_ptr) override {}
};

/// The milliseconds before the second try, if every random number is `chance`.
double first_wait(const arena::CallStatus& status, double chance) {
  VirtualClock clock;
  Nobody inbox;
  arena::Profile profile;
  profile.token = "t";
  int tries = 0;
  const auto open = [&](auto&) -> std::shared_ptr<arena::Channel> {
    tries++;
    return std::make_shared<Refusing>(clock, status);
  };
  arena::Connection connection(profile, open, clock, inbox, [chance] { return chance; });
  connection.start();
  clock.pass(60'000, [] {}, [&] { return tries == 2; });
  connection.end();
  return clock.time;
}

/// A run without a connection whose probe finds an obstacle at failure `found_at`: the number of probes, and the error.
std::string probed(int found_at, int& asked) {
  struct Ends : Nobody {
    void end(std::exception_ptr error) override {
      try {
        if (error) std::rethrow_exception(error);
      } catch (const arena::ArenaError& told) {
        what = told.status() == 4 ? told.what() : "another kind of error";
      }
    }
    std::string what;
  };
  VirtualClock clock;
  Ends inbox;
  arena::Profile profile;
  profile.token = "t";
  const auto open = [&](auto&) { return std::make_shared<Refusing>(clock, arena::CallStatus{"UNAVAILABLE", "gone", "", 0}); };
  const auto probe = [&](std::function<void(std::string)> found) {
    asked++;
    clock.after(1, [&asked, found_at, found] { found(asked == found_at ? "no such host" : ""); });
  };
  arena::Connection connection(profile, open, clock, inbox, [] { return 1.0; }, probe);
  connection.start();
  clock.pass(60'000, [] {}, [&] { return !inbox.what.empty(); });
  connection.end();
  return inbox.what;
}

void check() {
  int asked = 0;
  demand(probed(2, asked) == "no such host" && asked == 2, "what is in the way for good ends the run");
  asked = 0;
  demand(probed(0, asked).empty() && asked == 3, "three failures are looked into, not " + std::to_string(asked));
  arena::CallStatus status{"RESOURCE_EXHAUSTED", "too much", "", 0};
  arena::read_details(error_info("OVER_BUDGET") + retry_info(2, 500'000'000), status);
  demand(status.reason == "OVER_BUDGET", "the reason is read: " + status.reason);
  demand(status.pause_ms == 2500, "the pause is read: " + std::to_string(status.pause_ms));
  demand(first_wait(status, 1) == 2600, "it is added to what chance says");
  demand(first_wait(status, 0) == 2500, "and never undercut");
  arena::CallStatus strange{"UNAVAILABLE", "gone", "", 0};
  arena::read_details("no message at all", strange);
  demand(strange.reason.empty() && strange.pause_ms == 0, "what cannot be read says nothing");
  demand(first_wait(strange, 0.5) == 50, "without a pause chance alone says it");
  demand(arena::longest_wait(0) == 100 && arena::longest_wait(3'000) == 3'000, "waits grow with the outage");
  demand(arena::longest_wait(120'000) == 5'000 && arena::longest_wait(120'001) == 30'000, "and have ends");
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
  std::cout << "pauses are kept\n";
  return 0;
}
