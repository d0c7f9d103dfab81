#include "arena_client/session.h"

#include <algorithm>

#include "arena_client/chance.h"
#include "arena_client/errors.h"
#include "arena_client/log.h"

namespace arena {
namespace {

template <class Names>
std::string joined(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

bool Progress::more() const {
  if (ending) return false;
  return !wanted_ || finished + static_cast<int>(playing.size() + accepted.size()) < *wanted_;
}

int Progress::room(int capacity) const {
  if (ending) return 0;
  return wanted_ ? std::min(capacity, *wanted_ - finished) : capacity;
}

void Progress::welcomed(const v1::Welcome& welcome) {
  if (welcome.log().has_head()) {
    const std::uint64_t size = welcome.log().head().size();
    reports_after = std::min(reports_after.value_or(size), size);
  }
  if (!ending) playing.clear();
  accepted.clear();
}

Session::Session(const v1::Welcome& welcome, const Profile& profile, Progress& progress, Receipts* receipts)
    : profile_(profile), progress_(progress), receipts_(receipts), room_(progress.room(profile.capacity)) {
  const std::vector<std::string>& games = profile.games;
  for (const auto& game : welcome.games()) {
    if (std::find(games.begin(), games.end(), game.name()) != games.end()) return;
  }
  throw ArenaError(ErrorKind::no_game_in_common,
                   "the server plays none of the bot's games (" + (games.empty() ? "it names none" : joined(games)) + ")");
}

std::optional<v1::PlayRequest> Session::receive(const v1::PlayResponse& message) {
  v1::PlayRequest reply;
  bool said = message.has_heartbeat() || message.invitations_size();
  open_->receive(message);
  for (const auto& decision : message.decisions()) progress_.playing.insert(decision.match_id());
  if (message.has_heartbeat()) reply.set_heartbeat(message.heartbeat());
  for (const auto& invitation : message.invitations()) invited(invitation, reply);
  for (const auto& start : message.starts()) started(start);
  for (const auto& report : message.reports()) ended(report);
  for (const auto& notice : message.notices()) {
    if (notice.kind() == v1::NOTICE_KIND_WITHDRAWN || notice.kind() == v1::NOTICE_KIND_TAKEN) {
      progress_.accepted.erase(notice.invitation_id());  // this invitation leads to no match
    } else if (notice.kind() == v1::NOTICE_KIND_PARKED) {
      progress_.parked = one_line(notice.text());
      progress_.ending = true;
    }
  }
  const int room = progress_.room(profile_.capacity);
  if (room > room_) {
    room_ = room;
    reply.set_capacity(room);
    said = true;
  }
  return said ? std::optional(std::move(reply)) : std::nullopt;
}

void Session::invited(const v1::Invitation& invitation, v1::PlayRequest& reply) {
  const std::uint64_t number = invitation.invitation_id();
  if (invitation.kind() == v1::MATCH_KIND_CHALLENGE && !takes(invitation)) {
    reply.add_declined(number);
  } else if (progress_.more() || progress_.accepted.count(number)) {
    auto* ready = reply.add_ready();
    ready->set_invitation_id(number);
    ready->set_nonce(random_bytes(16));
    progress_.accepted[number] = ready->nonce();
  } else {
    reply.add_declined(number);
    room_ = -1;
  }
}

bool Session::takes(const v1::Invitation& challenge) const {
  const auto& bots = challenge.bots();
  const bool taken = profile_.challengers.empty() || std::any_of(bots.begin(), bots.end(), [this](const std::string& name) {
    return profile_.challengers.count(lower(name)) > 0;
  });
  log(Level::info, "a challenge of " + joined(bots) + ": " + (taken ? "accepted" : "declined"));
  return taken;
}

void Session::started(const v1::MatchStart& start) {
  const auto accepted = progress_.accepted.extract(start.invitation_id());
  const std::string nonce = accepted ? accepted.mapped() : "";
  progress_.playing.insert(start.match_id());
  const auto before = progress_.seats.find(start.match_id());
  if (before == progress_.seats.end() || before->second.commitment != start.commitment()) {  // otherwise a repeated start
    progress_.seats[start.match_id()] = {start.seat(), nonce, start.salt(), start.commitment()};
  }
}

void Session::ended(const v1::MatchReport& report) {
  progress_.playing.erase(report.match_id());
  if (report.has_entry()) progress_.reports_after = report.entry().number();
  const auto seat = progress_.seats.extract(report.match_id());
  if (report.has_entry() && receipts_) receipts_->record_match(report, seat ? &seat.mapped() : nullptr);
  progress_.finished += report.interrupted().empty();
}

bool concerns_bot(const v1::PlayResponse& message) {
  return message.decisions_size() || message.starts_size() || message.rounds_size() || message.reports_size() ||
         message.notices_size();
}

}  // namespace arena
