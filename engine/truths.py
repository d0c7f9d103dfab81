"""Dealing out the cards that a seat has not seen, every way that fits what play has shown equally likely.

A hand may be void: it holds no card of some colours. How many orders of the unseen cards deal fitting hands is counted
hand by hand: of the cards left it only matters how many there are in each class, a class being the colours that the
hands still to be dealt treat alike. Hands that are void alike are dealt as one and then divided, hands without voids
come from what is left; so three voids are counted in a few steps, whatever the number of cards. Drawing follows the
counts: exact, without trial and error. Chance comes from the caller.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from math import comb, factorial, perm
from typing import Final, NamedTuple

from engine.deal import KEY_BYTES, SeededDecks
from engine.game import Chance


class Hand(NamedTuple):
    """One hand to be dealt."""

    size: int
    void: int
    """Bit by colour: 1 where it holds none."""


class _Step(NamedTuple):
    """One dealing of a hand, or of several that are void alike."""

    size: int
    hands: tuple[int, ...]
    """Which hands."""
    into: tuple[int, ...]
    """By class of the cards, its class after this step."""
    open: tuple[int, ...]
    """The classes it is dealt from: at most one of those that become one class."""


class _Draws(NamedTuple):
    """How a step can go with so many cards of each class: how many of each open class, and sums of the ways."""

    each: tuple[tuple[int, ...], ...]
    sums: tuple[int, ...]


_NONE: Final = _Draws((), (0,))


class Dealing:
    """The deals of so many cards of each colour to hands that fit; what is left over is the stock."""

    __slots__ = ("_classes", "_draws", "_hands", "_rest", "_steps", "ways")

    ways: int
    """Orders of the cards that deal fitting hands; 0 where none does."""

    def __init__(self, counts: Sequence[int], hands: Sequence[Hand]) -> None:
        """Takes the numbers of cards by colour."""
        held = sum(1 << colour for colour, count in enumerate(counts) if count)
        alike: dict[int, list[int]] = {}
        for index, (size, void) in enumerate(hands):
            alike.setdefault(void & held if size else 0, []).append(index)
        self._hands = hands
        self._rest = tuple(alike.pop(0, ()))
        sizes = {void: sum(hands[index].size for index in indices) for void, indices in alike.items()}
        # The last step takes one look, whatever its hand; so the largest is last.
        order = sorted(alike, key=lambda void: (sizes[void], void))
        columns = [tuple([void >> colour & 1 for void in order]) for colour in range(len(counts))]
        steps = []
        for done, void in enumerate(order):
            classes = sorted({column[done:] for column in columns})
            later = sorted({column[done + 1 :] for column in columns})
            steps.append(
                _Step(
                    sizes[void],
                    tuple(alike[void]),
                    tuple([later.index(kind[1:]) for kind in classes]),
                    tuple([index for index, kind in enumerate(classes) if not kind[0]]),
                )
            )
        self._steps = tuple(steps)
        first = sorted(set(columns))
        self._classes = tuple([first.index(column) for column in columns])
        self._draws: tuple[dict[tuple[int, ...], _Draws], ...] = tuple([{} for _ in steps])
        left = [0] * len(first)
        for kind, count in zip(self._classes, counts, strict=True):
            left[kind] += count
        if sum(counts) < sum([hand.size for hand in hands]):
            self.ways = 0
            return
        ways = self._count(0, tuple(left)) * factorial(sum(counts) - sum(sizes.values()))
        for size in sizes.values():
            ways *= factorial(size)
        self.ways = ways

    def deal(self, cards: Sequence[Sequence[int]], chance: Chance) -> list[list[int]]:
        """Hands drawn from the cards, which come by colour; `ways` must not be 0."""
        dealt: list[list[int]] = [[]] * len(self._hands)
        left: list[list[int]] = [[] for _ in set(self._classes)]
        for kind, colour in zip(self._classes, cards, strict=True):
            left[kind] += colour
        for step, draws in zip(self._steps, self._draws, strict=True):
            each, sums = draws[tuple(map(len, left))]
            taken = dict(zip(step.open, each[bisect_right(sums, chance.randrange(sums[-1]))], strict=True))
            after: list[list[int]] = [[] for _ in set(step.into)]
            together: list[int] = []
            for kind, pile in enumerate(left):
                count = taken.get(kind, 0)
                if count:
                    draw(pile, count, chance)
                    together += pile[:count]
                after[step.into[kind]] += pile[count:]
            left = after
            if len(step.hands) > 1:
                draw(together, step.size, chance)
            self._divide(together, step.hands, dealt)
        rest = left[0]
        draw(rest, sum([self._hands[index].size for index in self._rest]), chance)
        self._divide(rest, self._rest, dealt)
        return dealt

    def _divide(self, cards: list[int], hands: tuple[int, ...], dealt: list[list[int]]) -> None:
        """Deals cards in their order."""
        start = 0
        for index in hands:
            end = start + self._hands[index].size
            dealt[index] = cards[start:end]
            start = end

    def _count(self, done: int, left: tuple[int, ...]) -> int:
        """Ways to choose the cards of the steps not done yet from so many cards of each class."""
        if done == len(self._steps):
            return 1
        known = self._draws[done].get(left)
        if known is None:
            known = self._draws[done][left] = self._weigh(done, left)
        return known.sums[-1]

    def _weigh(self, done: int, left: tuple[int, ...]) -> _Draws:
        """All ways that a step can go."""
        step = self._steps[done]
        spare = sum([left[kind] for kind in step.open])
        partial: list[tuple[int, int, tuple[int, ...]]] = [(step.size, 1, ())]
        for kind in step.open:
            count = left[kind]
            spare -= count
            partial = [
                (needed - take, ways * comb(count, take), (*taken, take))
                for needed, ways, taken in partial
                for take in range(max(0, needed - spare), min(count, needed) + 1)
            ]
        merged = [0] * (max(step.into) + 1)
        for kind, count in enumerate(left):
            merged[step.into[kind]] += count
        each, weights = [], []
        for needed, ways, taken in partial:
            after = merged[:]
            for kind, take in zip(step.open, taken, strict=True):
                after[step.into[kind]] -= take
            ways *= 0 if needed else self._count(done + 1, tuple(after))
            if ways:
                each.append(taken)
                weights.append(ways)
        return _Draws(tuple(each), tuple(accumulate(weights))) if each else _NONE


class Redealt:
    """Decks of an imagined game: one round's deck is given, all others are shuffled anew."""

    __slots__ = ("_deck", "_others", "_round")

    def __init__(self, number: int, deck: Sequence[int], chance: Chance) -> None:
        """Takes the round and its cards, as many as will be asked for."""
        self._round = number
        self._deck = deck
        self._others = SeededDecks(chance.randbytes(KEY_BYTES))

    def __call__(self, round: int, size: int, count: int) -> Sequence[int]:  # noqa: A002 - the contract's word
        """The first `count` cards of the round's deck of `size` cards."""
        return self._deck if round == self._round else self._others(round, size, count)


def draw(cards: list[int], count: int, chance: Chance) -> None:
    """Brings `count` of the cards to the front: every choice of them, in every order, is equally likely."""
    size = len(cards)
    number = chance.randrange(perm(size, count))
    for place in range(count):
        number, step = divmod(number, size - place)
        other = place + step
        cards[place], cards[other] = cards[other], cards[place]
