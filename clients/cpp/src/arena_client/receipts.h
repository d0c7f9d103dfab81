// What a bot keeps of a server's log of results: the server's key and newest head, and a receipt for each match. A file of
// JSON lines beside the token, which is added to; docs/log.md of the Arena describes it. It asks nobody anything.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arena/v1/log.pb.h"
#include "arena/v1/play.pb.h"
#include "arena_client/json.h"

namespace arena {

/// What a bot knows of a match from its beginning.
struct Seat {
  std::uint32_t number = 0;
  /// Its own chance in the deal; empty where an earlier run of the program sent it.
  std::string nonce;
  std::string salt, commitment;
};

/// What is known of a server's log: the leaves that name its keys and its restorations, and its newest head.
struct Pin {
  std::vector<std::string> keys, restores;
  v1::LogHead head;
};

/// The receipts of one bot at one server.
class Receipts {
 public:
  /// `file`: where they are; empty keeps nothing on the disk.
  explicit Receipts(std::string file) : file_(std::move(file)) {}

  /// Read the file once; what cannot be read is left alone, with a warning.
  void read();
  /// Where they are, in words.
  std::string place() const { return file_.empty() ? "memory" : file_; }
  const std::optional<Pin>& pin() const { return pin_; }
  /// Return the longest head that is known, of at most so many leaves; none where there is none.
  std::optional<v1::LogHead> latest(std::uint64_t size = std::numeric_limits<std::uint64_t>::max()) const;
  /// Return the matches whose leaves lie beyond so many.
  std::vector<std::uint64_t> beyond(std::uint64_t size) const;

  /// Keep keys, restorations and head of a server; `cut`: the leaves that a restoration left of what was known.
  void pin_to(const v1::LogState& state, std::optional<std::uint64_t> cut = std::nullopt);
  /// Check what a report says of the log, and keep it; `seat`: what is known from the match's beginning, if it is.
  void take(const v1::MatchReport& report, const Seat* seat);

 private:
  struct Entry {
    std::uint64_t number, match;
  };
  void remember(const std::string& line);
  void forget(std::uint64_t cut);
  void add(const std::string& line);
  void shorten();
  void warn(const std::string& why);

  const std::string file_;
  std::optional<Pin> pin_;
  std::vector<v1::LogHead> heads_;  // of receipts, the oldest first
  std::vector<Entry> entries_;      // the leaf, and the match, of each receipt
  std::size_t lines_ = 0;
  bool read_ = false, troubled_ = false;
};

}  // namespace arena
