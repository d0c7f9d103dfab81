// The conversation of one stream as far as it needs nothing of the bot: heartbeats, invitations, which matches go on.
// So it goes on while the bot thinks. It never waits, moves no bytes (connection.h does) and calls no bot (caller.h does).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "arena/v1/play.pb.h"
#include "arena_client/receipts.h"

namespace arena {

/// The state that outlives a stream: how many matches are wanted, and which are being played.
class Progress {
 public:
  /// `wanted`: how many matches to play in all; none for no end.
  explicit Progress(std::optional<int> wanted) : wanted_(wanted) {}

  /// Matches with a result.
  int finished = 0;
  /// Matches that have begun.
  std::set<std::uint64_t> playing;
  /// Accepted invitations whose matches have yet to begin, with the bot's own chance in each deal.
  std::map<std::uint64_t, std::string> accepted;
  /// What is known of the matches that have begun.
  std::map<std::uint64_t, Seat> seats;
  /// Whether no more matches are to begin, however many are wanted.
  bool ending = false;
  /// Why the server gives the bot no seats; empty where it does.
  std::string parked;

  /// Whether another match may begin.
  bool more() const;
  /// Return how many matches may be played at once, given a capacity.
  int room(int capacity) const;
  /// Whether nothing is left to play.
  bool done() const { return !more() && playing.empty() && accepted.empty(); }
  /// Forget what the server says again at a new connection: invitations, and the matches that go on. While the last
  /// matches are finished these are kept: each has its report, or begins again.
  void reconnect();

 private:
  const std::optional<int> wanted_;
};

/// Takes the report of a match that the log of results has, and what is known from its beginning; null where nothing is.
using Keep = std::function<void(const v1::MatchReport&, const Seat*)>;

/// The conversation of one stream, from the welcome on.
class Session {
 public:
  /// `challengers`: whose challenges it accepts, in small letters; none for everybody's. `keep` may be empty. Throws
  /// ArenaError (no_game_in_common).
  Session(const v1::Welcome& welcome, const std::vector<std::string>& games, int capacity, Progress& progress,
          std::set<std::string> challengers, Keep keep);

  /// Take note of a message; return what is to be said to it at once, if anything.
  std::optional<v1::PlayRequest> receive(const v1::PlayResponse& message);

 private:
  void invited(const v1::Invitation& invitation, v1::PlayRequest& reply);
  bool takes(const v1::Invitation& challenge) const;
  void started(const v1::MatchStart& start);
  void ended(const v1::MatchReport& report);

  const int capacity_;
  Progress& progress_;
  const std::set<std::string> challengers_;
  const Keep keep_;
  int room_;  // the capacity that the server knows; below all others where it has to be said again
};

/// Return whether a message has anything for the bot itself.
bool concerns_bot(const v1::PlayResponse& message);

}  // namespace arena
