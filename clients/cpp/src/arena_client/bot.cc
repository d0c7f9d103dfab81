#include "arena_client/bot.h"

#include <cstdio>
#include <set>
#include <stdexcept>

#include "arena_client/log.h"

namespace arena {

int Bot::decide(const Decision&) { throw std::logic_error(name + " has neither decide() nor decide_many()"); }

void Bot::decide_many(const std::vector<Decision>& decisions, const Give& give) {
  for (const Decision& decision : decisions) give(decision.closed() ? std::nullopt : std::optional(decide(decision)));
}

void Bot::on_match_end(const v1::MatchReport& report) {
  std::string text = "match " + std::to_string(report.match_id());
  if (!report.interrupted().empty()) return log(Level::warn, text + " was interrupted: " + report.interrupted());
  const int seat = report.seat();
  if (seat < report.places_size() && seat < report.scores_size()) {
    text += ": place " + std::to_string(report.places(seat)) + " of " + std::to_string(report.places_size()) + " with " +
            std::to_string(report.scores(seat)) + " points";
  }
  if (report.has_rating()) {
    char rating[80];
    std::snprintf(rating, sizeof rating, ", rating %.0f (%+.1f)", report.rating().after(),
                  report.rating().after() - report.rating().before());
    text += rating;
  }
  log(Level::info, text);
}

void Bot::on_notice(const v1::Notice& notice) {
  if (notice.kind() == v1::NOTICE_KIND_PARKED) return;  // the run ends with this error, which reports it
  static const std::set<v1::NoticeKind> faults = {
      v1::NOTICE_KIND_ILLEGAL, v1::NOTICE_KIND_STALE, v1::NOTICE_KIND_UNKNOWN, v1::NOTICE_KIND_FORCED_BY_TIME,
      v1::NOTICE_KIND_FORCED_BY_ILLEGALITY, v1::NOTICE_KIND_SUSPENDED};
  const std::string prefix = "NOTICE_KIND_";
  std::string kind = v1::NoticeKind_Name(notice.kind());
  if (kind.empty()) kind = "notice " + std::to_string(notice.kind());
  if (kind.rfind(prefix, 0) == 0) kind.erase(0, prefix.size());
  for (char& each : kind) each = each == '_' ? ' ' : static_cast<char>(std::tolower(each));
  std::string where = notice.has_match_id() ? "match " + std::to_string(notice.match_id()) : "server";
  if (notice.has_decision_id()) where += ", decision " + std::to_string(notice.decision_id());
  log(faults.count(notice.kind()) ? Level::warn : Level::info, where + ": " + kind + ": " + one_line(notice.text()));
}

}  // namespace arena
