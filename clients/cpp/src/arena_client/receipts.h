// The receipts file beside a bot's token: JSON lines with the server's statements about its log of
// results, as described in the Arena's docs/log.md. This module verifies nothing; `arena replay
// verify --receipts` does. A file error ends no match.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "arena/v1/log.pb.h"
#include "arena/v1/play.pb.h"

namespace arena {

/// Facts about a match that a bot knows from its start.
struct Seat {
  std::uint32_t number = 0;
  /// The bot's random bytes for the deal; empty if an earlier run of the program sent them.
  std::string nonce;
  std::string salt, commitment;
};

/// The receipts of one bot at one server.
class Receipts {
 public:
  explicit Receipts(std::string file) : file_(std::move(file)) {}

  /// Record the log that a welcome shows. The file does not change if the log is shorter than the largest head in the
  /// file, or if the log's keys do not begin with the keys in the file. Then it may be a different log, whose keys
  /// would invalidate all receipts in the file.
  void record_log(const v1::LogState& state);
  /// Record a report's entry of the log; `seat`: facts known from the match's start, null for none.
  void record_match(const v1::MatchReport& report, const Seat* seat);

 private:
  void read_once();
  void note(const std::string& line);
  void add(const std::string& line);
  void prune();
  void warn(const std::string& why);

  const std::string file_;
  std::string pin_;                // the newest line with the log's keys
  std::vector<std::string> keys_;  // the keys in that line
  std::uint64_t longest_ = 0;      // the largest number of entries under any head in the file
  std::size_t lines_ = 0;
  bool read_ = false, troubled_ = false;
};

}  // namespace arena
