"""Sampled games of 6th Sense: exactly the games that a seat's view allows, each equally often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations, permutations
from math import comb, sqrt
from random import Random
from typing import cast

import pytest

from engine.constrained_deal import Redealt
from engine.deal import SeededDecks
from engine.game import OVER, Option, SeatView, ViewError
from engine.nullern import NULLERN
from engine.sixth_sense import SIXTH_SENSE, SixthSenseView
from engine.sixth_sense.cards import PREDICT
from engine.sixth_sense.sample import read
from engine.sixth_sense.state import SixthSenseState
from engine.sixth_sense.tricks import cards_of
from tests.engine.sixth_sense_table import Table
from tests.oracles.sixth_sense import PlainCard, PlainGame, Trick, card_named

PLAIN = [card_named(card.name) for card in SIXTH_SENSE.cards]
NAMES = [action.name for action in SIXTH_SENSE.actions]
OPTIONS: list[dict[str, Option]] = [{}, {"novice": True}, {"late_trump": True}, {"target": 20}]
Truth = tuple[tuple[PlainCard, ...], ...]
"""The 0s of the hidden blocks in the order of play, then the other seats' hands."""


class Play:
    """A random game with many blocks and peeks, in the fast engine and in the reference implementation."""

    def __init__(self, seats: int, random: Random, **options: Option) -> None:
        self.random = random
        decks = SeededDecks(random.randbytes(32))
        size = 14 * (4 if seats == 2 else 5)
        state = SIXTH_SENSE.new(seats, decks, **options)
        assert isinstance(state, SixthSenseState)
        self.state = state
        deals = [[PLAIN[card] for card in decks(number, size, size)] for number in range(60)]
        self.plain = PlainGame(
            seats,
            deals,
            novice=bool(options.get("novice")),
            target=int(options.get("target", 0)),
            late_trump=bool(options.get("late_trump")),
        )

    def step(self) -> None:
        seat = self.random.choice(self.state.waiting())
        legal = self.state.legal(seat)
        rare = [action for action in legal if "blocks" in NAMES[action] or NAMES[action] == "peek"]
        action = self.random.choice(rare if rare and self.random.random() < 0.8 else legal)
        self.state.apply(action, seat)
        self.plain.act(seat, NAMES[action])


def sampled(view: SeatView, random: Random) -> SixthSenseState:
    state = SIXTH_SENSE.sample(view, random)
    assert isinstance(state, SixthSenseState)
    assert state.report is None
    return state


def seen_cards(view: SixthSenseView) -> set[PlainCard]:
    """Return the cards that the seat has seen in this round."""
    played = {SIXTH_SENSE.actions[action].card for action in view.plays} - {None}
    known = {card - 1 for card in view.known_predictions if card}
    turned = set() if view.turned is None else {view.turned}
    return {PLAIN[card] for card in {*played, *known, *turned, *view.hand} if card is not None}


def truths(view: SixthSenseView, plain: PlainGame) -> Iterator[Truth]:
    """Return all hidden states that fit the view, except for predictions. The reference implementation decides card by
    card which plays were legal.

    `plain` is the real game. Only the number of hidden cards is read from it.
    """
    colours = {card[0] for card in PLAIN[: 14 * (4 if view.seats == 2 else 5)]}
    unseen = sorted(card for card in {*PLAIN} - seen_cards(view) if card[0] in colours)
    others = [seat for seat in range(view.seats) if seat != view.seat]
    course = [(trick, place, play) for trick in plain.tricks for place, play in enumerate(trick.plays)]
    hidden = [play for _, _, play in course if play.blocks is not None and play.seat != view.seat]
    probe = PlainGame(view.seats, [PLAIN])
    probe.predictions = [("none", 0)] * view.seats

    @cache
    def fits(seat: int, hand: tuple[PlainCard, ...], zeros: tuple[PlainCard, ...]) -> bool:
        """Return True if all plays of the seat were legal with this hand and these 0s as blocks."""
        held, blocked_with = list(hand), list(zeros)
        for trick, place, play in reversed(course):
            if play.seat == seat:
                card = blocked_with.pop() if play.blocks is not None else play.card
                held.append(card)
                probe.hands[seat] = held
                probe.tricks = [Trick(trick.leader, trick.plays[:place])]
                name = play.name(None) if play.blocks is None else f"{card[0]} 0 blocks place {play.blocks + 1}"
                if name not in probe.legal(seat):
                    return False
        return True

    def hands(seats: list[int], left: list[PlainCard], zeros: tuple[PlainCard, ...]) -> Iterator[Truth]:
        if not seats:
            yield ()
            return
        own = tuple(zero for zero, play in zip(zeros, hidden, strict=True) if play.seat == seats[0])
        for hand in combinations(left, len(plain.hands[seats[0]])):
            if fits(seats[0], hand, own):
                for rest in hands(seats[1:], [card for card in left if card not in hand], zeros):
                    yield (hand, *rest)

    for zeros in permutations([card for card in unseen if card[1] == 0], len(hidden)):
        for dealt in hands(others, [card for card in unseen if card not in zeros], zeros):
            yield (zeros, *dealt)


