// Proofs of a log of results (RFC 9162, 2.1): that a leaf is in it, that a later log only added to an earlier one; and the
// keys that sign its heads.
#pragma once

#include <string>
#include <vector>

#include "arena/v1/log.pb.h"

namespace arena {

/// The hashes or leaves of a message.
using Hashes = google::protobuf::RepeatedPtrField<std::string>;

/// Return whether a leaf's proof leads to the root of its head.
bool included(const v1::LogEntry& entry);
/// Return whether a proof shows that the first log, which has leaves, begins the second.
bool consistent(const v1::LogHead& first, const v1::LogHead& second, const Hashes& proof);

/// The public keys of a log, one after the other; each signs the next.
class LogKeys {
 public:
  /// Read the leaves that name them. Throws std::runtime_error where one names none, or is not signed by the key before it.
  explicit LogKeys(const Hashes& leaves);

  /// Return whether a head is signed by the newest key.
  bool signed_head(const v1::LogHead& head) const;

 private:
  std::string log_, newest_;
};

}  // namespace arena
