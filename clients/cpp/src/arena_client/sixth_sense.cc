#include "arena_client/sixth_sense.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <tuple>

namespace arena::sixth_sense {

Table read(const Catalog& game, const v1::SixthSenseView& view) {
  Table table;
  const int seats = view.seats(), colours = game.colours_size() - (seats == 2 ? 1 : 0);
  for (int card = 0; card < game.cards_size(); card++) {
    if (static_cast<int>(game.cards(card).colour()) < colours) table.unseen.insert(card);
  }
  for (int card : view.hand()) table.unseen.erase(card);
  for (const auto& [seat, card] : view.known_predictions()) table.unseen.erase(card);
  if (view.has_turned()) {
    table.unseen.erase(view.turned());
    table.trump = game.cards(view.turned()).colour();
  }
  for (int at = 0; at < view.plays_size(); at++) {
    const int place = at % seats, seat = (view.leaders(at / seats) + place) % seats;
    if (place == 0) table.trick.clear();
    const Action& action = game.actions(view.plays(at));
    if (action.has_card()) {
      table.unseen.erase(action.card());
      const int colour = game.cards(action.card()).colour();
      if (!table.trick.empty() && table.trick[0].colour != colour) table.lacks[seat].insert(table.trick[0].colour);
    }
    table.trick = after(std::move(table.trick), game, action, seat, place);
  }
  const int laid = view.plays_size() - view.takers_size() * seats;
  if (laid == 0) table.trick.clear();  // the last trick is complete: a new one begins
  for (int step = 1; step < seats - laid; step++) table.to_come.push_back((view.seat() + step) % seats);
  return table;
}

std::vector<Laid> after(std::vector<Laid> trick, const Catalog& game, const Action& action, int seat, int place) {
  if (action.kind() != "block") {
    trick.push_back({seat, place, static_cast<int>(game.cards(action.card()).colour()), static_cast<int>(action.value())});
    return trick;
  }
  const int victim = action.place();
  trick.erase(std::remove_if(trick.begin(), trick.end(), [victim](const Laid& laid) { return laid.place == victim; }), trick.end());
  return trick;
}

std::optional<int> taker(const std::vector<Laid>& trick, std::optional<int> trump) {
  if (trick.empty()) return std::nullopt;
  const int led = trick[0].colour;
  const bool reversed = std::count_if(trick.begin(), trick.end(), [](const Laid& laid) { return laid.value == 4; }) % 2;
  const auto rank = [&](const Laid& laid) {
    return std::make_tuple(trump == laid.colour ? 2 : laid.colour == led ? 1 : 0, laid.value, -laid.place);
  };
  const auto lower = [&](const Laid& one, const Laid& other) { return rank(one) < rank(other); };
  return (reversed ? std::min_element(trick.begin(), trick.end(), lower) : std::max_element(trick.begin(), trick.end(), lower))->seat;
}

std::vector<int> targets(const Catalog& game, int card) {
  const auto& values = game.cards(card).values();
  return {values.begin(), values.end()};
}

int points(const std::vector<int>& aims, int tricks, bool novice) {
  static constexpr std::array<int, 6> NOVICE = {6, 4, 3, 2, 1, 0};
  int distance = std::abs(aims.at(0) - tricks);
  for (int aim : aims) distance = std::min(distance, std::abs(aim - tricks));
  if (novice) return NOVICE[std::min(distance, 5)];
  return distance == 0 ? tricks : -distance;
}

}  // namespace arena::sixth_sense
