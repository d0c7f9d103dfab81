#include "arena_client/log.h"

#include <cstdio>
#include <ctime>
#include <mutex>
#include <sstream>

namespace arena {
namespace {

std::mutex mutex;
Logger other;
Level lowest = Level::info;

}  // namespace

void log_to(Logger logger) {
  std::lock_guard lock(mutex);
  other = std::move(logger);
}

void log_from(Level level) {
  std::lock_guard lock(mutex);
  lowest = level;
}

void log(Level level, const std::string& text) {
  std::lock_guard lock(mutex);
  if (other) return other(level, text);
  if (level < lowest) return;
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char when[32];
  std::strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &parts);
  std::fprintf(stderr, "%s %s\n", when, text.c_str());
}

std::string one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line, word;
  while (words >> word) line += (line.empty() ? "" : " ") + word;
  return line.empty() ? "no reason given" : line;
}

}  // namespace arena
