// Finds permanent reasons why a server cannot be reached; gRPC reports only the failure.
#pragma once

#include <memory>
#include <string>

#include "arena_client/connection.h"
#include "arena_client/loop.h"
#include "arena_client/options.h"

namespace arena {

/// Describe a permanent error (no such host, TLS on one side only, a certificate that is not trusted) and its remedy in
/// a sentence; empty if another try may succeed. Each connection waits at most 3 s for the other side. The function
/// blocks all signals of the calling thread.
std::string obstacle(const Profile& profile);

/// Return a probe that looks for obstacles in a separate thread and reports them within the loop.
Probe probe(const Profile& profile, std::shared_ptr<Loop> loop);

}  // namespace arena
