// A clock that advances only on request.
#pragma once

#include <functional>
#include <map>

#include "arena_client/connection.h"

/// A clock whose alarms ring in the order of their times.
class VirtualClock : public arena::Clock {
 public:
  double time = 0;

  double now() override { return time; }

  std::uint64_t after(double ms, std::function<void()> call) override {
    alarms_[{time + ms, ++last_}] = std::move(call);
    return last_;
  }

  void call_off(std::uint64_t alarm) override {
    for (auto each = alarms_.begin(); each != alarms_.end(); ++each) {
      if (each->first.second != alarm) continue;
      alarms_.erase(each);
      return;
    }
  }

  /// Advance the clock by `ms` or until a condition holds. `settle` runs everything that takes no
  /// time.
  void pass(double ms, const std::function<void()>& settle, const std::function<bool()>& until) {
    const double end = time + ms;
    settle();
    while (!until()) {
      const auto next = alarms_.begin();
      if (next == alarms_.end() || next->first.first > end + 1e-6) break;
      time = std::max(time, next->first.first);
      const auto call = std::move(next->second);
      alarms_.erase(next);
      call();
      settle();
    }
    if (!until()) time = std::max(time, end);
  }

 private:
  std::map<std::pair<double, std::uint64_t>, std::function<void()>> alarms_;
  std::uint64_t last_ = 0;
};
