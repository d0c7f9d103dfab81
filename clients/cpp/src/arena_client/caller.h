// Calls the bot's own code for each message and returns its answers, without any input or output.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

#include "arena_client/bot.h"

namespace arena {

/// Effect of an error in the bot: end the run, or log it and play the first legal action.
enum class OnError { raise, proceed };

/// Thrown instead of calling the bot's own code once the program must stop.
struct Interrupted {};

/// Caller of all methods of a bot, one at a time.
class Caller {
 public:
  /// Receives the bot's replies.
  using Say = std::function<void(const v1::PlayRequest&)>;

  /// `clock`: returns the milliseconds of the clock that measures arrivals.
  Caller(Bot& bot, OnError on_error, std::function<double()> clock);

  /// Stop calling the bot; further calls throw Interrupted. May be called from any thread.
  void interrupt() { interrupted_ = true; }

  /// Send the bot's replies to a message: no reply, one, or several if the bot takes long. `open`: the open decisions
  /// of the message's stream. The bot is not asked about closed decisions, nor about any decision of a stream that has
  /// ended. Throws Interrupted and ArenaError.
  void react(const v1::PlayResponse& message, const Catalogs& catalogs, double received,
             const std::shared_ptr<const OpenDecisions>& open, const Say& say);

 private:
  void tell_news(const v1::PlayResponse& message, const OpenDecisions& open, const Say& say);
  void decide_all(std::vector<Decision> decisions, double received, const OpenDecisions& open, const Say& say);
  void answer(const Decision& decision, int action, const OpenDecisions& open, const Say& say);
  void tell(const std::function<void()>& call);
  void check_interrupt() const;
  v1::PlayRequest& reply();
  void take(const Say& say);
  void take_if_held(const Say& say);

  Bot& bot_;
  const OnError on_error_;
  const std::function<double()> clock_;
  std::optional<v1::PlayRequest> out_;
  double since_ = 0;  // the time at which the bot got the message, or at which a reply was last sent
  std::atomic<bool> interrupted_ = false;
};

}  // namespace arena
