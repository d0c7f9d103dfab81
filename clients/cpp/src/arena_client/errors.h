// Permanent errors. After any other error (a lost network, a restarting server) the client retries.
#pragma once

#include <stdexcept>
#include <string>

namespace arena {

/// Reason why a bot cannot continue.
enum class ErrorKind {
  argument,           ///< an argument is invalid, such as a file that cannot be read
  bot_failed,         ///< the bot's code threw; the exception is nested in this one
  bad_answer,         ///< `decide` or `decide_many` returned an invalid answer
  token_refused,      ///< the server does not know the token
  name_taken,         ///< another bot on this server has the name
  name_not_allowed,   ///< the server does not accept the name of the bot or of its owner
  invitation_needed,  ///< the server registers new bots by invitation only, or does not accept this one
  no_game_in_common,  ///< the server plays none of the bot's games
  protocol_mismatch,  ///< not an Arena server, or newer than this client, or too old for the bot's ladders or events
  taken_over,         ///< the same bot connected from somewhere else; only the newest connection plays on
  refused,            ///< the server ended the connection for a permanent reason
  parked,             ///< the bot gets no seats until it is un-parked
  unreachable,        ///< there was no connection for longer than the caller wanted to wait
};

/// Error after which the bot cannot continue; `what()` gives cause and remedy.
class ArenaError : public std::runtime_error {
 public:
  ArenaError(ErrorKind kind, const std::string& what, std::string reason = "")
      : std::runtime_error(what), kind(kind), reason(std::move(reason)) {}

  /// The program's exit status: 1 error in the bot, 2 wrong command line, 3 refusal, 4 no server reached.
  int status() const {
    switch (kind) {
      case ErrorKind::bot_failed:
      case ErrorKind::bad_answer: return 1;
      case ErrorKind::argument: return 2;
      case ErrorKind::unreachable: return 4;
      default: return 3;
    }
  }

  ErrorKind kind;
  /// The server's machine-readable reason, such as "OWNER_BANNED"; empty without one.
  std::string reason;
};

}  // namespace arena
