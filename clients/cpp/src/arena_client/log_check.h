// The question at each welcome: was the server's log of results only added to since the bot last saw it? It says what is
// wrong once, and the bot plays on. It waits for nobody: what it asks the server, it is told later.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "arena/v1/log.pb.h"
#include "arena_client/merkle.h"
#include "arena_client/receipts.h"

namespace arena {

/// What came of asking for a proof.
struct Proof {
  Hashes hashes;
  /// Whether the server will not prove it.
  bool refused = false;
  /// Why there was no answer; empty where there was one.
  std::string failed;
};

/// Asks the server for the proof that a log of so many leaves begins a longer one; what came of it is told later.
using Consistency = std::function<void(std::uint64_t first, std::uint64_t second, std::function<void(const Proof&)> told)>;

/// Compares a server's log with what a bot kept of it.
class LogChecker {
 public:
  /// `file`: where receipts are; empty keeps nothing on the disk.
  explicit LogChecker(const std::string& file) : receipts_(file) {}

  /// Check what a report says of the log, and keep it.
  void take(const v1::MatchReport& report, const Seat* seat) { receipts_.take(report, seat); }
  /// Check the log that a welcome shows; null where it shows none.
  void check(const v1::LogState* state, const Consistency& ask);

 private:
  void compare(const v1::LogState& state, const Consistency& ask);
  void look_for_cut(const v1::LogState& state, const std::vector<std::string>& known, std::uint64_t seen,
                    const Consistency& ask);
  void tell(std::uint64_t size, std::uint64_t at);
  void alarm(const std::string& problem);

  Receipts receipts_;
  bool alarmed_ = false;
};

}  // namespace arena
