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

    def misfit(self, game: Catalog, view: SixthSenseView, table: Table, action: Action) -> int:
        """How far a prediction lies from the number of good cards among the others of the hand."""
        assert action.card is not None
        good = sum(self.good(game, table, card) for card in view.hand if card != action.card)
        return min(abs(aim - good) for aim in targets(game, action.card))

    def good(self, game: Catalog, table: Table, card: int) -> bool:
        """Whether a card looks like a trick: a trump of at least 9, or a 13 or 14."""
        value = max(game.cards[card].values)
        return value >= (9 if game.cards[card].colour == table.trump else 13)

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
