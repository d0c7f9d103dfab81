// The bot's waiting messages, and the loop that passes them to the bot's code.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>

#include "arena_client/caller.h"
#include "arena_client/connection.h"

namespace arena {

/// Deliveries for one bot in order, followed by an end. Other threads may add deliveries.
class Answering : public Inbox {
 public:
  /// Sends the bot's reply on a session's stream.
  using SayOn = std::function<void(std::uint64_t, const v1::PlayRequest&)>;

  Answering(Caller& caller, SayOn say);

  void deliver(Delivery delivery) override;
  void hurry() override { caller_.interrupt(); }
  /// Close the queue. `error`: the error that ended the connection, null for none.
  void end(std::exception_ptr error) override;

  /// Result of a step.
  enum class Step { answered, nothing_there, ended };
  /// Call the bot for the next delivery, if there is one. Throws ArenaError if the bot or the connection failed.
  Step step();
  /// Call the bot for each message until the queue is closed. Throws like `step`.
  void answer();

 private:
  void react(const Delivery& delivery);

  Caller& caller_;
  const SayOn say_;
  Catalogs catalogs_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Delivery> deliveries_;
  bool ended_ = false;
  std::exception_ptr error_;
};

}  // namespace arena
