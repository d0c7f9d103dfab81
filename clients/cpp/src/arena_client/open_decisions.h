// The open decisions of one stream, which the connection's thread writes and the bot's threads read.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <set>
#include <utility>

#include "arena/v1/play.pb.h"

namespace arena {

/// The open decisions of one stream, and the matches that have ended on it.
class OpenDecisions {
 public:
  /// Apply a message from the server.
  void receive(const v1::PlayResponse& message);
  /// Record that the stream has ended. The next stream repeats the open decisions.
  void lose();

  bool lost() const;
  bool contains(std::uint64_t match_id, std::uint32_t decision_id) const;
  /// Return true if a match is still running on this stream, as far as the client knows.
  bool plays(std::uint64_t match_id) const;

 private:
  mutable std::mutex mutex_;
  std::set<std::pair<std::uint64_t, std::uint32_t>> open_;  // matches and decisions
  std::deque<std::uint64_t> ended_;                         // the latest ended matches
  bool lost_ = false;
};

}  // namespace arena
