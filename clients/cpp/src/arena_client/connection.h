// A bot's connection to a server: register once, connect, and reconnect when the connection is lost. It answers
// heartbeats and invitations, and passes all other messages to the bot's inbox. It never waits. The caller provides the
// clock, the random numbers and the gRPC channel, and makes all calls from one thread.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "arena/v1/bots.pb.h"
#include "arena/v1/play.pb.h"
#include "arena_client/addresses.h"
#include "arena_client/open_decisions.h"
#include "arena_client/options.h"
#include "arena_client/receipts.h"
#include "arena_client/session.h"
#include "arena_client/status.h"

namespace arena {

/// A clock and its alarms.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Milliseconds since an arbitrary moment.
  virtual double now() = 0;
  /// Make a call after the given number of milliseconds; returns the alarm's number.
  virtual std::uint64_t after(double ms, std::function<void()> call) = 0;
  /// Cancel a pending alarm.
  virtual void call_off(std::uint64_t alarm) = 0;
};

/// One gRPC stream.
class Call {
 public:
  virtual ~Call() = default;
  virtual void write(const v1::PlayRequest& request) = 0;
  /// Close the bot's side.
  virtual void end() = 0;
  /// Cancel the whole stream.
  virtual void cancel() = 0;
};

/// Events on a stream.
struct CallEvents {
  std::function<void(std::shared_ptr<const v1::PlayResponse>)> message;
  std::function<void(CallStatus)> ended;
};

/// A channel to the server, for one try.
class Channel {
 public:
  /// Receives the answer to a registration; nullopt if it failed, with the status.
  using Registered = std::function<void(std::optional<v1::RegisterBotResponse>, CallStatus)>;

  virtual ~Channel() = default;
  virtual std::shared_ptr<Call> play(const std::string& token, CallEvents events) = 0;
  virtual void register_bot(const v1::RegisterBotRequest& request, double patience_ms, Registered registered) = 0;
};

/// A message for the bot; a session's first message contains the welcome. There is one numbered session per stream.
struct Delivery {
  std::uint64_t session;
  /// The open decisions of that session.
  std::shared_ptr<const OpenDecisions> open;
  std::shared_ptr<const v1::PlayResponse> message;
  /// The message's time of arrival.
  double received;
};

/// Receives every message that is meant for the bot.
class Inbox {
 public:
  virtual ~Inbox() = default;
  virtual void deliver(Delivery delivery) = 0;
  /// Called when no time is left and the bot must not be called any more.
  virtual void hurry() = 0;
  /// Called when the connection has ended. `error`: the reason, if it ended because of an error.
  virtual void end(std::exception_ptr error) = 0;
};

/// Looks for a permanent obstacle if the first connection fails, and passes its description to `found`; empty for none.
using Probe = std::function<void(std::function<void(std::string)> found)>;

/// A bot's connection, with one stream at a time.
class Connection {
 public:
  /// `open` may throw ArenaError. `chance` returns a random number from 0 to 1. `receipts`, if given, records the log.
  Connection(Profile profile, std::function<std::shared_ptr<Channel>(const std::string& address)> open, Clock& clock, Inbox& inbox,
             std::function<double()> chance, Probe probe = nullptr, Receipts* receipts = nullptr);
  Connection(const Connection&) = delete;  // alarms and calls refer to this object
  Connection& operator=(const Connection&) = delete;

  /// Connect and stay connected until the matches are played, the server ends the stream, or `end` is called.
  void start();
  /// Start no more matches and finish the current ones; after `ms` milliseconds, leave those still running.
  void drain(double ms);
  /// Send `leave` if the bot is playing or about to play; the server then ends the stream.
  void leave();
  /// Close the connection without notice.
  void end() { finish(nullptr); }
  /// Send a message on a session's stream, if it still exists.
  void say(std::uint64_t session, const v1::PlayRequest& request);

 private:
  std::uint64_t after(double ms, std::function<void()> call);
  void attempt(const std::function<void()>& what);
  void connect();
  void enroll();
  void converse(const std::string& token);
  void hear(std::shared_ptr<const v1::PlayResponse> message);
  void welcome(const v1::Welcome& welcome);
  void failed(Failure failure);
  void retry(const Failure& failure, bool welcomed);
  void close();
  void finish(std::exception_ptr error);
  std::size_t left() const { return progress_.playing.size() + progress_.accepted.size(); }
  v1::PlayRequest hello() const;
  ArenaError parked() const;

  const Profile profile_;
  const std::function<std::shared_ptr<Channel>(const std::string& address)> open_;
  Clock& clock_;
  Inbox& inbox_;
  const std::function<double()> chance_;
  const Probe probe_;
  Receipts* const receipts_;
  Progress progress_;
  Addresses addresses_;
  std::string name_;
  std::set<std::uint64_t> alarms_;
  std::shared_ptr<Channel> channel_;
  std::shared_ptr<Call> call_;
  std::optional<Session> session_;
  std::uint64_t number_ = 0;     // of the session
  std::uint64_t try_ = 0;        // events of earlier tries are ignored
  std::uint64_t too_late_ = 0;   // the alarm for a missing welcome
  double good_ = 0, seen_ = 0, begun_ = 0;
  int probed_ = 0;
  bool reached_ = false;    // true after the first welcome on any try
  bool known_ = false;      // true if the token was known before this try
  bool welcomed_ = false;   // true if the server has sent a welcome on this try
  bool finishing_ = false;  // true if the bot has closed its side of the stream
  bool leaving_ = false, ended_ = false;
};

/// Return the longest wait before the next try, given the milliseconds since the last good connection.
double longest_wait(double outage_ms);

}  // namespace arena
