// The class that a bot author derives from. A bot has no connection: `run` passes it decisions and sends its answers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "arena_client/decision.h"

namespace arena {

/// Function that receives the action for the next decision; nullopt if the decision is closed and needs no action.
using Give = std::function<void(std::optional<int>)>;

/// A player. Override `decide` (or `decide_many`); the rest is optional. Its methods are called one at a time.
class Bot {
 public:
  virtual ~Bot() = default;

  /// 1 to 40 letters, digits, '.', '_' or '-'.
  std::string name = "bot";
  /// Owner of the bot; its own name if empty. Bots of one owner never meet in a match.
  std::string owner;
  /// Names of the games that the bot plays.
  std::vector<std::string> games = {"sixth_sense"};
  /// The number of matches that the bot plays at once.
  int capacity = 8;
  /// Files that affect the bot's behaviour, such as weights; the version's digest covers them.
  std::vector<std::string> files;
  /// At most 40 printable characters; by default a digest of the program and `files`. Each version has its own rating.
  std::optional<std::string> version;
  /// Protocol features newer than this client that the bot's own code understands; none is defined yet.
  std::vector<std::string> features;

  /// Choose one of `decision.legal`.
  virtual int decide(const Decision& decision);

  /// Choose for all open decisions at once: pass one action for each to `give`, in the same order. Override it if many
  /// decisions together are cheaper than one by one. Each action is sent while the bot continues to think. For a closed
  /// decision the action may be `std::nullopt`.
  virtual void decide_many(const std::vector<Decision>& decisions, const Give& give);

  /// Handle the beginning of a connection: the server's rules, its limits and the features in use.
  virtual void on_welcome(const v1::Welcome&) {}
  /// Handle the beginning of a match: the seat and the names of all bots. Called again after a reconnect.
  virtual void on_match_start(const v1::MatchStart&) {}
  /// Handle the end of a round; the report shows all cards.
  virtual void on_round(const v1::RoundReport&) {}
  /// Handle the end of a match. The default logs place, points and rating.
  virtual void on_match_end(const v1::MatchReport& report);
  /// Handle a notice from the server. The default logs one line: a warning if the bot is at fault.
  virtual void on_notice(const v1::Notice& notice);
};

}  // namespace arena
