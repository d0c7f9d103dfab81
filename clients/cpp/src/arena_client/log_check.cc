#include "arena_client/log_check.h"

#include <algorithm>
#include <ctime>
#include <optional>
#include <stdexcept>

#include "arena_client/log.h"

namespace arena {
namespace {

/// Where a restoration cut a log, and when, in microseconds.
struct Cut {
  std::uint64_t size, at;
};

bool same(const v1::LogHead& one, const v1::LogHead& other) { return one.size() == other.size() && one.root() == other.root(); }

/// Find out whether one log begins another.
void begins(const v1::LogHead& first, const v1::LogHead& second, const Consistency& ask, std::function<void(bool)> told) {
  if (first.size() == second.size()) return told(first.root() == second.root());
  ask(first.size(), second.size(), [first, second, told = std::move(told)](const Proof& proof) {
    if (proof.failed.empty()) return told(!proof.refused && consistent(first, second, proof.hashes));
    log(Level::info, "the server's log of results was not checked: " + proof.failed);
  });
}

/// Return where a leaf says that a log was cut; none where it says no such thing.
std::optional<Cut> cut_of(const v1::LogEntry& entry) {
  try {
    const json::Object leaf = json::object(entry.leaf());
    if (json::text_of(json::field(leaf, "kind")) != "restore") return std::nullopt;
    const Cut cut{json::count_of(json::field(leaf, "size")), json::count_of(json::field(leaf, "at"))};
    return entry.number() == cut.size + 1 ? std::optional(cut) : std::nullopt;
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

/// Return where a restoration that was not known cut the log lowest, below so many entries; none where none did.
std::optional<Cut> new_cut(const v1::LogState& state, const std::vector<std::string>& known, std::uint64_t seen) {
  std::optional<Cut> best;
  for (const v1::LogEntry& entry : state.restores()) {
    const bool old = std::find(known.begin(), known.end(), entry.leaf()) != known.end();
    if (old || !entry.has_head() || !same(entry.head(), state.head()) || !included(entry)) continue;
    const auto cut = cut_of(entry);
    if (cut && cut->size < seen && (!best || cut->size < best->size)) best = cut;
  }
  return best;
}

std::string minute(std::uint64_t microseconds) {
  const auto seconds = static_cast<std::time_t>(microseconds / 1'000'000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts)};
}

}  // namespace

void LogChecker::check(const v1::LogState* state, const Consistency& ask) {
  receipts_.read();
  if (!state || !state->has_head()) {
    if (receipts_.pin()) alarm("the server had a log of results and shows none now");
    return;
  }
  try {
    if (!LogKeys(state->keys()).signed_head(state->head())) return alarm("its head is not signed by its key");
  } catch (const std::runtime_error& error) {
    return alarm(std::string("it shows ") + error.what());
  }
  if (receipts_.pin()) compare(*state, ask);
  else receipts_.pin_to(*state);
}

void LogChecker::compare(const v1::LogState& state, const Consistency& ask) {
  const Pin& pin = *receipts_.pin();
  const v1::LogHead known = *receipts_.latest();
  const auto keys = static_cast<std::size_t>(state.keys_size());
  if (pin.keys.size() > keys || !std::equal(pin.keys.begin(), pin.keys.end(), state.keys().begin())) {
    return alarm("its key is not the one that this bot knows, and that one did not name it");
  }
  if (same(pin.head, state.head()) && pin.keys.size() == keys) return;
  const auto cut_perhaps = [this, state, ask, restores = pin.restores, seen = known.size()] { look_for_cut(state, restores, seen, ask); };
  if (known.size() > state.head().size()) return cut_perhaps();
  begins(known, state.head(), ask, [this, state, cut_perhaps](bool begun) {
    if (begun) receipts_.pin_to(state);
    else cut_perhaps();
  });
}

/// Judge a log that does not begin with all that was seen: only a restoration that was not known explains that.
void LogChecker::look_for_cut(const v1::LogState& state, const std::vector<std::string>& known, std::uint64_t seen,
                              const Consistency& ask) {
  const auto cut = new_cut(state, known, seen);
  if (!cut) return alarm("it does not begin with the " + std::to_string(seen) + " entries that this bot has seen");
  const auto restored = [this, state, cut = *cut] {
    tell(cut.size, cut.at);
    receipts_.pin_to(state, cut.size);
  };
  const auto earlier = receipts_.latest(cut->size);
  if (!earlier) return restored();
  begins(*earlier, state.head(), ask, [this, restored, size = earlier->size()](bool begun) {
    if (begun) return restored();
    alarm("it was restored from a backup, and does not begin with the " + std::to_string(size) + " entries before that");
  });
}

/// Say which results a restoration lost.
void LogChecker::tell(std::uint64_t size, std::uint64_t at) {
  const auto beyond = receipts_.beyond(size);
  std::string which;
  if (beyond.size() == 1) which = " (match " + std::to_string(beyond[0]) + ")";
  if (beyond.size() > 1) which = " (matches " + std::to_string(beyond.front()) + " to " + std::to_string(beyond.back()) + ")";
  log(Level::warn, "the server was restored from a backup on " + minute(at) + " UTC, and its log goes on from entry " +
                       std::to_string(size) + ": " + std::to_string(beyond.size()) +
                       " of this bot's receipts are of results after that" + which +
                       ", which it does not know any more; they are kept in " + receipts_.place() + ", and the bot plays on");
}

void LogChecker::alarm(const std::string& problem) {
  if (alarmed_) return;
  alarmed_ = true;
  log(Level::error, "THE SERVER'S LOG OF RESULTS IS NOT WHAT IT WAS: " + problem +
                        ". Results may have been changed. What this bot was told is kept in " + receipts_.place() + "; it plays on");
}

}  // namespace arena
