// Reads a view of Nullern: the strengths of cards, the trick on the table, the seats that want tricks, the
// unseen cards. It computes everything from one decision and stores nothing.
#pragma once

#include <optional>
#include <vector>

#include "arena_client/decision.h"

namespace arena::nullern {

/// The highest strength of a card that is not a trump.
inline constexpr int PLAIN = 20;
/// Points that a missed bid costs at the end of the game.
inline constexpr int HUPFER = 5;

/// Everything that a seat knows when it chooses, except its own hand.
struct Table {
  /// Strengths by card: its value, plus 20 for a trump. The strongest card takes the trick.
  std::vector<int> strengths;
  /// The strengths of the cards on the table; the first of equally strong cards takes the trick.
  std::vector<int> trick;
  /// The seats that play to this trick after this one.
  std::vector<int> to_come;
  /// The strengths of the unseen cards: those in other hands or in the stock.
  std::vector<int> unseen;
};

/// Read the table from a view.
Table read(const Catalog& game, const v1::NullernView& view);
/// Return the seat now winning the trick; nullopt if the table is empty.
std::optional<int> taker(const Catalog& game, const v1::NullernView& view);
/// Return the number of tricks that a seat still needs for its bid; negative if it has too many or has not bid.
int wanted_tricks(const v1::NullernView& view, int seat);
/// Return true if a seat wants a trick: for its bid or, if the bid is lost, for the point.
bool eager(const v1::NullernView& view, int seat);
/// Return the points of a round with this bid and these tricks, including the later cost of a missed bid.
int points(int bid, int tricks);

}  // namespace arena::nullern
