// Network access to the server: threads that wait for gRPC and post its events to a loop.
#pragma once

#include <memory>

#include "arena_client/connection.h"
#include "arena_client/loop.h"

namespace arena {

/// Open a channel to "host:port", which connects at the first call; throws ArenaError if a
/// certificate cannot be read. Each call keeps the loop alive until gRPC has finished the call.
std::shared_ptr<Channel> open_grpc_channel(const Profile& profile, const std::string& address, std::shared_ptr<Loop> loop);

}  // namespace arena
