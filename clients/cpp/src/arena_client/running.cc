#include "arena_client/running.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "arena_client/answering.h"
#include "arena_client/caller.h"
#include "arena_client/chance.h"
#include "arena_client/connection.h"
#include "arena_client/grpc_channel.h"
#include "arena_client/log.h"
#include "arena_client/loop.h"
#include "arena_client/probe.h"

namespace arena {
namespace {

int signal_pipe = -1;  // the only data that a signal handler may use

extern "C" void tell_signal(int number) {
  const int error = errno;
  const char byte = static_cast<char>(number);
  [[maybe_unused]] const auto written = ::write(signal_pipe, &byte, 1);
  errno = error;
}

/// Receives SIGINT and SIGTERM in a separate thread, unless the program handles them itself.
class Signals {
 public:
  explicit Signals(std::function<void(int, Signals&)> heard) {
    if (::pipe2(pipe_, O_CLOEXEC)) throw ArenaError(ErrorKind::argument, "there are no file descriptors left");
    signal_pipe = pipe_[1];
    for (int number : {SIGINT, SIGTERM}) {
      struct sigaction now {};
      ::sigaction(number, nullptr, &now);
      if (now.sa_handler != SIG_DFL) continue;
      struct sigaction ours {};
      ours.sa_handler = tell_signal;
      ours.sa_flags = SA_RESTART;
      ::sigaction(number, &ours, nullptr);
      ours_.push_back(number);
    }
    thread_ = std::thread([this, heard = std::move(heard)] {
      char number = 0;
      while (::read(pipe_[0], &number, 1) == 1 && number) heard(number, *this);
    });
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  ~Signals() {
    give_back();
    const char end = 0;
    [[maybe_unused]] const auto written = ::write(pipe_[1], &end, 1);
    thread_.join();
    ::close(pipe_[0]);
    ::close(pipe_[1]);
  }

  /// Restore the default handlers, so that signals end the program.
  void give_back() {
    for (int number : ours_) ::signal(number, SIG_DFL);
  }

 private:
  int pipe_[2];
  std::vector<int> ours_;
  std::thread thread_;
};

/// The connection's thread, which ends with this object.
class Network {
 public:
  Network(const Profile& profile, Inbox& inbox) : loop_(std::make_shared<Loop>()) {
    auto open = [profile, loop = loop_](const std::string& address) { return open_grpc_channel(profile, address, loop); };
    if (!profile.receipts.empty()) receipts_.emplace(profile.receipts);
    connection_ = std::make_unique<Connection>(profile, std::move(open), *loop_, inbox, random_part, probe(profile, loop_),
                                               receipts_ ? &*receipts_ : nullptr);
    loop_->post([this] { connection_->start(); });
    thread_ = std::thread([this] { loop_->run(); });
  }
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  ~Network() {
    tell([this](Connection& connection) {
      connection.end();
      loop_->stop();
    });
    thread_.join();
  }

  void tell(std::function<void(Connection&)> what) {
    loop_->post([this, what = std::move(what)] { what(*connection_); });
  }
  double now() { return loop_->now(); }

 private:
  std::shared_ptr<Loop> loop_;
  std::optional<Receipts> receipts_;
  std::unique_ptr<Connection> connection_;
  std::thread thread_;
};

}  // namespace

void play(Bot& bot, const Options& options) {
  const Profile profile = profile_of(bot, options);
  const double drain = drain_seconds();
  Loop clock;  // used only to read the time
  Caller caller(bot, options.on_error, [&clock] { return clock.now(); });
  Network* network = nullptr;
  Answering answering(caller, [&network](std::uint64_t session, const v1::PlayRequest& request) {
    network->tell([session, request](Connection& connection) { connection.say(session, request); });
  });
  Network running(profile, answering);
  network = &running;
  bool asked = false;
  std::atomic<bool> stopped = false;
  Signals signals([&](int number, Signals& hearing) {
    stopped = true;
    const double seconds = number == SIGINT ? drain : std::min(drain, DRAIN_TERMINATED);
    if (!asked && seconds > 0) {
      running.tell([seconds](Connection& connection) { connection.drain(seconds * 1000); });
    } else {
      caller.interrupt();
      hearing.give_back();
      running.tell([](Connection& connection) { connection.leave(); });
    }
    asked = true;
  });
  answering.answer();
  if (stopped) log(Level::info, "stopped");
}

int run(Bot& bot, const Options& options) {
  try {
    play(bot, options);
    return 0;
  } catch (const ArenaError& error) {
    std::fprintf(stderr, "%s: %s\n", bot.name.c_str(), error.what());
    return error.status();
  }
}

int run(Bot& bot, const std::string& address) {
  Options options;
  options.address = address;
  return run(bot, options);
}

}  // namespace arena
