// The options of `run`, and the profile: the data that a connection needs from bot, options and environment.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "arena_client/bot.h"
#include "arena_client/caller.h"

namespace arena {

inline constexpr char DEFAULT_ADDRESS[] = "localhost:50051";
/// Maximum time in seconds to finish matches after Ctrl-C, unless ARENA_DRAIN sets another time.
inline constexpr double DRAIN = 30;
/// Maximum time in seconds to finish matches after SIGTERM; SIGKILL usually follows after 10 s.
inline constexpr double DRAIN_TERMINATED = 8;

/// Options of `run`; each may be left unchanged.
struct Options {
  /// "host:port"; by default ARENA_SERVER, or localhost:50051.
  std::optional<std::string> address;
  /// The token.
  std::optional<std::string> token;
  /// The token file; by default ARENA_TOKEN_FILE, or a separate file for each bot in ~/.arena/tokens.
  std::optional<std::string> token_file;
  /// The invitation to a server that registers bots by invitation only.
  std::string invitation;
  /// Overrides the bot's owner; by default ARENA_OWNER.
  std::string owner;
  /// True to connect with TLS and trust the same certificate authorities as gRPC.
  bool tls = false;
  /// A PEM file with the certificate authorities to trust instead. Implies TLS.
  std::string tls_roots;
  /// Stop after this number of matches with a result.
  std::optional<int> matches;
  /// Effect of an error in the bot: end the run, or log it and play the first legal action.
  OnError on_error = OnError::raise;
  /// Number of seconds without any connection after which the run ends.
  std::optional<double> give_up_after;
  /// True to store receipts from the server's log of results beside the token.
  bool receipts = true;
  /// True to play unrated matches against house bots only.
  bool casual = false;
  /// True to accept challenges.
  bool challenges = false;
  /// If not empty, the bot accepts challenges only from bots with these names.
  std::vector<std::string> challengers;
  /// Names of the ladders to play on; by default those in ARENA_LADDERS. If that is unset, or if the list is empty, the
  /// bot plays on the default ladders of its games.
  std::optional<std::vector<std::string>> ladders;
  /// Names of the events to enter; by default those in ARENA_EVENTS.
  std::optional<std::vector<std::string>> events;
};

/// Data that a connection needs.
struct Profile {
  std::string name, owner, version, address, token_file, invitation, tls_roots;
  std::vector<std::string> games, features, ladders, events;
  int capacity = 0;
  std::optional<std::string> token;
  bool tls = false, casual = false, challenges = false;
  /// The file of receipts; empty to store none.
  std::string receipts;
  std::optional<int> matches;
  std::optional<double> give_up_after;
  /// Lower-case names of the bots whose challenges the bot accepts; empty for all.
  std::set<std::string> challengers;
};

/// Collect the data that a connection needs from a bot, the options and the environment; throws ArenaError (argument).
Profile profile_of(const Bot& bot, const Options& options);
/// Return the seconds for finishing matches after Ctrl-C. Throws ArenaError for an invalid ARENA_DRAIN.
double drain_seconds();
/// Return a text with the letters A to Z in lower case.
std::string lower(std::string text);
/// Return the content of a file; throws ArenaError (argument).
std::string file_content(const std::string& file);

}  // namespace arena