def truth_of(state: SixthSenseState, view: SixthSenseView) -> Truth:
    """Return a sampled state in the form that `truths` uses."""
    hidden = [action for action, shown in zip(state.plays, view.plays, strict=True) if action != shown]
    zeros = tuple((NAMES[action].split(" ")[0], 0) for action in hidden)
    hands = [cards_of(hand) for seat, hand in enumerate(state.hands) if seat != view.seat]
    return (zeros, *(tuple(sorted(PLAIN[card] for card in hand)) for hand in hands))


def assert_likely(found: Counter[object], expected: dict[object, float]) -> None:
    """Check that the samples contain all possible hidden states and no others, with frequencies that chance
    explains.
    """
    assert found.keys() == expected.keys()
    chi_square = sum((found[each] - count) ** 2 / count for each, count in expected.items())
    freedom = len(expected) - 1
    assert abs(chi_square - freedom) < 5 * sqrt(2 * freedom) + 5


def assert_uniform(view: SixthSenseView, fitting: list[Truth], random: Random) -> None:
    """Sample many hidden states. Compare hands, hidden 0s and predictions with all possible ones."""
    draws = max(14 * len(fitting), 1500)
    for states in ([sampled(view, random) for _ in range(draws)], SIXTH_SENSE.sample_many(view, random, draws)):
        assert_uniformly_sampled(view, fitting, cast("list[SixthSenseState]", states))


def assert_uniformly_sampled(view: SixthSenseView, fitting: list[Truth], states: list[SixthSenseState]) -> None:
    draws = len(states)
    assert_likely(Counter(truth_of(state, view) for state in states), dict.fromkeys(fitting, draws / len(fitting)))
    unseen = {*PLAIN[: 14 * (4 if view.seats == 2 else 5)]} - seen_cards(view)
    for seat, known in enumerate(view.known_predictions):
        if not known:
            likely: Counter[object] = Counter()
            for truth in fitting:
                left = unseen - {card for cards in truth for card in cards}
                for card in left:
                    likely[card] += draws / len(fitting) / len(left)  # type: ignore[assignment] # a share
            assert_likely(Counter(PLAIN[state.predictions[seat]] for state in states), {**likely})


def last_positions(seats: int, random: Random, **options: Option) -> Iterator[tuple[SixthSenseView, list[Truth]]]:
    """Yield views near the end of a first round, with few possible hidden states and with some information about other
    seats.
    """
    while True:
        play = Play(seats, random, **options)
        while not play.plain.over and play.plain.round == 0:
            view = play.state.view(play.state.player)
            assert isinstance(view, SixthSenseView)
            unseen = 14 * (4 if seats == 2 else 5) - len(seen_cards(view))
            sizes = [len(hand) for seat, hand in enumerate(play.plain.hands) if seat != view.seat]
            blocks = sum("a 0" in NAMES[action] for action in view.plays)
            free = comb(5, blocks)
            for size in sizes:
                free *= comb(unseen, size)
            if view.leaders and sum(sizes) <= 2 and free < 3000 and (random.random() < 0.5):
                fitting = list(truths(view, play.plain))
                if 1 < len(fitting) <= 300:
                    yield view, fitting
            play.step()


