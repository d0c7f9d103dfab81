// The part of a stream's conversation that does not involve the bot: heartbeats, invitations, the
// running matches. It continues while the bot thinks. It never waits, does no input or output
// (connection.h does) and calls no methods of the bot (caller.h does).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "arena/v1/play.pb.h"
#include "arena_client/open_decisions.h"
#include "arena_client/options.h"
#include "arena_client/receipts.h"

namespace arena {

/// The state that outlives a stream: the number of matches to play, and the matches in progress.
class Progress {
 public:
  /// `wanted`: the number of matches to play; nullopt for no limit.
  explicit Progress(std::optional<int> wanted) : wanted_(wanted) {}

  /// Matches with a result.
  int finished = 0;
  /// The matches that have begun.
  std::set<std::uint64_t> playing;
  /// The bot's random bytes for the deal, for each accepted invitation whose match has not begun.
  std::map<std::uint64_t, std::string> accepted;
  /// The known facts of the matches that have begun.
  std::map<std::uint64_t, Seat> seats;
  /// The number of the last received report's leaf in the server's log, for the next hello.
  std::optional<std::uint64_t> reports_after;
  /// True if no more matches may begin, regardless of `wanted`.
  bool ending = false;
  /// The server's reason for parking the bot; empty if the bot is not parked.
  std::string parked;

  /// True if another match may begin.
  bool more() const;
  /// Return the number of simultaneous matches that are possible with a capacity.
  int room(int capacity) const;
  /// True if the bot has no more matches to play.
  bool done() const { return !more() && playing.empty() && accepted.empty(); }
  /// Handle the welcome of a new connection. Forget the state that the server sends again:
  /// invitations and running matches. The last matches of a run are not forgotten: each gets its
  /// report or begins again.
  void welcomed(const v1::Welcome& welcome);

 private:
  const std::optional<int> wanted_;
};

/// The conversation of one stream, from the welcome on.
class Session {
 public:
  /// `receipts`, if given, records the reports' log entries. Throws ArenaError (no_game_in_common).
  Session(const v1::Welcome& welcome, const Profile& profile, Progress& progress, Receipts* receipts);

  /// Apply a message; return the immediate reply, if there is one.
  std::optional<v1::PlayRequest> receive(const v1::PlayResponse& message);
  /// Record that the stream has ended.
  void lose() { open_->lose(); }
  std::shared_ptr<const OpenDecisions> open() const { return open_; }

 private:
  void invited(const v1::Invitation& invitation, v1::PlayRequest& reply);
  bool takes(const v1::Invitation& challenge) const;
  void started(const v1::MatchStart& start);
  void ended(const v1::MatchReport& report);

  const std::shared_ptr<OpenDecisions> open_ = std::make_shared<OpenDecisions>();
  const Profile& profile_;
  Progress& progress_;
  Receipts* const receipts_;
  int room_;  // the capacity last sent to the server; negative if it must be sent again
};

/// Return true if any part of a message is for the bot itself.
bool concerns_bot(const v1::PlayResponse& message);

}  // namespace arena
