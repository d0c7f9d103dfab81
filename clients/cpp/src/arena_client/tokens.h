// Stores a bot's token between runs in a small separate file, readable only by its owner.
#pragma once

#include <optional>
#include <string>

namespace arena {

/// Return a bot's token file in the user's home. As on the server, the name's case does not matter.
std::string default_token_file(const std::string& address, const std::string& name);

/// Return the token in the file; nullopt if the file is missing or empty. Throws ArenaError (argument).
std::optional<std::string> read_token(const std::string& file);

/// A token for a bot that is about to register. Until the server answers, the token is in a file beside its final file,
/// so that a full disk or a lost answer does no harm. The next try sends the same token.
class NewToken {
 public:
  /// Use the token that an earlier try left beside the file, or create a new token. Throws ArenaError (argument).
  explicit NewToken(const std::string& file);

  const std::string& token() const { return token_; }
  /// Store the token from the server's answer in the final file, atomically.
  void keep(const std::string& token);
  /// Delete the token that the server refused.
  void drop();

 private:
  std::string file_, draft_, token_;
};

}  // namespace arena
