// `run` and `play`: the bot's code runs in the calling thread, the connection in another.
#pragma once

#include <string>

#include "arena_client/bot.h"
#include "arena_client/errors.h"
#include "arena_client/options.h"

namespace arena {

/// Connect a bot to the server and play until Ctrl-C or until enough matches are finished.
///
/// The default address is ARENA_SERVER, or localhost:50051. At Ctrl-C the bot starts no more
/// matches and finishes the current ones, for 30 s at most (ARENA_DRAIN); after SIGTERM for 8 s.
/// Then, or at the second Ctrl-C, it leaves the remaining matches; a third ends the program. The
/// program's own signal handlers stay in place.
///
/// After a lost connection the bot reconnects. Permanent errors throw ArenaError, as does an error in the bot unless
/// `on_error` is OnError::proceed.
void play(Bot& bot, const Options& options = {});

/// Like `play`, for use as the last statement of `main`: prints errors in one line and returns the exit status.
int run(Bot& bot, const Options& options = {});
/// Like `run` above, for a server at "host:port".
int run(Bot& bot, const std::string& address);

/// Runs the command line of a program with one bot and returns its exit status. `--help` lists the options.
int main(Bot& bot, int count, char** arguments, const std::string& description);

}  // namespace arena
