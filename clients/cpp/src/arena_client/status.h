// Interpretation of a call's end: a permanent error, or a reason to try again.
#pragma once

#include <optional>
#include <string>

#include "arena_client/errors.h"

namespace arena {

/// The end of a call: its status, with the details that the server gave.
struct CallStatus {
  /// gRPC's name for the status, such as "UNAVAILABLE".
  std::string status;
  /// Text for human readers.
  std::string text;
  /// The reason in the status's `google.rpc.ErrorInfo`; empty if the server gave none.
  std::string reason;
  /// Milliseconds in the status's `google.rpc.RetryInfo`; 0 if the server gave none.
  double pause_ms = 0;
};

/// Meaning of a failed call: a permanent error, or a reason to try again.
struct Failure {
  std::optional<ArenaError> error;
  std::string dropped;
  double pause_ms = 0;
};

/// Extract reason and pause from the bytes of a `google.rpc.Status`; unreadable details count as absent.
void read_details(const std::string& details, CallStatus& status);
/// Return the failure for the end of a stream.
Failure play_failure(const CallStatus& status);
/// Return the failure for a failed registration.
Failure registration_failure(const CallStatus& status);

}  // namespace arena
