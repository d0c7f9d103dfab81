"""A summary of a view of 6th Sense: the trick on the table, its taker, the unseen cards, the seats void of a colour.

The summary is computed from a single decision. The better samples use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from arena_client import Action, Catalog, SixthSenseView


class Laid(NamedTuple):
    """A card in a trick that is not blocked and so counts."""

    seat: int
    place: int
    colour: int
    value: int


class Table(NamedTuple):
    """Everything that a seat knows when it chooses, except its own hand."""

    trump: int | None
    """The trump colour; None if there is no trump, or none yet."""
    trick: list[Laid]
    """The cards of the current trick that count, in the order in which they were played."""
    to_come: list[int]
    """The seats that play to this trick after the viewing seat."""
    unseen: list[int]
    """The unseen cards: those in the other hands and in the stock."""
    void: set[tuple[int, int]]
    """Pairs of a seat and a colour that the seat has proved not to hold."""


def read(game: Catalog, view: SixthSenseView) -> Table:
    """Read the table from a view."""
    seats = view.seats
    trump = game.cards[view.turned].colour if view.HasField("turned") else None
    colours = len(game.colours) - (seats == 2)
    unseen = {index for index, card in enumerate(game.cards) if card.colour < colours}
    unseen.difference_update(view.hand)
    if view.HasField("turned"):
        unseen.discard(view.turned)
    unseen.difference_update(view.known_predictions.values())
    void: set[tuple[int, int]] = set()
    trick: list[Laid] = []
    for index, number in enumerate(view.plays):
        place = index % seats
        seat = (view.leaders[index // seats] + place) % seats
        if place == 0:
            trick = []
        action = game.actions[number]
        if action.card is not None:
            unseen.discard(action.card)
            colour = game.cards[action.card].colour
            if trick and colour != trick[0].colour:
                void.add((seat, trick[0].colour))
        trick = after(trick, game, action, seat, place)
    if len(view.plays) == len(view.takers) * seats:  # The last trick is complete: a new trick begins.
        trick = []
    laid = len(view.plays) - len(view.takers) * seats
    to_come = [(view.seat + step) % seats for step in range(1, seats - laid)]
    return Table(trump, trick, to_come, sorted(unseen), void)


def after(trick: list[Laid], game: Catalog, action: Action, seat: int, place: int) -> list[Laid]:
    """Return the cards of a trick that count after one more action.

    A block removes its victim and does not count itself.
    """
    if action.kind == "block":
        return [laid for laid in trick if laid.place != action.place]
    assert action.card is not None
    assert action.value is not None
    return [*trick, Laid(seat, place, game.cards[action.card].colour, action.value)]


def taker(trick: Sequence[Laid], trump: int | None) -> int | None:
    """Return the seat that is winning a trick; None if no card counts."""
    if not trick:
        return None
    led = trick[0].colour
    odd_fours = sum(laid.value == 4 for laid in trick) % 2

    def rank(laid: Laid) -> tuple[int, int, int]:
        standing = 2 if laid.colour == trump else 1 if laid.colour == led else 0
        # The first of equally high cards wins, and the last of equally low cards.
        return standing, laid.value, -laid.place

    return (min if odd_fours else max)(trick, key=rank).seat


def targets(game: Catalog, card: int) -> tuple[int, ...]:
    """Return the numbers of tricks that a prediction card predicts; two numbers for a 6/9."""
    return game.cards[card].values


def points(aims: Sequence[int], tricks: int, *, novice: bool) -> int:
    """Return the points of a round with these predicted numbers and the tricks taken."""
    distance = min(abs(aim - tricks) for aim in aims)
    if novice:
        return (6, 4, 3, 2, 1, 0)[min(distance, 5)]
    return tricks if distance == 0 else -distance
