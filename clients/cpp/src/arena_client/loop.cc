#include "arena_client/loop.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace arena {

double Loop::now() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::uint64_t Loop::after(double ms, std::function<void()> call) {
  std::lock_guard lock(mutex_);
  alarms_[{now() + ms, ++last_}] = std::move(call);
  changed_.notify_one();
  return last_;
}

void Loop::call_off(std::uint64_t alarm) {
  std::lock_guard lock(mutex_);
  const auto found = std::find_if(alarms_.begin(), alarms_.end(), [&](const auto& each) { return each.first.second == alarm; });
  if (found != alarms_.end()) alarms_.erase(found);
}

void Loop::post(std::function<void()> call) {
  std::lock_guard lock(mutex_);
  if (stopped_) return;
  calls_.push_back(std::move(call));
  changed_.notify_one();
}

void Loop::run() {
  std::unique_lock lock(mutex_);
  while (!stopped_ || holds_) {
    std::function<void()> call;
    if (!stopped_ && !calls_.empty()) {
      call = std::move(calls_.front());
      calls_.pop_front();
    } else if (!stopped_ && !alarms_.empty() && alarms_.begin()->first.first <= now()) {
      call = std::move(alarms_.begin()->second);
      alarms_.erase(alarms_.begin());
    } else if (!stopped_ && !alarms_.empty()) {
      changed_.wait_for(lock, std::chrono::duration<double, std::milli>(alarms_.begin()->first.first - now()));
    } else {
      changed_.wait(lock);
    }
    if (!call) continue;
    lock.unlock();
    call();
    call = nullptr;  // destroys its captures outside the lock
    lock.lock();
  }
  calls_.clear();
  alarms_.clear();
}

void Loop::stop() {
  std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_one();
}

void Loop::hold() {
  std::lock_guard lock(mutex_);
  holds_++;
}

void Loop::release() {
  std::lock_guard lock(mutex_);
  holds_--;
  changed_.notify_one();
}

void start_thread(const std::shared_ptr<Loop>& loop, std::function<void()> what) {
  loop->hold();
  std::thread([loop, what = std::move(what)]() mutable {
    what();
    what = nullptr;  // destroys its captures before the loop may end
    loop->release();
  }).detach();
}

}  // namespace arena
