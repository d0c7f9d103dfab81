"""Dealing unseen cards: every way that fits is exactly as likely, found by walking through all that chance can do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from itertools import permutations
from random import Random

import pytest

from engine.constrained_deal import ConstrainedDeal, Hand, Redealt, draw
from engine.deal import SeededDecks

Truth = tuple[frozenset[int], ...]


class EveryChance:
    """Goes through everything that chance can do, one run after the other."""

    def __init__(self) -> None:
        self.choices: list[tuple[int, int]] = []
        """What was drawn in this run, and of how many."""
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
        """Sets out for another run; False after the last."""
        self.drawn = 0
        while self.choices:
            choice, stop = self.choices.pop()
            if choice + 1 < stop:
                self.choices.append((choice + 1, stop))
                return True
        return False


def distribution(run: Callable[[EveryChance], Hashable]) -> dict[Hashable, Fraction]:
    """How likely each result is, exactly."""
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
    """The deals that fit, each as often as an order of the cards deals it."""
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
    """Compares the number of ways and the likelihood of every deal with all that there are."""
    expected = fitting(piles, hands)
    dealing = ConstrainedDeal(hands, len(piles))
    assert dealing.ways([len(pile) for pile in piles]) == expected.total()
    if not expected:
        return

    def deal(chance: EveryChance) -> Hashable:
        dealt = dealing.deal(piles, chance)
        assert [len(hand) for hand in dealt] == [hand.size for hand in hands]
        return tuple(frozenset(hand) for hand in dealt)

    assert distribution(deal) == {truth: Fraction(1, len(expected)) for truth in expected}


def test_drawing_gives_every_choice_in_every_order_equally_often() -> None:
    def pick(chance: EveryChance) -> Hashable:
        cards = [1, 2, 3, 4]
        draw(cards, 2, chance)
        assert sorted(cards) == [1, 2, 3, 4]
        return tuple(cards[:2])

    assert distribution(pick) == {pair: Fraction(1, 12) for pair in permutations([1, 2, 3, 4], 2)}


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


def test_three_voids_a_hand_and_many_cards_are_counted_at_once() -> None:
    hands = [Hand(10, 0b00111), Hand(10, 0b11100), Hand(10, 0b01010), Hand(10, 0), Hand(1, 0)]
    dealing = ConstrainedDeal(hands, 5)
    assert dealing.ways([14] * 5) > 10**50
    dealt = dealing.deal([range(14 * colour, 14 * colour + 14) for colour in range(5)], Random(1))
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
