#include "arena_client/nullern.h"

#include <algorithm>
#include <set>

namespace arena::nullern {

Table read(const Catalog& game, const v1::NullernView& view) {
  Table table;
  const int seats = view.seats(), trump = game.cards(view.turned()).colour();
  for (const Card& card : game.cards()) {
    table.strengths.push_back(card.values(0) + (static_cast<int>(card.colour()) == trump ? PLAIN : 0));
  }
  for (int at = view.takers_size() * seats; at < view.plays_size(); at++) table.trick.push_back(table.strengths[view.plays(at)]);
  for (int step = 1; step < seats - static_cast<int>(table.trick.size()); step++) {
    table.to_come.push_back((view.seat() + step) % seats);
  }
  std::set<int> seen(view.hand().begin(), view.hand().end());
  seen.insert(view.plays().begin(), view.plays().end());
  seen.insert(view.turned());
  for (int card = 0; card < game.cards_size(); card++) {
    if (!seen.count(card)) table.unseen.push_back(table.strengths[card]);
  }
  return table;
}

std::optional<int> taker(const Catalog& game, const v1::NullernView& view) {
  const auto trick = read(game, view).trick;
  if (trick.empty()) return std::nullopt;
  const auto place = std::max_element(trick.begin(), trick.end()) - trick.begin();
  return static_cast<int>((view.leaders(view.takers_size()) + place) % view.seats());
}

int wanted_tricks(const v1::NullernView& view, int seat) {
  const auto bid = view.bids().find(seat);
  return (bid == view.bids().end() ? -1 : static_cast<int>(bid->second)) - static_cast<int>(view.taken(seat));
}

bool eager(const v1::NullernView& view, int seat) { return wanted_tricks(view, seat) != 0; }

int points(int bid, int tricks) {
  if (bid != tricks) return tricks - HUPFER;
  return tricks ? 10 + tricks : 20;
}

}  // namespace arena::nullern
