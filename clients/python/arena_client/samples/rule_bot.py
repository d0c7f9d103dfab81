"""A few plain rules: predict what the hand is worth, take tricks until the prediction is reached, then duck."""

from arena_client import Action, Bot, Catalog, Decision, SixthSenseView
from arena_client.command import main
from arena_client.samples.sixth_sense import Table, after, read, taker, targets


class RuleBot(Bot):
    """Knows which card takes the trick on the table, and counts nothing."""

    name = "rules"

    def decide(self, decision: Decision) -> int:
        """Sends each kind of choice to its rule."""
        game, view = decision.game, decision.view
        table = read(game, view)
        kind = decision.actions[0].kind
        if kind == "predict":
            return min(decision.legal, key=lambda action: self.misfit(game, view, table, game.actions[action]))
        wanted = wanted_tricks(game, view)
        if kind == "double":
            return decision.legal[1 if wanted > 0 else 0]
        if kind == "peek":
            return decision.legal[0]
        return self.play(decision, table, eager=wanted > 0)

    def misfit(self, game: Catalog, view: SixthSenseView, table: Table, action: Action) -> float:
        """How far a prediction lies from what the other cards of the hand are worth."""
        assert action.card is not None
        rest = [card for card in view.hand if card != action.card]
        worth = sum(self.worth(game, table, card) for card in rest) * 4 / (view.seats + 1)
        return min(abs(aim - worth) for aim in targets(game, action.card))

    def worth(self, game: Catalog, table: Table, card: int) -> float:
        """Tricks that a card may bring at a table of three: high cards and trumps bring more."""
        value = max(game.cards[card].values)
        if game.cards[card].colour == table.trump:
            return 0.3 + 0.05 * value
        return max(0.0, (value - 5) / 12)

    def play(self, decision: Decision, table: Table, *, eager: bool) -> int:
        """Takes the trick as cheaply as it can, or throws away the highest card that does not take it."""
        game, view = decision.game, decision.view
        place = view.seats - 1 - len(table.to_come)

        def takes(number: int) -> bool:
            trick = after(table.trick, game, game.actions[number], view.seat, place)
            return taker(trick, table.trump) == view.seat

        def strength(number: int) -> tuple[bool, int]:
            action = game.actions[number]
            assert action.card is not None
            return game.cards[action.card].colour == table.trump, action.value or 0

        taking = [number for number in decision.legal if takes(number)]
        losing = [number for number in decision.legal if not takes(number)]
        if eager:
            if taking:
                return min(taking, key=strength) if not table.to_come else max(taking, key=strength)
            return min(losing, key=strength)
        return max(losing, key=strength) if losing else min(taking, key=strength)


def wanted_tricks(game: Catalog, view: SixthSenseView) -> int:
    """Tricks still missing for the prediction; for a 6/9 the 9 counts once the 6 is passed."""
    taken = view.taken[view.seat]
    aims = targets(game, view.prediction)
    return min((aim - taken for aim in aims if aim >= taken), default=0)


if __name__ == "__main__":
    main(RuleBot, __doc__)
