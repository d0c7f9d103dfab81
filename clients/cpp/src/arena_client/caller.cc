#include "arena_client/caller.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <sstream>

#include "arena_client/errors.h"
#include "arena_client/log.h"

namespace arena {
namespace {

constexpr double HOLD = 10;  // maximum milliseconds that finished answers wait for further answers

void check_action(const Decision& decision, std::optional<int> action, std::size_t count, std::size_t of) {
  if (action && std::binary_search(decision.legal.begin(), decision.legal.end(), *action)) return;
  std::ostringstream text;
  text << "answer " << count << " of " << of << " is ";
  if (!action) throw ArenaError(ErrorKind::bad_answer, text.str() + "std::nullopt, but the decision is open");
  text << *action << ", which is not legal here; decision.legal is [";
  for (std::size_t at = 0; at < decision.legal.size(); at++) text << (at ? ", " : "") << decision.legal[at];
  throw ArenaError(ErrorKind::bad_answer, text.str() + "]");
}

std::string answers(std::size_t count) { return std::to_string(count) + (count == 1 ? " answer" : " answers"); }

std::string current_text() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "it threw what is no std::exception";
  }
}

[[noreturn]] void rethrow(const std::string& where) {
  try {
    throw;
  } catch (const ArenaError& error) {
    throw ArenaError(error.kind, error.what() + where, error.reason);
  } catch (...) {
    std::throw_with_nested(ArenaError(ErrorKind::bot_failed, "the bot failed: " + current_text() + where));
  }
}

}  // namespace

Caller::Caller(Bot& bot, OnError on_error, std::function<double()> clock)
    : bot_(bot), on_error_(on_error), clock_(std::move(clock)) {}

void Caller::react(const v1::PlayResponse& message, const Catalogs& catalogs, double received,
                   const std::shared_ptr<const OpenDecisions>& open, const Say& say) {
  since_ = clock_();
  out_.reset();
  tell_news(message, *open, say);
  if (message.decisions_size() && !open->lost()) {
    std::vector<Decision> decisions;
    decisions.reserve(message.decisions_size());
    for (const auto& each : message.decisions()) decisions.emplace_back(each, catalogs, open);
    decide_all(std::move(decisions), received, *open, say);
  }
  if (out_) take(say);
}

void Caller::tell_news(const v1::PlayResponse& message, const OpenDecisions& open, const Say& say) {
  if (message.has_welcome()) tell([&] { bot_.on_welcome(message.welcome()); });
  for (const auto& start : message.starts()) tell([&] { bot_.on_match_start(start); });
  for (const auto& round : message.rounds()) tell([&] { bot_.on_round(round); });
  for (const auto& report : message.reports()) tell([&] { bot_.on_match_end(report); });
  for (const auto& notice : message.notices()) {
    tell([&] { bot_.on_notice(notice); });
    if (notice.kind() == v1::NOTICE_KIND_SUSPENDED && open.plays(notice.match_id())) {
      reply().add_resumed(notice.match_id());  // a bot that receives this notice has returned
    }
    take_if_held(say);
  }
}

void Caller::decide_all(std::vector<Decision> decisions, double received, const OpenDecisions& open, const Say& say) {
  auto tell_time = [&](Decision& decision) { decision.pass(std::max(0, static_cast<int>(std::lround(clock_() - received)))); };
  std::size_t done = 0;
  for (;;) {
    std::vector<Decision> left;
    std::copy_if(decisions.begin() + done, decisions.end(), std::back_inserter(left), [](const Decision& each) { return !each.closed(); });
    decisions.swap(left);
    if (decisions.empty()) return;
    done = 0;
    const std::size_t asked = decisions.size();
    for (Decision& decision : decisions) tell_time(decision);
    const Give give = [&](std::optional<int> action) {
      if (done == asked) {
        throw ArenaError(ErrorKind::bad_answer, "decide_many() gave more than " + answers(done) + " to as many decisions");
      }
      if (action || !decisions[done].closed()) {
        check_action(decisions[done], action, done + 1, asked);
        answer(decisions[done], *action, open, say);
      }
      if (++done == asked) return;
      check_interrupt();
      tell_time(decisions[done]);
    };
    try {
      check_interrupt();
      bot_.decide_many(decisions, give);
      if (done < asked) {
        throw ArenaError(ErrorKind::bad_answer,
                         "decide_many() gave " + answers(done) + " to " + std::to_string(asked) + " decisions");
      }
    } catch (const Interrupted&) {
      throw;
    } catch (...) {
      const std::string where = "\n" + decisions[std::min(done, asked - 1)].described(asked);
      if (on_error_ == OnError::raise) rethrow(where);
      log(Level::error, "the bot failed; its first legal action is played instead: " + current_text() + where);
      if (done < asked) {
        answer(decisions[done], decisions[done].legal.at(0), open, say);
        done++;
      }
    }
  }
}

/// Add an answer, unless its match has ended. A late answer is added, too: the server then says how late it was.
void Caller::answer(const Decision& decision, int action, const OpenDecisions& open, const Say& say) {
  if (!open.plays(decision.match_id)) return;
  auto* answer = reply().add_answers();
  answer->set_match_id(decision.match_id);
  answer->set_decision_id(decision.decision_id);
  answer->set_action(action);
  take_if_held(say);
}

void Caller::tell(const std::function<void()>& call) {
  check_interrupt();
  try {
    call();
  } catch (...) {
    if (on_error_ == OnError::raise) rethrow("");
    log(Level::error, "the bot failed outside a decision: " + current_text());
  }
}

void Caller::check_interrupt() const {
  if (interrupted_) throw Interrupted();
}

v1::PlayRequest& Caller::reply() {
  if (!out_) out_.emplace();
  return *out_;
}

void Caller::take(const Say& say) {
  say(*out_);
  out_.reset();
  since_ = clock_();
}

void Caller::take_if_held(const Say& say) {
  if (out_ && clock_() - since_ > HOLD) take(say);
}

}  // namespace arena
