// Logs one line per event to standard error, or to the function set with `log_to`.
#pragma once

#include <functional>
#include <string>

namespace arena {

/// The level of a line.
enum class Level { info, warn, error };
/// Function that receives a line. The bot's thread and the network's threads call it, one call at a time.
using Logger = std::function<void(Level, const std::string&)>;

/// Send the lines to `logger` instead of standard error; an empty function restores standard error.
void log_to(Logger logger);
/// Show on standard error only lines of this level or above.
void log_from(Level level);
/// Log a line.
void log(Level level, const std::string& text);

/// Return a text in one line, with single spaces between words; "no reason given" for an empty text.
std::string one_line(const std::string& text);

}  // namespace arena
