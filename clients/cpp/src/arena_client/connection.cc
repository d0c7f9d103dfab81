#include "arena_client/connection.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "arena_client/chance.h"
#include "arena_client/log.h"
#include "arena_client/tokens.h"

namespace arena {
namespace {

constexpr double ANSWER_TIME = 20'000;          // the server's limit for a registration, for its welcome and for a proof
constexpr double FIRST_WAIT = 100;              // maximum wait before the first try to reconnect
constexpr double LONGEST_WAIT = 5'000;          // maximum wait between two tries while a server restart is likely
constexpr double LONG_OUTAGE = 120'000;         // time without a connection after which a restart is no longer likely
constexpr double LONGEST_OUTAGE_WAIT = 30'000;  // maximum wait between two tries during a long outage
// Milliseconds without a connection to a node after which other nodes may have interrupted its matches. The bot then
// connects to another node.
constexpr double LEASE = 15'000;
constexpr double LEAVE_TIME = 2'000;            // the server's limit to end the stream of a bot that leaves matches
constexpr double STEADY = 1'000;                // after which a connection counts as good, so that waits start anew
constexpr int PROBES = 3;                       // failures to diagnose before the first connection

std::string matches(std::size_t count) { return std::to_string(count) + (count == 1 ? " match" : " matches"); }

}  // namespace

double longest_wait(double outage_ms) {
  const double longest = outage_ms <= LONG_OUTAGE ? LONGEST_WAIT : LONGEST_OUTAGE_WAIT;
  return std::min(longest, std::max(FIRST_WAIT, outage_ms));
}

Connection::Connection(Profile profile, std::function<std::shared_ptr<Channel>(const std::string& address)> open,
                       Clock& clock, Inbox& inbox, std::function<double()> chance, Probe probe, Receipts* receipts)
    : profile_(std::move(profile)),
      open_(std::move(open)),
      clock_(clock),
      inbox_(inbox),
      chance_(std::move(chance)),
      probe_(std::move(probe)),
      receipts_(receipts),
      progress_(profile_.matches),
      addresses_(profile_.address),
      name_(profile_.name) {}

void Connection::start() {
  good_ = seen_ = clock_.now();
  attempt([this] { connect(); });
}

void Connection::drain(double ms) {
  progress_.ending = true;
  if (!left()) return end();
  log(Level::info, "finishing " + matches(left()) + " within " + std::to_string(std::lround(ms / 1000)) +
                       " s, and beginning no more; once more, and it leaves at once: house bots play them on, and each "
                       "counts as a last place");
  if (call_) {
    v1::PlayRequest full;
    full.set_capacity(0);
    call_->write(full);
  }
  after(ms, [this] {
    inbox_.hurry();
    leave();
  });
}

void Connection::leave() {
  if (!call_ || !left()) return end();
  if (leaving_) return;
  leaving_ = true;
  log(Level::info, "leaving " + matches(left()) + " in order: house bots play them on, and each counts as a last place");
  v1::PlayRequest goodbye;
  goodbye.set_leave(true);
  call_->write(goodbye);
  after(LEAVE_TIME, [this] { end(); });
}

void Connection::say(std::uint64_t session, const v1::PlayRequest& request) {
  if (session == number_ && welcomed_ && call_) call_->write(request);
}

std::uint64_t Connection::after(double ms, std::function<void()> call) {
  auto alarm = std::make_shared<std::uint64_t>(0);
  *alarm = clock_.after(ms, [this, alarm, call = std::move(call)] {
    alarms_.erase(*alarm);
    attempt(call);
  });
  alarms_.insert(*alarm);
  return *alarm;
}

/// Call `what` unless the connection has ended; an exception from it ends the connection.
void Connection::attempt(const std::function<void()>& what) {
  if (ended_) return;
  try {
    what();
  } catch (const std::exception&) {
    finish(std::current_exception());
  }
}

void Connection::connect() {
  begun_ = clock_.now();
  welcomed_ = finishing_ = false;
  try_++;
  const auto token = profile_.token ? profile_.token : read_token(profile_.token_file);
  known_ = token.has_value();
  channel_ = open_(addresses_.current());
  if (token) converse(*token);
  else enroll();
}

void Connection::enroll() {
  auto made = std::make_shared<NewToken>(profile_.token_file);
  v1::RegisterBotRequest request;
  request.set_name(profile_.name);
  request.set_owner(profile_.owner);
  request.set_invitation(profile_.invitation);
  request.set_token(made->token());
  channel_->register_bot(request, ANSWER_TIME, [this, made, current = try_](auto answer, const CallStatus& status) {
    if (current != try_) return;
    attempt([&] {
      if (!answer) {
        Failure failure = registration_failure(status);
        if (failure.error) made->drop();
        return failed(std::move(failure));
      }
      made->keep(answer->token());
      log(Level::info, "registered " + answer->name() + " at " + profile_.address + "; its token is in " + profile_.token_file);
      converse(answer->token());
    });
  });
}

void Connection::converse(const std::string& token) {
  too_late_ = after(ANSWER_TIME, [this] { failed({std::nullopt, "no welcome within 20 s", 0}); });
  CallEvents events;
  events.message = [this, current = try_](std::shared_ptr<const v1::PlayResponse> message) {
    if (current == try_ && !finishing_) attempt([&] { hear(std::move(message)); });
  };
  events.ended = [this, current = try_](const CallStatus& status) {
    if (current != try_) return;
    attempt([&] {
      if (!finishing_) return failed(play_failure(status));
      finish(nullptr);  // the status after a goodbye does not matter
    });
  };
  call_ = channel_->play(token, std::move(events));
  call_->write(hello());
}

void Connection::hear(std::shared_ptr<const v1::PlayResponse> message) {
  const double received = clock_.now();
  const bool first = !session_;
  if (first) welcome(message->welcome());
  if (const auto reply = session_->receive(*message)) call_->write(*reply);
  if (first || concerns_bot(*message)) inbox_.deliver({number_, session_->open(), std::move(message), received});
  if (!progress_.done()) return;
  finishing_ = true;
  call_->end();
  after(ANSWER_TIME, [this] { end(); });
}

void Connection::welcome(const v1::Welcome& welcome) {
  clock_.call_off(too_late_);
  alarms_.erase(too_late_);
  const std::string build = welcome.build().empty() ? "" : ", " + welcome.build();
  log(Level::info, welcome.bot() + " is connected to " + addresses_.current() + " (Arena " + welcome.server() + build + ")");
  name_ = welcome.bot();
  addresses_.list(welcome);
  progress_.welcomed(welcome);
  for (const std::string& name : profile_.ladders) {
    const auto same = [&name](const auto& ladder) { return ladder.name() == name; };
    if (std::any_of(welcome.ladders().begin(), welcome.ladders().end(), same)) continue;
    throw ArenaError(ErrorKind::protocol_mismatch,
                     "the server does not confirm the ladder " + name + ": it is older than ladders; name none");
  }
  for (const std::string& name : profile_.events) {
    if (std::find(welcome.events().begin(), welcome.events().end(), name) != welcome.events().end()) continue;
    throw ArenaError(ErrorKind::protocol_mismatch,
                     "the server does not confirm the event " + name + ": it is older than events; name none");
  }
  session_.emplace(welcome, profile_, progress_, receipts_);
  welcomed_ = reached_ = true;
  number_++;
  if (receipts_) receipts_->record_log(welcome.log());
}

/// Handle a failed try: reconnect later, or end the connection.
void Connection::failed(Failure failure) {
  const bool welcomed = welcomed_;
  close();
  if (failure.error) {
    ArenaError& error = *failure.error;
    const bool from_file = !profile_.token && known_ && error.kind == ErrorKind::token_refused;
    if (!from_file || error.reason == "TOKEN_REVOKED") throw error;
    throw ArenaError(error.kind,
                     error.what() + (" (from " + profile_.token_file) +
                         "; remove it to register the bot anew, and under another name if it was deleted here)",
                     error.reason);
  }
  if (leaving_ || (progress_.ending && progress_.playing.empty())) return finish(nullptr);
  if (reached_ || !probe_ || probed_ >= PROBES) return retry(failure, welcomed);
  probed_++;
  probe_([this, failure, current = try_](const std::string& why) {
    if (current != try_) return;
    attempt([&] {
      if (!why.empty()) throw ArenaError(ErrorKind::unreachable, why);
      retry(failure, false);
    });
  });
}

void Connection::retry(const Failure& failure, bool welcomed) {
  const double now = clock_.now();
  if (welcomed) {
    // The server can be reached, even if the stream ended at once and may do so again.
    good_ = now - begun_ > STEADY ? now : std::max(good_, now - LONGEST_WAIT);
    seen_ = now;
  }
  const double wait = chance_() * longest_wait(now - good_) + failure.pause_ms;
  const std::string lost = "no connection to " + addresses_.current() + ": " + failure.dropped;
  if (profile_.give_up_after && now + wait - seen_ > *profile_.give_up_after * 1000) {
    throw ArenaError(ErrorKind::unreachable, lost);
  }
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.1f", wait / 1000);
  log(Level::warn, lost + "; next try in " + seconds + " s");
  if (now + wait - seen_ > LEASE) addresses_.next();
  after(wait, [this] { connect(); });
}

/// End the stream and the channel of this try.
void Connection::close() {
  clock_.call_off(too_late_);
  alarms_.erase(too_late_);
  if (session_) session_->lose();
  welcomed_ = false;
  try_++;
  session_.reset();
  if (call_) call_->cancel();
  call_.reset();
  channel_.reset();
}

void Connection::finish(std::exception_ptr error) {
  if (ended_) return;
  ended_ = true;
  if (!error && finishing_ && !progress_.parked.empty()) error = std::make_exception_ptr(parked());
  close();
  for (std::uint64_t alarm : alarms_) clock_.call_off(alarm);
  alarms_.clear();
  inbox_.end(error);
}

v1::PlayRequest Connection::hello() const {
  v1::PlayRequest request;
  auto* hello = request.mutable_hello();
  for (const std::string& game : profile_.games) hello->add_games(game);
  hello->set_capacity(progress_.room(profile_.capacity));
  hello->set_client("arena-client-cpp " ARENA_CLIENT_VERSION);
  hello->set_version(profile_.version);
  for (const std::string& feature : profile_.features) hello->add_features(feature);
  for (const std::string& ladder : profile_.ladders) hello->add_ladders(ladder);
  for (const std::string& event : profile_.events) {
    auto* entry = hello->add_events();
    entry->set_event(event);
    entry->set_nonce(random_bytes(16));
  }
  hello->set_casual(profile_.casual);
  hello->set_challenges(profile_.challenges);
  if (progress_.reports_after) hello->set_reports_after(*progress_.reports_after);
  return request;
}

ArenaError Connection::parked() const {
  const std::string why = progress_.parked.substr(0, progress_.parked.find("; mend it"));
  const std::string roots = !profile_.tls_roots.empty() ? " --tls-roots " + profile_.tls_roots : profile_.tls ? " --tls" : "";
  const std::string file = profile_.token ? "FILE" : profile_.token_file;
  return ArenaError(ErrorKind::parked, why + ". Mend it, then un-park it: arena-bot unpark " + name_ + " --server " +
                                           profile_.address + " --token-file " + file + roots +
                                           (profile_.token ? ", with its token in FILE" : "") +
                                           " (arena-bot comes with the Python SDK)");
}

}  // namespace arena
