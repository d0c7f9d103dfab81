#include "arena_client/decision.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <sstream>

#include "arena_client/errors.h"

namespace arena {
namespace {

const google::protobuf::OneofDescriptor& views() {
  return *v1::Decision::descriptor()->FindOneofByName("view");
}

const Catalog& game_of(const v1::Decision& message, const Catalogs& catalogs) {
  const auto* field = v1::Decision::descriptor()->FindFieldByNumber(message.view_case());
  const std::string& type = message.other().type_url();
  const std::string name = type.substr(type.rfind('/') + 1);
  const auto found = std::find_if(catalogs.begin(), catalogs.end(), [&](const auto& each) {
    return field ? each.first == field->name() : !name.empty() && each.second.view_type() == name;
  });
  if (found != catalogs.end()) return found->second;
  throw ArenaError(ErrorKind::protocol_mismatch,
                   "the server asks for a decision in a game unknown to this client: update the SDK");
}

View view_of(const v1::Decision& message) {
  if (message.has_nullern()) return &message.nullern();
  if (message.has_sixth_sense()) return &message.sixth_sense();
  return &message.other();
}

}  // namespace

const std::vector<std::string>& games() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> found;
    for (int at = 0; at < views().field_count(); at++) found.push_back(views().field(at)->name());
    return found;
  }();
  return names;
}

const v1::Conduct& conduct_of(const v1::Welcome& welcome, const v1::MatchStart& start) {
  for (const auto& ladder : welcome.ladders()) {
    if (ladder.name() == start.ladder()) return ladder.conduct();
  }
  return welcome.conduct();
}

Decision::Decision(const v1::Decision& message, const Catalogs& catalogs, std::shared_ptr<const OpenDecisions> open)
    : match_id(message.match_id()),
      decision_id(message.decision_id()),
      game(game_of(message, catalogs)),
      view(view_of(message)),
      legal(message.legal().begin(), message.legal().end()),
      soft_ms(message.soft_ms()),
      bank_ms(message.bank_ms()),
      message_(&message),
      open_(std::move(open)) {}

std::vector<const Card*> Decision::hand() const {
  std::vector<const Card*> cards;
  const auto add = [&](const auto* seen) {
    if (seen) for (auto number : seen->hand()) cards.push_back(&game.cards(number));
  };
  add(view_as<v1::SixthSenseView>());
  add(view_as<v1::NullernView>());
  return cards;
}

std::vector<const Action*> Decision::actions() const {
  std::vector<const Action*> named;
  for (int number : legal) named.push_back(&game.actions(number));
  return named;
}

void Decision::pass(int milliseconds) {
  const int soft = message_->soft_ms(), bank = message_->bank_ms();
  soft_ms = std::max(0, soft - milliseconds);
  bank_ms = std::max(0, bank - std::max(0, milliseconds - soft));
}

std::string Decision::described(std::size_t of) const {
  std::ostringstream text;
  text << "in match " << match_id << " of " << game.name();
  if (auto* seen = view_as<v1::SixthSenseView>()) text << ", round " << seen->round() + 1;
  if (auto* seen = view_as<v1::NullernView>()) text << ", round " << seen->round() + 1;
  text << ", decision " << decision_id;
  if (of > 1) text << ", the first unanswered of " << of;
  text << "; legal: [";
  for (std::size_t at = 0; at < legal.size(); at++) text << (at ? ", " : "") << legal[at];
  std::string seen;
  std::visit([&](auto* each) {
    if (!google::protobuf::util::MessageToJsonString(*each, &seen).ok()) seen = each->ShortDebugString();
  }, view);
  text << "]; view: " << seen;
  return text.str();
}

}  // namespace arena
