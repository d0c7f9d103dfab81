// Small files of a bot, readable only by their owner, in folders readable only by their owner.
#pragma once

#include <optional>
#include <string>

namespace arena {

/// Return the content of a file; nullopt if it does not exist. Throws ArenaError (argument).
std::optional<std::string> read_file(const std::string& file);
/// Replace a file by a text, completely or not at all. Throws ArenaError (argument).
void replace_file(const std::string& file, const std::string& text);
/// Append a text to a file, completely or not at all. Throws ArenaError (argument).
void append_to_file(const std::string& file, const std::string& text);
/// Truncate a file to the given number of bytes. Throws ArenaError (argument).
void shorten_file(const std::string& file, std::size_t size);
/// Throw ArenaError (argument) with the system's error for a file.
[[noreturn]] void unusable_file(const std::string& file, int error);

}  // namespace arena
