#include "arena_client/open_decisions.h"

#include <algorithm>

namespace arena {
namespace {

/// Maximum number of ended matches to remember; their messages may still be waiting for the bot.
constexpr std::size_t MOST_ENDED = 1000;

}  // namespace

void OpenDecisions::receive(const v1::PlayResponse& message) {
  std::lock_guard lock(mutex_);
  for (const auto& closed : message.closed()) open_.erase({closed.match_id(), closed.decision_id()});
  for (const auto& report : message.reports()) {
    open_.erase(open_.lower_bound({report.match_id(), 0}), open_.lower_bound({report.match_id() + 1, 0}));
    if (ended_.size() == MOST_ENDED) ended_.pop_front();
    ended_.push_back(report.match_id());
  }
  for (const auto& decision : message.decisions()) open_.emplace(decision.match_id(), decision.decision_id());
}

void OpenDecisions::lose() {
  std::lock_guard lock(mutex_);
  lost_ = true;
}

bool OpenDecisions::lost() const {
  std::lock_guard lock(mutex_);
  return lost_;
}

bool OpenDecisions::contains(std::uint64_t match_id, std::uint32_t decision_id) const {
  std::lock_guard lock(mutex_);
  return open_.count({match_id, decision_id}) > 0;
}

bool OpenDecisions::plays(std::uint64_t match_id) const {
  std::lock_guard lock(mutex_);
  return !lost_ && std::find(ended_.begin(), ended_.end(), match_id) == ended_.end();
}

}  // namespace arena
