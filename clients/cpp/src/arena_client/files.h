// The small files that a bot keeps: readable only by their owner, in folders of the same kind.
#pragma once

#include <optional>
#include <string>

namespace arena {

/// Return what is in a file; none where there is no file. Throws ArenaError (argument).
std::optional<std::string> read_file(const std::string& file);
/// Put a text in a file's place, all of it or nothing, whatever happens meanwhile. Throws ArenaError (argument).
void replace_file(const std::string& file, const std::string& text);
/// Write a text behind what is in a file, all of it or nothing. Throws ArenaError (argument).
void append_to_file(const std::string& file, const std::string& text);
/// Leave so many bytes of a file. Throws ArenaError (argument).
void shorten_file(const std::string& file, std::size_t size);
/// End with what the system says of a file: throws ArenaError (argument).
[[noreturn]] void unusable_file(const std::string& file, int error);

}  // namespace arena
