// Reads a view of 6th Sense: the trick on the table, its taker, the unseen cards, the seats void of a colour. It
// computes everything from one decision and stores nothing.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "arena_client/decision.h"

namespace arena::sixth_sense {

/// An unblocked card in a trick; only these count.
struct Laid {
  int seat, place, colour, value;
};

/// Everything that a seat knows when it chooses, except its own hand.
struct Table {
  /// The trump colour; nullopt if there is none, or none yet.
  std::optional<int> trump;
  /// The cards of the current trick that count, in the order in which they were played.
  std::vector<Laid> trick;
  /// The seats that play to this trick after this one.
  std::vector<int> to_come;
  /// The unseen cards, in rising order: those in other hands or in the stock.
  std::set<int> unseen;
  /// For each seat, the colours that it certainly does not hold.
  std::map<int, std::set<int>> lacks;
};

/// Read the table from a view.
Table read(const Catalog& game, const v1::SixthSenseView& view);
/// Return the cards that count in a trick after one more action. A block removes a card and does not count itself.
std::vector<Laid> after(std::vector<Laid> trick, const Catalog& game, const Action& action, int seat, int place);
/// Return the seat now winning a trick; nullopt if no card counts.
std::optional<int> taker(const std::vector<Laid>& trick, std::optional<int> trump);
/// Return the numbers of tricks that a prediction card predicts: two for a 6/9.
std::vector<int> targets(const Catalog& game, int card);
/// Return the points of a round with the given aims and number of tricks.
int points(const std::vector<int>& aims, int tricks, bool novice);

}  // namespace arena::sixth_sense
