// Reads a view of Nullern: how strong a card is, what lies on the table, who wants tricks, which cards are out.
// It computes everything from one decision and remembers nothing.
#pragma once

#include <optional>
#include <vector>

#include "arena_client/decision.h"

namespace arena::nullern {

/// The highest strength of a card that is no trump.
inline constexpr int PLAIN = 20;
/// Points that a missed bid costs at the end of the game.
inline constexpr int HUPFER = 5;

/// What the seat to choose knows, beyond its own hand.
struct Table {
  /// By card: its value, whatever its colour, and 20 more for a trump. The strongest card takes the trick.
  std::vector<int> strengths;
  /// The strengths of the cards on the table; of equally strong ones the first takes the trick.
  std::vector<int> trick;
  /// The seats that play to this trick after the own one.
  std::vector<int> to_come;
  /// The strengths of the cards that lie with the others or in the stock.
  std::vector<int> unseen;
};

/// Return the table as the view shows it.
Table read(const Catalog& game, const v1::NullernView& view);
/// Return the seat that takes the trick on the table as it lies; none where no card lies there.
std::optional<int> taker(const Catalog& game, const v1::NullernView& view);
/// Return the tricks still missing for a seat's bid; negative when it has too many.
int wanted_tricks(const v1::NullernView& view, int seat);
/// Return whether a seat has a use for a trick: for its bid, or, when that is lost anyway, for the point.
bool eager(const v1::NullernView& view, int seat);
/// Return what a round brings with this bid and that many tricks, the cost of a missed bid counted at once.
int points(int bid, int tricks);

}  // namespace arena::nullern
