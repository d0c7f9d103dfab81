"""A bot with a few plain rules: announce the number of tricks that the hand is worth, take that many, then duck."""

import random
from collections.abc import Callable

from arena_client import GAMES, Bot, Catalog, Decision, NullernView, SixthSenseView, nullern, sixth_sense
from arena_client.command import main


class RuleBot(Bot):
    """Bot that knows which card is winning the trick on the table, but does not count cards."""

    name = "rules"
    games = GAMES

    def decide(self, decision: Decision) -> int:
        """Play by the rules for the game; play at random in other games."""
        if isinstance(decision.view, NullernView):
            return play_nullern(decision, decision.view)
        if isinstance(decision.view, SixthSenseView):
            return play_sixth_sense(decision, decision.view)
        return random.choice(decision.legal)  # noqa: S311  # a game, no secret


def play_sixth_sense(decision: Decision, view: SixthSenseView) -> int:
    """Choose by the rule for the kind of choice."""
    game = decision.game
    table = sixth_sense.read(game, view)
    kind = decision.actions[0].kind
    if kind == "predict":
        return predict(decision, view, table)
    wanted = wanted_tricks(game, view)
    if kind == "double":
        return decision.legal[1 if wanted > 0 else 0]
    if kind == "peek":
        return decision.legal[0]

    def takes(number: int) -> bool:
        place = view.seats - 1 - len(table.to_come)
        trick = sixth_sense.after(table.trick, game, game.actions[number], view.seat, place)
        return sixth_sense.taker(trick, table.trump) == view.seat

    def strength(number: int) -> int:
        action = game.actions[number]
        assert action.card is not None
        return (action.value or 0) + (100 if game.cards[action.card].colour == table.trump else 0)

    return take_or_duck(decision, takes, strength, eager=wanted > 0, last=not table.to_come)


def predict(decision: Decision, view: SixthSenseView, table: sixth_sense.Table) -> int:
    """Choose the prediction nearest to the number of good cards (high trumps, 13 and 14) in the rest of the hand."""
    game = decision.game

    def good(card: int) -> bool:
        return max(game.cards[card].values) >= (9 if game.cards[card].colour == table.trump else 13)

    def misfit(number: int) -> int:
        prediction = game.actions[number].card
        assert prediction is not None
        tricks = sum(good(card) for card in view.hand if card != prediction)
        return min(abs(aim - tricks) for aim in sixth_sense.targets(game, prediction))

    return min(decision.legal, key=misfit)


def wanted_tricks(game: Catalog, view: SixthSenseView) -> int:
    """Return the number of tricks that the prediction still needs; a 6/9 needs 9 only after more than 6 tricks."""
    taken = view.taken[view.seat]
    aims = sixth_sense.targets(game, view.prediction)
    return min((aim - taken for aim in aims if aim >= taken), default=0)


def play_nullern(decision: Decision, view: NullernView) -> int:
    """Bid the number of good cards (trumps, and with few opponents a 19 or 20), then play for that bid."""
    table = nullern.read(decision.game, view)
    if decision.actions[0].kind == "bid":
        lowest = nullern.PLAIN + 1 if view.seats > 3 else 19
        return decision.legal[sum(table.strengths[card] >= lowest for card in view.hand)]
    if not view.hand:  # The blind card.
        return decision.legal[0]

    def strength(number: int) -> int:
        card = decision.game.actions[number].card
        assert card is not None
        return table.strengths[card]

    def takes(number: int) -> bool:
        return strength(number) > max(table.trick, default=0)

    eager = nullern.eager(view, view.seat)
    return take_or_duck(decision, takes, strength, eager=eager, last=not table.to_come)


def take_or_duck(
    decision: Decision, takes: Callable[[int], bool], strength: Callable[[int], int], *, eager: bool, last: bool
) -> int:
    """Take the trick as cheaply as possible, or throw away the highest card that does not take it."""
    taking = [number for number in decision.legal if takes(number)]
    losing = [number for number in decision.legal if not takes(number)]
    if eager:
        if taking:
            return min(taking, key=strength) if last else max(taking, key=strength)
        return min(losing, key=strength)
    return max(losing, key=strength) if losing else min(taking, key=strength)


if __name__ == "__main__":
    main(RuleBot, __doc__)
