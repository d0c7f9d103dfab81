// Finds permanent reasons why a server cannot be reached; gRPC reports only the failure.
#pragma once

#include <memory>
#include <string>

#include "arena_client/connection.h"
#include "arena_client/loop.h"
#include "arena_client/options.h"

namespace arena {

/// Return permanent errors (no such host, TLS on one side only, a certificate that is not trusted),
/// as a sentence with its remedy; empty if another try may succeed. Each probe waits at most 3 s
/// for the other side. Signals of the thread are blocked.
std::string obstacle(const Profile& profile);

/// Return a probe that looks for obstacles in a separate thread and reports them within the loop.
Probe probe(const Profile& profile, std::shared_ptr<Loop> loop);

}  // namespace arena
