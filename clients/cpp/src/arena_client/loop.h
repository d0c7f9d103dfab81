// The thread of a connection, which runs posted calls and alarms one after the other.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "arena_client/connection.h"

namespace arena {

/// Queue of calls. `post`, `hold` and `release` may be called from any thread, the methods for alarms only in the loop.
class Loop : public Clock {
 public:
  double now() override;
  std::uint64_t after(double ms, std::function<void()> call) override;
  void call_off(std::uint64_t alarm) override;

  /// Queue a call. No call is made after the end.
  void post(std::function<void()> call);
  /// Make the queued calls until `stop` has been called, and `release` once for each `hold`.
  void run();
  void stop();
  void hold();
  void release();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> calls_;
  std::map<std::pair<double, std::uint64_t>, std::function<void()>> alarms_;
  std::uint64_t last_ = 0;
  int holds_ = 0;
  bool stopped_ = false;
};

/// Call `what` in a separate thread; the loop waits for that thread.
void start_thread(const std::shared_ptr<Loop>& loop, std::function<void()> what);

}  // namespace arena
