"""Lines of play from small deals: the engine, the reference implementations and the files have equal counts."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial, prod
from typing import Any

import pytest

from engine.game import OVER, Game
from engine.nullern import NULLERN
from engine.registry import GAMES
from engine.sixth_sense import SIXTH_SENSE
from tests.conformance.perft.cases import Case, path_of, read, write
from tests.conformance.perft.counts import End, Fingerprint, fingerprint
from tests.conformance.perft.tables import RULES, count, count_plainly
from tests.conformance.pieces import need
from tests.engine.decks import UNSHUFFLED

FILES = {name: read(path_of(name).read_text()) for name in RULES if path_of(name).is_file()}
PIECES = ("its fingerprint", "its deals for the fingerprint")
EVERY_GAME = pytest.mark.parametrize("game", [*GAMES.values()], ids=lambda game: game.name)
EVERY_CASE = pytest.mark.parametrize(
    ("name", "case"),
    [
        pytest.param(name, case, id=f"{name}: {case.name}", marks=[pytest.mark.long] * case.long)
        for name, (_, cases) in FILES.items()
        for case in cases
    ],
)


@EVERY_GAME
def test_a_game_has_a_fingerprint_and_a_second_engine_to_check_it_with(game: Game) -> None:
    need(game, *PIECES)
    assert game.name in RULES
    assert game.name in FILES


@EVERY_GAME
def test_a_fingerprint_has_every_number_of_seats_and_every_option(game: Game) -> None:
    need(game, *PIECES)
    _, cases = FILES[game.name]
    tried = [case for case in cases if not case.long]
    assert {case.seats for case in tried if case.ends} == set(game.seats)
    assert {name for case in tried for name in case.options} == {spec.name for spec in game.options}
    assert {case.seats for case in tried if any(over for _, over in case.ends)} == set(game.seats), "the last round"


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_as_its_writer_writes_it(name: str) -> None:
    head, cases = FILES[name]
    counts = {case.name: case.counted for case in cases}
    assert len(counts) == len(cases), "two cases have one name"
    assert write(head, cases, counts) == path_of(name).read_text()


def test_a_line_that_means_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="case 'one': no line begins with 'seat'"):
        read("# head\n\n= one\nseat 3\n")


@EVERY_CASE
def test_the_engine_counts_what_is_written_down(name: str, case: Case) -> None:
    assert count(RULES[name].game, case) == case.counted


@EVERY_CASE
def test_the_naive_game_counts_what_is_written_down(name: str, case: Case) -> None:
    assert count_plainly(RULES[name], case) == case.counted


# --- the way of counting ---


def test_counting_leaves_the_state_alone_and_ends_with_the_round() -> None:
    state: Any = NULLERN.new(2, UNSHUFFLED)
    before = [state.view(seat) for seat in range(2)]
    counted = fingerprint(state)
    assert counted.lines == (2, 4, 4, 4)
    assert sum(counted.ends.values()) == 4
    assert not any(over for _, over in counted.ends)
    assert [state.view(seat) for seat in range(2)] == before


def test_counting_goes_no_deeper_than_asked() -> None:
    state = SIXTH_SENSE.new(2, UNSHUFFLED)
    assert fingerprint(state, 0) == Fingerprint((), {})
    assert fingerprint(state, 2) == Fingerprint((15, 225), {})


def test_a_game_that_is_over_is_its_own_end() -> None:
    state: Any = NULLERN.new(2, UNSHUFFLED)
    while state.player != OVER:
        state.apply(state.fallback(state.player), state.player)
    assert fingerprint(state) == Fingerprint((), {End(tuple(state.scores), over=True): 1})


# --- counts that a formula gives ---


def plays(seats: int, hand: int) -> list[int]:
    """Return the number of lines after each play if every seat may always play any card."""
    done = [(trick, seat) for trick in range(hand) for seat in range(seats)]
    return [prod(hand - trick for trick, _ in done[: choice + 1]) for choice in range(len(done))]


def deal(hands: Sequence[Sequence[str]], turned: str, **more: Any) -> Case:
    return Case("by formula", seats=len(hands), hands=[list(hand) for hand in hands], turned=turned, **more)


def both(name: str, case: Case) -> Fingerprint:
    """Return the counts of two implementations, which must agree."""
    counted = count(RULES[name].game, case)
    assert count_plainly(RULES[name], case) == counted
    return counted


VALUES = [1, 2, 3, 5, 7, 10]
"""Values of 6th Sense cards that have no effect."""


@pytest.mark.parametrize(("seats", "hand"), [(2, 2), (3, 2), (4, 2), (5, 2), (6, 2), (2, 3), (3, 3)])
def test_6th_sense_without_anything_to_follow_is_factorials(seats: int, hand: int) -> None:
    """hand^seats predictions, then (hand−1)! orders of play for each seat: a seat whose cards have one colour may play
    any card.
    """
    hands = [
        [f"{SIXTH_SENSE.colours[seat % 5]} {value}" for value in VALUES[seat // 5 * 3 :][:hand]]
        for seat in range(seats)
    ]
    counted = both("sixth_sense", deal(hands, "red 14"))
    predictions = [hand**seat for seat in range(1, seats + 1)]
    assert list(counted.lines) == predictions + [hand**seats * lines for lines in plays(seats, hand - 1)]
    assert sum(counted.ends.values()) == hand**seats * factorial(hand - 1) ** seats


def test_6th_sense_within_one_colour_is_factorials_too() -> None:
    """Every card follows the lead."""
    hands = [["red 1", "red 2", "red 3"], ["red 5", "red 7", "red 10"], ["red 11", "red 13", "red 14"]]
    assert both("sixth_sense", deal(hands, "blue 1")).lines[-1] == 3**3 * factorial(2) ** 3


@pytest.mark.parametrize("seats", SIXTH_SENSE.seats)
def test_6th_sense_with_a_card_of_the_led_colour_each_is_decided_by_the_lead(seats: int) -> None:
    """The leader has a choice of two cards. Each other seat has one card of the led colour and must play it."""
    hands = [[f"red {value}", f"yellow {value}", f"green {value}"] for value in VALUES[:seats]]
    counted = both("sixth_sense", deal(hands, "blue 14", opening=[f"predict {hand[2]}" for hand in hands]))
    assert set(counted.lines) == {2}


@pytest.mark.parametrize("seats", SIXTH_SENSE.seats)
def test_6th_sense_plays_a_6_9_in_two_ways_and_a_0_as_itself_or_on_any_card(seats: int) -> None:
    """Seat 1 leads with its 6/9, as do all others. Seat 0 plays last, with a 0 and `seats` − 1 cards that the 0 can
    block.
    """
    hands = [["red 0", "red 1"], *([f"{colour} 6/9", f"{colour} 5"] for colour in SIXTH_SENSE.colours[: seats - 1])]
    counted = both("sixth_sense", deal(hands, "green 1", opening=[f"predict {hand[1]}" for hand in hands]))
    assert counted.lines[-1] == 2 ** (seats - 1) * seats


def test_6th_sense_with_the_trump_turned_late_has_the_same_lines() -> None:
    """The trump stays unknown until all have predicted, but no choice depends on it."""
    cases = {case.name: case for case in FILES["sixth_sense"][1]}
    at_once, late = cases["four seats, any prediction"], cases["four seats, the trump turned late"]
    assert (at_once.hands, at_once.turned, late.options) == (late.hands, late.turned, {"late_trump": True})
    assert at_once.counted == late.counted


@pytest.mark.parametrize(("seats", "hand"), [*((seats, 1) for seats in NULLERN.seats), (2, 2), (3, 2), (4, 2), (2, 3)])
def test_nullern_without_a_trump_is_factorials(seats: int, hand: int) -> None:
    """(hand+1)^seats bids, then hand! orders of play for each seat."""
    cards = [f"{colour} {value}" for value in range(1, 21) for colour in ("red", "yellow", "green")]
    hands = [cards[seat * hand : (seat + 1) * hand] for seat in range(seats)]
    counted = both("nullern", deal(hands, "blue 1", round=hand - 1))
    bids = [(hand + 1) ** seat for seat in range(1, seats + 1)]
    assert list(counted.lines) == bids + [(hand + 1) ** seats * lines for lines in plays(seats, hand)]
    assert sum(counted.ends.values()) == (hand + 1) ** seats * factorial(hand) ** seats


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_nullern_with_a_trump_each_leaves_a_choice_only_where_none_was_led(seats: int) -> None:
    """Each seat has two cards, one of them a trump. If a trump is led, all others must play their trumps. Otherwise
    each seat has two choices. The rest is forced.
    """
    hands = [[f"blue {seat + 1}", f"red {seat + 1}"] for seat in range(seats)]
    counted = both("nullern", deal(hands, "blue 20", round=1))
    assert counted.lines[-1] == 3**seats * (1 + 2 ** (seats - 1))


@pytest.mark.parametrize("seats", NULLERN.seats)
def test_nullern_blind_is_two_bids_a_seat(seats: int) -> None:
    hands = [[f"{colour} {seat + 1}"] for seat, colour in zip(range(seats), ["red", "blue"] * 4, strict=False)]
    counted = both("nullern", deal(hands, "blue 20", round=19))
    assert list(counted.lines) == [*(2**seat for seat in range(1, seats + 1)), *[2**seats] * seats]
    assert all(over for _, over in counted.ends)
