// A few plain rules: announce the number of tricks that the hand is worth, take that many, then duck.
#pragma once

#include <arena_client/client.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <functional>

/// A bot that knows which card is winning the trick on the table, but does not count cards.
class RuleBot : public arena::Bot {
 public:
  RuleBot() {
    name = "rules";
    games = {"sixth_sense", "nullern"};
  }

  /// Applies the rules of the game, or plays the first legal action in games without rules.
  int decide(const arena::Decision& decision) override {
    if (auto* view = decision.view_as<arena::v1::NullernView>()) return play_nullern(decision, *view);
    if (auto* view = decision.view_as<arena::v1::SixthSenseView>()) return play_sixth_sense(decision, *view);
    return decision.legal[0];
  }

 private:
  using Actions = std::vector<int>;
  using Rank = std::function<int(int)>;

  static int least(const Actions& actions, const Rank& rank) {
    return *std::min_element(actions.begin(), actions.end(), [&](int one, int other) { return rank(one) < rank(other); });
  }

  static int most(const Actions& actions, const Rank& rank) {
    return *std::max_element(actions.begin(), actions.end(), [&](int one, int other) { return rank(one) < rank(other); });
  }

  /// Applies the rule for each kind of choice.
  static int play_sixth_sense(const arena::Decision& decision, const arena::v1::SixthSenseView& view) {
    const auto& legal = decision.legal;
    const arena::Catalog& game = decision.game;
    const auto table = arena::sixth_sense::read(game, view);
    const std::string& kind = game.actions(legal[0]).kind();
    if (kind == "predict") return predict(decision, view, table.trump);
    const int wanted = wanted_tricks(game, view);
    if (kind == "double") return legal[wanted > 0 ? 1 : 0];
    if (kind == "peek") return legal[0];
    const int seat = view.seat(), place = static_cast<int>(view.seats() - 1 - table.to_come.size());
    const auto takes = [&](int number) {
      const auto trick = arena::sixth_sense::after(table.trick, game, game.actions(number), seat, place);
      return arena::sixth_sense::taker(trick, table.trump) == seat;
    };
    const auto strength = [&](int number) {
      const auto& action = game.actions(number);
      return static_cast<int>(action.value()) + (table.trump == static_cast<int>(game.cards(action.card()).colour()) ? 100 : 0);
    };
    return take_or_duck(legal, takes, strength, wanted > 0, table.to_come.empty());
  }

  /// The prediction nearest to the number of good cards (high trumps, 13 and 14) in the rest of the hand.
  static int predict(const arena::Decision& decision, const arena::v1::SixthSenseView& view, std::optional<int> trump) {
    const arena::Catalog& game = decision.game;
    const auto good = [&](int number) {
      const auto& card = game.cards(number);
      const int highest = *std::max_element(card.values().begin(), card.values().end());
      return highest >= (trump == static_cast<int>(card.colour()) ? 9 : 13);
    };
    return least(decision.legal, [&](int number) {
      const int prediction = game.actions(number).card();
      int tricks = 0, misfit = INT_MAX;
      for (int card : view.hand()) tricks += card != prediction && good(card);
      for (int aim : arena::sixth_sense::targets(game, prediction)) misfit = std::min(misfit, std::abs(aim - tricks));
      return misfit;
    });
  }

  /// Number of tricks that the prediction still needs; a 6/9 needs 9 only after more than 6 tricks.
  static int wanted_tricks(const arena::Catalog& game, const arena::v1::SixthSenseView& view) {
    int missing = INT_MAX;
    for (int aim : arena::sixth_sense::targets(game, view.prediction())) {
      const int tricks = aim - static_cast<int>(view.taken(view.seat()));
      if (tricks >= 0) missing = std::min(missing, tricks);
    }
    return missing == INT_MAX ? 0 : missing;
  }

  /// Bids the number of good cards (trumps, and with few opponents a 19 or 20), then plays for that bid.
  static int play_nullern(const arena::Decision& decision, const arena::v1::NullernView& view) {
    const auto table = arena::nullern::read(decision.game, view);
    if (decision.game.actions(decision.legal[0]).kind() == "bid") {
      const int lowest = view.seats() > 3 ? arena::nullern::PLAIN + 1 : 19;
      const auto& hand = view.hand();
      return decision.legal[std::count_if(hand.begin(), hand.end(), [&](int card) { return table.strengths[card] >= lowest; })];
    }
    if (view.hand().empty()) return decision.legal[0];  // the blind card
    const auto strength = [&](int number) { return table.strengths[decision.game.actions(number).card()]; };
    const auto takes = [&](int number) {
      return std::all_of(table.trick.begin(), table.trick.end(), [&](int laid) { return strength(number) > laid; });
    };
    return take_or_duck(decision.legal, takes, strength, arena::nullern::eager(view, view.seat()), table.to_come.empty());
  }

  /// Takes the trick if the seat is eager: with the lowest card in the last seat, before that with the highest.
  /// Otherwise throws away the highest card that does not take the trick.
  static int take_or_duck(const Actions& legal, const std::function<bool(int)>& takes, const Rank& strength, bool eager, bool last) {
    Actions taking, losing;
    for (int number : legal) (takes(number) ? taking : losing).push_back(number);
    if (!eager) return losing.empty() ? least(taking, strength) : most(losing, strength);
    if (taking.empty()) return least(losing, strength);
    return last ? least(taking, strength) : most(taking, strength);
  }
};
