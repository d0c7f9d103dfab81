"""Dealing of unseen cards: every possible deal is exactly equally likely. The test tries all random choices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from itertools import chain, cycle, islice, permutations
from random import Random

import pytest

from engine.constrained_deal import ConstrainedDeal, Hand, Redealt
from engine.deal import SeededDecks
from engine.draws import BulkDraws, Draws

Truth = tuple[frozenset[int], ...]


class EveryChance:
    """A random source that runs through every possible sequence of draws, one after another."""

    def __init__(self) -> None:
        self.choices: list[tuple[int, int]] = []
        """The numbers drawn in this run, each with the number of possible values."""
        self.drawn = 0

    def randrange(self, stop: int, /) -> int:
        if self.drawn == len(self.choices):
            self.choices.append((0, stop))
        choice, known = self.choices[self.drawn]
        assert known == stop
        self.drawn += 1
        return choice

    def randbytes(self, n: int, /) -> bytes:
        raise AssertionError("nothing here needs bytes")

    def next(self) -> bool:
        """Begin the next run. Return False after the last one."""
        self.drawn = 0
        while self.choices:
            choice, stop = self.choices.pop()
            if choice + 1 < stop:
                self.choices.append((choice + 1, stop))
                return True
        return False


def distribution(run: Callable[[EveryChance], Hashable]) -> dict[Hashable, Fraction]:
    """Return the exact probability of each result."""
    chance = EveryChance()
    found: dict[Hashable, Fraction] = {}
    more = True
    while more:
        result = run(chance)
        likely = Fraction(1)
        for _, stop in chance.choices:
            likely /= stop
        found[result] = found.get(result, Fraction(0)) + likely
        more = chance.next()
    return found


def fitting(cards: Sequence[Sequence[int]], hands: Sequence[Hand]) -> Counter[Truth]:
    """Return the possible deals, each with the number of card orders that lead to it."""
    colour_of = {card: colour for colour, pile in enumerate(cards) for card in pile}
    found: Counter[Truth] = Counter()
    for order in permutations(colour_of):
        deck = list(order)
        truth = []
        for size, void in hands:
            hand, deck = deck[:size], deck[size:]
            if len(hand) < size or any(void >> colour_of[card] & 1 for card in hand):
                break
            truth.append(frozenset(hand))
        else:
            found[tuple(truth)] += 1
    return found


def assert_equally_likely(piles: Sequence[Sequence[int]], hands: Sequence[Hand]) -> None:
    """Compare the number of ways and the probability of every deal with a list of all possible deals."""
    expected = fitting(piles, hands)
    dealing = ConstrainedDeal(hands, len(piles))
    assert dealing.ways([len(pile) for pile in piles]) == expected.total()
    if not expected:
        return

    def deal(chance: EveryChance) -> Hashable:
        dealt = dealing.deal(piles, Draws(chance))
        assert [len(hand) for hand in dealt] == [hand.size for hand in hands]
        return tuple(frozenset(hand) for hand in dealt)

    assert distribution(deal) == {truth: Fraction(1, len(expected)) for truth in expected}


def test_drawing_gives_every_choice_in_every_order_equally_often() -> None:
    def pick(chance: EveryChance) -> Hashable:
        cards = [1, 2, 3, 4]
        Draws(chance).draw(cards, 2)
        assert sorted(cards) == [1, 2, 3, 4]
        return tuple(cards[:2])

    assert distribution(pick) == {pair: Fraction(1, 12) for pair in permutations([1, 2, 3, 4], 2)}


class EveryNumber:
    """A random source whose bytes run through all numbers of a given length, repeatedly."""

    def __init__(self, size: int) -> None:
        self.numbers = cycle(b"".join(number.to_bytes(size, "big") for number in range(256**size)))

    def randrange(self, stop: int, /) -> int:
        raise AssertionError("nothing here needs numbers")

    def randbytes(self, n: int, /) -> bytes:
        return bytes(islice(self.numbers, n))


class Pairs(EveryNumber):
    """A random source that yields the pairs (first, 0), (first, 1) … (first, 254)."""

    def __init__(self, first: int) -> None:
        self.numbers = cycle(bytes(chain.from_iterable((first, second) for second in range(255))))


@pytest.mark.parametrize("size", [1, 2, 3, 70, 80, 127, 128, 129, 255, 256])
def test_of_all_bytes_every_card_is_drawn_by_as_many(size: int) -> None:
    draws = BulkDraws(EveryNumber(1))
    found: Counter[int] = Counter()
    for _ in range(256 // size * size):
        cards = [*range(size)]
        draws.draw(cards, 1)
        assert sorted(cards) == [*range(size)]
        found[cards[0]] += 1
    if size > 1:  # a choice with one card needs no byte
        assert found == dict.fromkeys(range(size), 256 // size)


def test_each_place_is_drawn_from_the_cards_that_are_left() -> None:
    """All accepted pairs of bytes: 256 numbers for 4 cards, 255 for 3."""
    found: Counter[tuple[int, ...]] = Counter()
    for first in range(256):
        draws = BulkDraws(Pairs(first))
        for _ in range(255):
            cards = [*range(4)]
            draws.draw(cards, 2)
            found[tuple(cards[:2])] += 1
    assert found == dict.fromkeys(permutations(range(4), 2), 256 * 255 // 12)


@pytest.mark.parametrize(
    ("stop", "size"), [(1, 1), (2, 1), (3, 1), (200, 1), (256, 1), (257, 2), (1000, 2), (65536, 2)]
)
def test_of_all_numbers_every_outcome_is_drawn_by_as_many(stop: int, size: int) -> None:
    draws = BulkDraws(EveryNumber(size))
    times = 256**size >> (stop - 1).bit_length()
    found = Counter(draws.randrange(stop) for _ in range(times * stop))
    assert found == dict.fromkeys(range(stop), times)


def test_many_bytes_are_those_of_chance_in_their_order() -> None:
    draws = BulkDraws(EveryNumber(1))
    assert draws.randbytes(300) == bytes(range(256)) + bytes(range(44))
    assert draws.randbytes(3) == bytes([44, 45, 46])
    assert len(draws.randbytes(5000)) == 5000


def test_an_outcome_is_drawn_by_its_weight_and_one_alone_without_chance() -> None:
    def pick(chance: EveryChance) -> Hashable:
        return Draws(chance).one_of([1, 1, 3])

    assert distribution(pick) == {0: Fraction(1, 3), 2: Fraction(2, 3)}
    bulk = BulkDraws(EveryNumber(1))
    assert Counter(bulk.one_of([64, 64, 256]) for _ in range(256)) == {0: 64, 2: 192}
    assert bulk.one_of([7]) == 0
    assert bulk.randbytes(1) == b"\0"


def test_a_deck_of_more_cards_than_a_byte_has_numbers_is_drawn_from_too() -> None:
    cards = [*range(300)]
    BulkDraws(Random(1)).draw(cards, 280)
    assert sorted(cards) == [*range(300)]
    assert sum(card == place for place, card in enumerate(cards)) < 25
    alone: list[int] = []
    BulkDraws(Random(1)).draw(alone, 0)
    assert alone == []


@pytest.mark.parametrize("seed", range(60))
def test_every_deal_that_fits_is_equally_likely(seed: int) -> None:
    random = Random(seed)
    colours = random.randrange(1, 5)
    piles: list[list[int]] = [[] for _ in range(colours)]
    for card in range(random.randrange(2, 7)):
        piles[random.randrange(colours)].append(card)
    left = sum(map(len, piles))
    hands = []
    for _ in range(random.randrange(1, 5)):
        size = random.randrange(0, min(3, left) + 1)
        left -= size
        hands.append(Hand(size, sum(1 << colour for colour in range(colours) if random.random() < 0.3)))
    assert_equally_likely(piles, hands)


def test_hands_dealt_together_are_divided_without_regard_to_colour() -> None:
    piles = [[0], [1, 2], [3, 4, 5]]
    hands = [Hand(1, 0b001), Hand(1, 0b001), Hand(3, 0b010)]
    assert_equally_likely(piles, hands)


def test_what_was_counted_serves_other_numbers_of_cards() -> None:
    hands = [Hand(1, 0b01), Hand(1, 0b10), Hand(1, 0)]
    dealing = ConstrainedDeal(hands, 2)
    for piles in ([[0, 1], [2, 3]], [[0, 1, 2], [3]], [[0], [1, 2, 3]]):
        assert dealing.ways([len(pile) for pile in piles]) == fitting(piles, hands).total() > 0


def test_hands_of_more_cards_than_there_are_fit_in_no_way() -> None:
    assert ConstrainedDeal([Hand(2, 0), Hand(2, 0)], 2).ways([1, 2]) == 0


@pytest.mark.parametrize("draws", [Draws, BulkDraws])
def test_three_voids_a_hand_and_many_cards_are_counted_at_once(draws: type[Draws]) -> None:
    hands = [Hand(10, 0b00111), Hand(10, 0b11100), Hand(10, 0b01010), Hand(10, 0), Hand(1, 0)]
    dealing = ConstrainedDeal(hands, 5)
    assert dealing.ways([14] * 5) > 10**50
    dealt = dealing.deal([range(14 * colour, 14 * colour + 14) for colour in range(5)], draws(Random(1)))
    for hand, (size, void) in zip(dealt, hands, strict=True):
        assert len(set(hand)) == size
        assert not any(void >> card // 14 & 1 for card in hand)


def test_an_imagined_game_has_one_deck_that_is_given_and_others_that_chance_shuffled() -> None:
    decks = Redealt(2, [3, 1], Random(5))
    others = SeededDecks(Random(5).randbytes(32))
    assert decks(2, 4, 2) == [3, 1]
    assert decks(3, 70, 60) == others(3, 70, 60)


def test_an_imagined_games_dice_are_thrown_anew_and_stay_as_they_fell() -> None:
    decks = Redealt(2, [3, 1], Random(5))
    thrown = [decks.roll(which, number, 6) for which in (1, 2) for number in range(50)]
    assert set(thrown) == set(range(6))
    assert thrown == [decks.roll(which, number, 6) for which in (1, 2) for number in range(50)]
    other = Redealt(2, [3, 1], Random(6))
    assert thrown != [other.roll(which, number, 6) for which in (1, 2) for number in range(50)]
