// Tests the SDK's summaries of views and the choices of the rule sample with the decisions that all clients share.
#include <iostream>

#include "arena_client/decision.h"
#include "conversation.h"
#include "rules.h"

namespace {

namespace v1 = arena::v1;

template <class Numbers>
Value list_of(const Numbers& numbers) {
  Value list;
  list.mutable_list_value();
  for (int each : numbers) list.mutable_list_value()->add_values()->set_number_value(each);
  return list;
}

Value lists_of(const std::vector<std::vector<int>>& lists) {
  Value all;
  all.mutable_list_value();
  for (const auto& each : lists) *all.mutable_list_value()->add_values() = list_of(each);
  return all;
}

Value number_or_null(std::optional<int> number) {
  Value value;
  if (number) value.set_number_value(*number);
  else value.set_null_value(google::protobuf::NULL_VALUE);
  return value;
}

std::map<std::string, Value> reads(const arena::Decision& decision) {
  if (auto* view = decision.view_as<v1::NullernView>()) {
    auto table = arena::nullern::read(decision.game, *view);
    std::sort(table.unseen.begin(), table.unseen.end());
    std::vector<int> wanted;
    for (unsigned seat = 0; seat < view->seats(); seat++) wanted.push_back(arena::nullern::wanted_tricks(*view, seat));
    return {{"trick", list_of(table.trick)},
            {"toCome", list_of(table.to_come)},
            {"taker", number_or_null(arena::nullern::taker(decision.game, *view))},
            {"wanted", list_of(wanted)},
            {"unseen", list_of(table.unseen)}};
  }
  const auto table = arena::sixth_sense::read(decision.game, *decision.view_as<v1::SixthSenseView>());
  std::vector<std::vector<int>> trick, lacks;
  for (const auto& laid : table.trick) trick.push_back({laid.seat, laid.place, laid.colour, laid.value});
  for (const auto& [seat, colours] : table.lacks) {
    for (int colour : colours) lacks.push_back({seat, colour});
  }
  return {{"trump", number_or_null(table.trump)},
          {"trick", lists_of(trick)},
          {"toCome", list_of(table.to_come)},
          {"taker", number_or_null(arena::sixth_sense::taker(table.trick, table.trump))},
          {"lacks", lists_of(lacks)},
          {"unseen", list_of(table.unseen)}};
}

void check(const Struct& vector, const arena::Catalogs& catalogs) {
  const auto message = message_from<v1::Decision>(vector.fields().at("decision"));
  const arena::Decision decision(message, catalogs);
  const auto& wanted = vector.fields().at("reads").struct_value().fields();
  const auto found = reads(decision);
  demand(found.size() == wanted.size(), "it reads as much as the others");
  for (const auto& [name, value] : found) {
    demand(json(value) == json(wanted.at(name)), name + " is " + json(value) + " and is to be " + json(wanted.at(name)));
  }
  const auto actions = decision.actions();
  demand(actions.size() == decision.legal.size() && !actions[0]->name().empty(), "actions have names");
  for (const auto* card : decision.hand()) demand(!card->name().empty(), "cards have names");
  RuleBot bot;
  const int choice = bot.decide(decision), rules = static_cast<int>(vector.fields().at("rules").number_value());
  demand(choice == rules, "the rules choose " + std::to_string(choice) + " and are to choose " + std::to_string(rules));
}

void check_points() {
  using arena::sixth_sense::points;
  const auto score = [](std::vector<int> aims, std::vector<int> tricks, bool novice) {
    for (int& each : tricks) each = points(aims, each, novice);
    return tricks;
  };
  demand(score({4}, {6, 2, 4, 0}, false) == std::vector<int>{-2, -2, 4, -4}, "points of 6th Sense");
  demand(score({6, 9}, {7, 8, 0, 12, 6, 9}, false) == std::vector<int>{-1, -1, -6, -3, 6, 9}, "points of a 6/9");
  demand(score({4}, {4, 5, 2, 7, 0, 10}, true) == std::vector<int>{6, 4, 3, 2, 1, 0}, "points for novices");
  demand(arena::nullern::points(0, 0) == 20 && arena::nullern::points(3, 3) == 13, "points of Nullern");
  demand(arena::nullern::points(0, 2) == -3 && arena::nullern::points(4, 0) == -5, "points of a missed bid");
}

}  // namespace

int main(int count, char** arguments) {
  const std::string folder = std::string(count > 1 ? arguments[1] : "clients/conformance") + "/vectors/";
  int checked = 0;
  try {
    arena::Catalogs catalogs;
    const auto games = message_from<ListValue>(content(folder + "catalogues.json"));
    for (const auto& each : games.values()) {
      const auto catalog = message_from<v1::GameCatalog>(each);
      catalogs[catalog.name()] = catalog;
    }
    const auto vectors = message_from<ListValue>(content(folder + "decisions.json"));
    for (const auto& vector : vectors.values()) {
      check(vector.struct_value(), catalogs);
      checked++;
    }
    check_points();
    demand(checked > 100, "there are vectors");
  } catch (const std::exception& error) {
    std::cout << "FAILED at decision " << checked << ": " << error.what() << "\n";
    return 1;
  }
  std::cout << checked << " decisions read and played as the others do\n";
  return 0;
}