@pytest.mark.unmeasured
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("seats", SIXTH_SENSE.seats)
def test_every_truth_is_equally_likely(seats: int, options: dict[str, Option]) -> None:
    random = Random(f"{seats} {options}")
    hidden: set[int] = set()
    for view, fitting in last_positions(seats, random, **options):
        blocks = sum("a 0" in NAMES[action] for action in view.plays)
        if blocks not in hidden:
            assert_uniform(view, fitting, random)
            hidden.add(blocks)
        if len(hidden) == 2:
            break
    assert max(hidden) > 0


def test_S5_who_did_not_follow_holds_none_of_the_colour_but_may_have_predicted_with_one() -> None:
    table = Table(
        {0: "red 1, red 2", 1: "red 3, green 2", 2: "green 3, red 5", 3: "green 4, red 7"}, fill={1: "green, purple"}
    ).predict()
    assert table.state.player == 1
    table.play("green 2", "red 5")
    view = table.state.view(3)
    states = [sampled(view, Random(seed)) for seed in range(300)]
    held = {PLAIN[card][0] for state in states for card in cards_of(state.hands[2])}
    assert held == {"red", "yellow", "blue", "purple"}
    assert any(PLAIN[state.predictions[2]][0] == "green" for state in states)
    assert any(PLAIN[card][0] == "green" for state in states for card in cards_of(state.hands[0]))


def test_S7_a_block_that_did_not_follow_shows_that_its_owner_could_not() -> None:
    table = Table(
        {0: "red 1", 1: "red 3, green 2", 2: "green 3, red 0", 3: "green 4, green 5"}, fill={2: "red, yellow"}
    ).predict()
    table.play("green 2", "red 0 blocks place 1")
    view = table.state.view(3)
    colours = set()
    for seed in range(400):
        state = sampled(view, Random(seed))
        zero = NAMES[state.plays[1]].split(" ")[0]
        colours.add(zero)
        held = {PLAIN[card][0] for card in cards_of(state.hands[2])}
        assert zero == "green" or "green" not in held
    assert "green" in colours
    assert len(colours) > 1


def test_S12_a_prediction_that_was_seen_is_fixed_and_others_are_not() -> None:
    random = Random(12)
    for _ in range(200):
        play = Play(4, random)
        while play.state.round == 0:
            seat = play.state.player
            view = play.state.view(seat)
            if view.leaders and sum(card > 0 for card in view.known_predictions) > 1:
                states = [sampled(view, random) for _ in range(40)]
                for other, known in enumerate(view.known_predictions):
                    predicted = {state.predictions[other] for state in states}
                    assert predicted == {known - 1} if known else len(predicted) > 1
                return
            play.step()
    raise AssertionError("nobody peeked")


def test_S4_choices_of_others_made_at_once_are_still_to_be_made() -> None:
    state = SIXTH_SENSE.new(3, SeededDecks(bytes(32)))
    assert isinstance(state, SixthSenseState)
    assert sampled(state.view(1), Random(1)).waiting() == (0, 1, 2)
    state.apply(state.legal(1)[0], 1)
    state.apply(state.legal(2)[0], 2)
    other = sampled(state.view(1), Random(1))
    assert other.waiting() == (0, 2)
    assert other.view(1) == state.view(1)


def test_S16_a_late_trump_is_any_card_not_seen() -> None:
    view = SIXTH_SENSE.new(3, SeededDecks(bytes(32)), late_trump=True).view(0)
    assert isinstance(view, SixthSenseView)
    turned = set()
    for seed in range(300):
        other = sampled(view, Random(seed))
        while other.turned is None:
            other.apply(other.fallback(other.player), other.player)
        turned.add(other.turned)
    assert len(turned) > 45
    assert not turned & {*view.hand}


def asked_twice() -> Table:
    """Seat 1 led an 8, and seat 2 won the trick with a 12. Seat 2 may now double, then seat 1 may peek."""
    table = Table({1: "red 3, green 8", 2: "red 4, green 12", 3: "red 5, green 1", 0: "red 1, green 2"}).predict()
    return table.play("green 8", "green 12", "green 1", "green 2")


