"""Deal the cards that a seat has not seen; all deals that fit the play so far are equally likely.

A hand may be void: it holds no card of some colours. The permutations of the unseen cards that deal fitting hands are
counted hand by hand. A class is a set of colours that the remaining hands treat alike, and only the number of cards in
each class matters. Hands with the same voids are dealt as one and then divided; hands without voids get the rest. So
three voids are counted in a few steps, however many cards there are. Drawing follows the counts exactly, without trial
and error. Random numbers come from the caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import comb, factorial, prod
from typing import Final, NamedTuple

from engine.deal import KEY_BYTES, SeededDecks
from engine.draws import Draws
from engine.game import Chance


class Hand(NamedTuple):
    """A hand to deal: its size, and the colours missing from it."""

    size: int
    void: int
    """One bit per colour: 1 if the hand has no card of the colour."""


class _Step:
    """A step of the deal, which deals one hand, or several hands with the same void colours."""

    __slots__ = ("hands", "joined", "outcomes", "size")

    def __init__(self, size: int, hands: tuple[int, ...], joined: tuple[tuple[int, int], ...]) -> None:
        self.size: Final = size
        self.hands: Final = hands
        """Indices of the hands that this step deals."""
        self.joined: Final = joined
        """For each class of cards after this step, the two classes that it merges: the class dealt from and the other
        (−1 for none).
        """
        self.outcomes: Final[dict[tuple[int, ...], _Outcomes]] = {}
        """Cached outcomes, by the number of cards of each class before the step."""


class _Outcomes:
    """Outcomes of a step: the cards that remain in each class, and the cumulative numbers of ways."""

    __slots__ = ("after", "sums")

    def __init__(self, after: tuple[tuple[int, ...], ...], sums: tuple[int, ...]) -> None:
        self.after: Final = after
        self.sums: Final = sums


class ConstrainedDeal:
    """All possible deals of cards to hands. The cards left over form the stock. Counts are cached."""

    __slots__ = ("_classes", "_kinds", "_orders", "_rest", "_sizes", "_steps", "_unbound")

    def __init__(self, hands: Sequence[Hand], colours: int) -> None:
        """Set up for all hands and the number of colours of the cards."""
        alike: dict[int, list[int]] = {}
        for index, (size, void) in enumerate(hands):
            alike.setdefault(void if size else 0, []).append(index)
        self._sizes = tuple([hand.size for hand in hands])
        self._rest = tuple(alike.pop(0, ()))
        self._unbound = sum([self._sizes[index] for index in self._rest])
        sizes = {void: sum([self._sizes[index] for index in indices]) for void, indices in alike.items()}
        # The step with the fewest outcomes comes first: it leaves the fewest cases to count after it.
        order = sorted(alike, key=lambda void: (-void.bit_count(), sizes[void], void))
        columns = [tuple([void >> colour & 1 for void in order]) for colour in range(colours)]
        before = sorted(set(columns))
        self._classes = tuple([before.index(column) for column in columns])
        self._kinds = len(before)
        steps = []
        for void in order:
            later = sorted({kind[1:] for kind in before})
            place = {kind: index for index, kind in enumerate(before)}
            joined = tuple([(place.get((0, *kind), -1), place.get((1, *kind), -1)) for kind in later])
            steps.append(_Step(sizes[void], tuple(alike[void]), joined))
            before = later
        self._steps = tuple(steps)
        self._orders = prod([factorial(step.size) for step in steps])

    def ways(self, counts: Sequence[int]) -> int:
        """Count the permutations of the cards that deal fitting hands. `counts`: the number of cards of each colour."""
        cards = sum(counts)
        if cards < sum(self._sizes):
            return 0
        left = [0] * self._kinds
        for kind, count in zip(self._classes, counts, strict=True):
            left[kind] += count
        spare = cards - sum([step.size for step in self._steps])
        return self._count(0, tuple(left)) * self._orders * factorial(spare)

    def deal(self, cards: Sequence[Sequence[int]], draws: Draws) -> list[list[int]]:
        """Deal hands from these cards, which are listed by colour.

        Call `ways` for the same cards first; its result must not be 0.
        """
        dealt: list[list[int]] = [[]] * len(self._sizes)
        left: list[list[int]] = [[] for _ in range(self._kinds)]
        for colour, kind in enumerate(self._classes):
            left[kind].extend(cards[colour])
        for step in self._steps:
            outcomes = step.outcomes[tuple([len(pile) for pile in left])]
            after = outcomes.after[draws.one_of(outcomes.sums)]
            piles = left
            piles.append([])
            left = []
            together: list[int] = []
            for place, (source, other) in enumerate(step.joined):
                pile = piles[source]
                others = piles[other]
                count = len(pile) + len(others) - after[place]
                if count:
                    draws.draw(pile, count)
                    together.extend(pile[:count])
                left.append(pile[count:] + others)
            if len(step.hands) > 1:
                draws.draw(together, step.size)
            self._divide(together, step.hands, dealt)
        rest = left[0]
        draws.draw(rest, self._unbound)
        self._divide(rest, self._rest, dealt)
        return dealt

    def _divide(self, cards: list[int], hands: tuple[int, ...], dealt: list[list[int]]) -> None:
        """Divide cards among the hands of a step, in order."""
        start = 0
        for index in hands:
            end = start + self._sizes[index]
            dealt[index] = cards[start:end]
            start = end

    def _count(self, done: int, left: tuple[int, ...]) -> int:
        """Count the ways to do the remaining steps. `left`: the number of cards of each class."""
        if done == len(self._steps):
            return 1
        outcomes = self._steps[done].outcomes.get(left)
        if outcomes is None:
            outcomes = self._steps[done].outcomes[left] = self._weigh(done, left)
        return outcomes.sums[-1] if outcomes.sums else 0

    def _weigh(self, done: int, left: tuple[int, ...]) -> _Outcomes:
        """List the outcomes of a step with their numbers of ways."""
        step = self._steps[done]
        piles = (*left, 0)
        spare = sum([piles[source] for source, _ in step.joined])
        partial: list[tuple[int, int, tuple[int, ...]]] = [(step.size, 1, ())]
        for source, other in step.joined:
            count = piles[source]
            spare -= count
            pile = count + piles[other]
            partial = [
                (needed - take, ways * comb(count, take), (*after, pile - take))
                for needed, ways, after in partial
                for take in range(max(0, needed - spare), min(count, needed) + 1)
            ]
        weighed = [(ways * self._count(done + 1, after), after) for _, ways, after in partial]
        possible = [(ways, after) for ways, after in weighed if ways]
        return _Outcomes(tuple([after for _, after in possible]), tuple(accumulate([ways for ways, _ in possible])))


class Redealt:
    """The decks of a sampled game: one round's deck is given, all others are shuffled anew."""

    __slots__ = ("_deck", "_others", "_round")

    def __init__(self, number: int, deck: Sequence[int], others: Chance | SeededDecks) -> None:
        """Take the number of the given round and its first cards, at least as many as will be requested.

        `others`: all other decks, or a source of randomness that shuffles them.
        """
        self._round = number
        self._deck = deck
        self._others = others if isinstance(others, SeededDecks) else SeededDecks(others.randbytes(KEY_BYTES))

    def __call__(self, round: int, size: int, count: int) -> Sequence[int]:  # noqa: A002 - the contract's word
        """Return the first `count` cards of the round's deck of `size` cards."""
        return self._deck if round == self._round else self._others(round, size, count)

    def roll(self, round: int, number: int, faces: int) -> int:  # noqa: A002 - the contract's word
        """Return the face that a die shows, 0 … faces−1."""
        return self._others.roll(round, number, faces)

    def __reduce__(self) -> tuple[type[Redealt], tuple[int, Sequence[int], SeededDecks]]:
        """Return a class and its arguments, from which pickle and copy create equal decks."""
        return Redealt, (self._round, self._deck, self._others)
