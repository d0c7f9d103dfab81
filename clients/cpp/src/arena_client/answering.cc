#include "arena_client/answering.h"

namespace arena {

Answering::Answering(Caller& caller, SayOn say) : caller_(caller), say_(std::move(say)) {}

void Answering::deliver(Delivery delivery) {
  std::lock_guard lock(mutex_);
  deliveries_.push_back(std::move(delivery));
  changed_.notify_one();
}

void Answering::end(std::exception_ptr error) {
  std::lock_guard lock(mutex_);
  ended_ = true;
  error_ = std::move(error);
  changed_.notify_one();
}

Answering::Step Answering::step() {
  std::unique_lock lock(mutex_);
  if (deliveries_.empty()) {
    if (!ended_) return Step::nothing_there;
    if (error_) std::rethrow_exception(error_);
    return Step::ended;
  }
  const Delivery delivery = std::move(deliveries_.front());
  deliveries_.pop_front();
  lock.unlock();
  react(delivery);
  return Step::answered;
}

void Answering::answer() {
  while (step() != Step::ended) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_ || !deliveries_.empty(); });
  }
}

void Answering::react(const Delivery& delivery) {
  if (delivery.message->has_welcome()) {
    catalogs_.clear();
    for (const auto& game : delivery.message->welcome().games()) catalogs_[game.name()] = game;
  }
  try {
    caller_.react(*delivery.message, catalogs_, delivery.received, delivery.open,
                  [&](const v1::PlayRequest& request) { say_(delivery.session, request); });
  } catch (const Interrupted&) {
    std::lock_guard lock(mutex_);
    deliveries_.clear();  // after a stop the bot makes no more decisions
  }
}

}  // namespace arena
