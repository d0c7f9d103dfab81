"""Sampling a game of Nullern that fits a seat's view; all games that fit are equally likely.

Play reveals one thing about another seat: if it did not follow a trump, it held none (N5). In the blind round seats do
not choose, so play reveals nothing, and the seat's own card is as unknown as any other (N8). Nothing is inferred from
how wise a choice was.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from engine.constrained_deal import ConstrainedDeal, Hand, Redealt
from engine.draws import BulkDraws, Draws
from engine.game import Chance, Truth, ViewError
from engine.nullern.cards import BID, BLIND, CARDS, COLOUR_SIZE, COLOURS
from engine.nullern.state import NullernState
from engine.nullern.view import NullernView

_TRUMPS_OF: Final = tuple(
    frozenset(range(colour * COLOUR_SIZE, (colour + 1) * COLOUR_SIZE)) for colour in range(len(COLOURS))
)


class _Reading(NamedTuple):
    """The constraints on the hidden cards that follow from a view."""

    choices: tuple[tuple[int, int], ...]
    """All choices of the round so far, as seat and action."""
    open: tuple[tuple[int, ...], ...]
    """By seat, the cards known to have been dealt to it."""
    unseen: tuple[tuple[int, ...], ...]
    """By colour, the cards not seen."""
    hands: tuple[int, ...]
    """The seats that hold unseen cards."""
    dealing: ConstrainedDeal


def sample(view: NullernView, chance: Chance) -> NullernState:
    """Sample a game that fits the view: `engine.game.Game.sample`."""
    deck, choices = truth(view, chance)
    state = NullernState(view.seats, Redealt(view.round, deck, chance), view.round, view.scores, view.hupfers)
    for seat, action in choices:
        state.apply(action, seat)
    return state


def sample_many(view: NullernView, chance: Chance, count: int) -> list[NullernState]:
    """Sample several games: `engine.game.Game.sample_many`. The first is played to the view; the others are copies."""
    if count < 1:
        return []
    reading = read(view)
    first = sample(view, chance)
    games = [first]
    draws = BulkDraws(chance)
    for _ in range(count - 1):
        hands = reading.dealing.deal(reading.unseen, draws)
        game = first.clone()
        game.deal_anew(reading.hands, hands, Redealt(view.round, (), draws))
        games.append(game)
    return games


def truth(view: NullernView, chance: Chance) -> Truth:
    """Sample a deal and choices that fit the view: `engine.game.Game.truth`."""
    reading = read(view)
    hands = [[*cards] for cards in reading.open]
    for seat, cards in zip(reading.hands, reading.dealing.deal(reading.unseen, Draws(chance)), strict=True):
        hands[seat] += cards
    return Truth([*(card for hand in hands for card in hand), view.turned], reading.choices)


@lru_cache(maxsize=16)
def read(view: NullernView) -> _Reading:
    """Derive the constraints of a view. Raises: ViewError: no deal fits.

    Cached, because a search samples one view many times.
    """
    seats = view.seats
    blind = view.round == view.rounds - 1
    if blind and view.takers:
        raise ViewError("the game is over")
    trump = CARDS[view.turned].colour
    trumps = _TRUMPS_OF[trump]
    played: list[list[int]] = [[] for _ in range(seats)]
    void = [0] * seats
    for number, leader in enumerate(view.leaders):
        trick = view.plays[number * seats : (number + 1) * seats]
        for place, card in enumerate(trick):
            seat = (leader + place) % seats
            played[seat].append(card)
            if trick[0] in trumps and card not in trumps:
                void[seat] = 1 << trump
    unknown = tuple(seat for seat in range(seats) if blind or seat != view.seat)
    hands = [Hand(view.hand_size - len(played[seat]), void[seat]) for seat in unknown]
    played[view.seat] += view.hand
    seen = {card for cards in played for card in cards} | {view.turned}
    unseen = tuple(
        tuple(card for card in range(colour * COLOUR_SIZE, (colour + 1) * COLOUR_SIZE) if card not in seen)
        for colour in range(len(COLOURS))
    )
    dealing = ConstrainedDeal(hands, len(COLOURS))
    if not dealing.ways([len(cards) for cards in unseen]):
        raise ViewError("no deal fits the view")
    order = [*range(view.dealer + 1, seats), *range(view.dealer + 1)]
    choices = [(seat, BID + view.bids[seat] - 1) for seat in order if view.bids[seat]]
    for index, card in enumerate(view.plays):
        choices.append(((view.leaders[index // seats] + index) % seats, BLIND if blind else card))
    return _Reading(tuple(choices), tuple(map(tuple, played)), unseen, unknown, dealing)