def test_S13_a_seat_is_taken_to_be_asked_where_it_can_be() -> None:
    table = asked_twice()
    taker, watcher = table.state.view(2), table.state.view(0)
    assert sampled(taker, Random(1)).player == 2
    assert sampled(watcher, Random(1)).player == 2
    table.play("keep as one")
    assert table.state.view(2) == taker, "only the leader, who is asked now, can tell"
    assert sampled(table.state.view(1), Random(1)).player == 1
    split = asked_twice().play("split")
    for seat in range(4):
        state = sampled(split.state.view(seat), Random(1))
        assert state.player == 1
        assert state.view(seat) == split.state.view(seat)
    for answer in ("peek", "do not peek"):
        after = asked_twice().play("keep as one", answer)
        for seat in range(4):
            assert sampled(after.state.view(seat), Random(1)).view(seat) == after.state.view(seat)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("seats", SIXTH_SENSE.seats)
@pytest.mark.thorough
def test_worlds_that_are_copies_are_what_their_deals_and_choices_make(seats: int, options: dict[str, Option]) -> None:
    """Replay each sample from the first card, with its own blocks in place of hidden ones."""
    random = Random(f"{seats} {options}")
    play = Play(seats, random, **options)
    state = play.state
    copied = hidden = 0
    while state.player != OVER and state.round < 2:
        view = state.view(state.player)
        if random.random() < 0.3:
            reading = read(view)
            for world in SIXTH_SENSE.sample_many(view, random, 3):
                assert isinstance(world, SixthSenseState)
                choices = [*reading.choices]
                for block in reading.blocks:
                    choices[block.index] = block.seat, world.plays[block.at]
                    hidden += world.plays[block.at] != view.plays[block.at]
                foretold = [(seat, PREDICT + card) for seat, card in enumerate(world.predictions) if card >= 0]
                hands = [[*cards_of(hand)] for hand in world.hands]
                for seat, action in [*foretold, *choices]:
                    card = SIXTH_SENSE.actions[action].card
                    if card is not None:
                        hands[seat].append(card)
                deck = [*(card for hand in hands for card in hand), world._deck[-1]]
                decks = Redealt(view.round, deck, random)
                again = SixthSenseState(world.setting._replace(decks=decks), view.round, view.scores)
                for seat, action in [*foretold, *choices]:
                    again.apply(action, seat)
                for seat in range(seats):
                    assert again.view(seat) == world.view(seat)
                    assert again.vector(seat) == world.vector(seat)
                while again.report is None:
                    assert again.waiting() == world.waiting()
                    assert again.legal(again.player) == world.legal(again.player)
                    action, owing = random.choice(again.legal(again.player)), again.player
                    again.apply(action, owing)
                    world.apply(action, owing)
                assert again.report == world.report
                copied += 1
        play.step()
    assert copied > 20
    assert hidden


def test_later_rounds_are_dealt_by_chance() -> None:
    view = SIXTH_SENSE.new(4, SeededDecks(bytes(32))).view(0)
    seconds = set()
    for seed in (1, 2, 3, 3):
        state = sampled(view, Random(seed))
        while state.round == 0:
            state.apply(state.fallback(state.player), state.player)
        seconds.add(tuple(state.hands))
    assert len(seconds) == 3


def test_views_that_no_game_in_progress_has_shown_are_refused() -> None:
    state = SIXTH_SENSE.new(2, SeededDecks(bytes(32)), target=1)
    view = state.view(0)
    assert isinstance(view, SixthSenseView)
    with pytest.raises(ViewError, match="a NullernView is no view of 6th Sense"):
        SIXTH_SENSE.sample(NULLERN.new(3, SeededDecks(bytes(32))).view(0), Random(1))
    with pytest.raises(ViewError, match="no deal fits"):
        SIXTH_SENSE.sample(view._replace(hand_size=60), Random(1))
    with pytest.raises(ViewError, match="the game is over"):
        SIXTH_SENSE.sample(view._replace(scores=(0, 1)), Random(1))


def test_a_view_from_after_the_end_is_refused_unless_it_looks_as_if_a_last_question_were_due() -> None:
    over = 0
    for seed in range(6):
        state = SIXTH_SENSE.new(2, SeededDecks(bytes([seed] * 32)))
        while state.player != OVER:
            state.apply(state.fallback(state.player), state.player)
        view = state.view(0)
        assert isinstance(view, SixthSenseView)
        if any(SIXTH_SENSE.actions[action].value in (8, 12) for action in view.plays[-2:]):
            assert SIXTH_SENSE.sample(view, Random(1)).view(0) == view
        else:
            over += 1
            with pytest.raises(ViewError, match="the game is over"):
                SIXTH_SENSE.sample(view, Random(1))
    assert over
