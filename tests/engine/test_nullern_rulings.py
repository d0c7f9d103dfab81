"""Tests of the rulings N1–N9, named after them. Blue is trump unless a test says otherwise."""

from __future__ import annotations

import pytest

from engine.deal import SeededDecks
from engine.game import OVER
from engine.nullern import NULLERN
from engine.nullern.score import POINTS
from tests.engine.nullern_table import ACTIONS, BLIND_ROUND, CARDS, Table, new, pass_by

DECKS = SeededDecks(bytes(range(32)))
SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1]
EVERY_SIZE = pytest.mark.parametrize("seats", NULLERN.seats)


def taker(table: Table) -> int:
    """Return the seat that won the last trick of a finished round."""
    return table.report().takers[-1]


# N1


def test_N1_four_colours_of_the_values_1_to_20() -> None:
    assert len(NULLERN.cards) == 80
    for colour in range(4):
        assert [card.values for card in NULLERN.cards if card.colour == colour] == [(value,) for value in range(1, 21)]


@EVERY_SIZE
def test_N1_twenty_rounds_from_one_card_to_ten_and_back_and_one_blind(seats: int) -> None:
    state = new(seats, DECKS)
    for number, size in enumerate(SIZES):
        pass_by(state, number)
        dealt = DECKS(number, 80, seats * size + 1)
        for seat in range(seats):
            view = state.view(seat)
            assert (view.round, view.rounds, view.hand_size) == (number, 20, size)
            assert number == BLIND_ROUND or list(view.hand) == sorted(dealt[seat * size : (seat + 1) * size])
    pass_by(state, 20)
    assert state.player == OVER
    assert state.round == 19


# N2


@EVERY_SIZE
def test_N2_the_next_card_is_turned_before_the_bids(seats: int) -> None:
    state = new(seats, DECKS)
    for number, size in enumerate(SIZES):
        pass_by(state, number)
        assert not any(state.bids)
        assert {state.view(seat).turned for seat in range(seats)} == {DECKS(number, 80, seats * size + 1)[-1]}


@pytest.mark.parametrize(("turned", "expected"), [("red 20", 0), ("yellow 20", 1), ("green 20", 2), ("blue 20", 3)])
def test_N2_its_colour_is_trump(turned: str, expected: int) -> None:
    table = Table("red 3", "yellow 2", "green 5", "blue 1", turned=turned).bid(1, 0, 0, 0)
    table.play("yellow 2")
    if turned == "yellow 20":
        assert table.choices() == ["green 5"], "who holds no trump need not follow"
    assert taker(table.play("green 5", "blue 1", "red 3")) == expected


# N3


@EVERY_SIZE
def test_N3_bids_in_turn_from_the_left_of_a_dealer_who_moves_left(seats: int) -> None:
    state = new(seats, DECKS)
    for number, size in enumerate(SIZES):
        pass_by(state, number)
        assert state.view(0).dealer == number % seats
        for place in range(seats):
            seat = (number + 1 + place) % seats
            assert state.waiting() == (seat,)
            assert state.player == seat
            assert [NULLERN.actions[action].name for action in state.legal(seat)] == [
                f"bid {bid}" for bid in range(size + 1)
            ]
            state.apply(state.fallback(seat), seat)


def test_N3_bids_are_open_at_once_and_not_restricted_by_others() -> None:
    table = Table("red 1, red 2", "red 3, red 4", "red 5, red 6")
    seen = []
    for bid in (2, 2, 2):
        table.bid(bid)
        seen.append([list(table.state.view(seat).bids) for seat in range(3)])
    assert seen == [[[0, 0, 3]] * 3, [[3, 0, 3]] * 3, [[3, 3, 3]] * 3]


# N4


@pytest.mark.parametrize(
    ("bids", "leader"),
    [((0, 0, 0, 0), 2), ((0, 1, 0, 0), 3), ((1, 2, 2, 1), 3), ((1, 1, 0, 2), 1), ((0, 0, 1, 1), 0), ((2, 2, 2, 2), 2)],
)
def test_N4_the_first_to_name_the_highest_bid_leads(bids: tuple[int, ...], leader: int) -> None:
    table = Table("red 1, red 2", "red 3, red 4", "red 5, red 6", "red 7, red 8")
    assert table.state.view(0).leaders == b""
    table.bid(*bids[:3])
    assert table.state.view(0).leaders == b""
    table.bid(bids[3])
    assert table.state.player == leader
    assert list(table.state.view(0).leaders) == [leader]


def test_N4_the_taker_leads_the_next_trick() -> None:
    table = Table("red 1, red 9", "red 3, red 8", "red 5, red 6").bid(0, 0, 0)
    table.play("red 5", "red 9", "red 3")
    assert table.state.player == 0
    table.play("red 1", "red 8", "red 6")
    assert list(table.report().leaders) == [2, 0]
    assert list(table.report().takers) == [0, 1]


# N5


def test_N5_nobody_need_follow_a_colour_that_is_not_trump() -> None:
    table = Table("red 1, green 1", "red 3, blue 4", "red 5, red 6").bid(0, 0, 0)
    table.play("red 5")
    assert table.choices() == ["red 1", "green 1"]
    table.play("green 1")
    assert table.choices() == ["red 3", "blue 4"]


def test_N5_a_trump_played_later_binds_nobody() -> None:
    table = Table("red 1, blue 1", "red 3, blue 4", "red 5, red 6").bid(0, 0, 0)
    table.play("red 5", "blue 1")
    assert table.choices() == ["red 3", "blue 4"]


def test_N5_after_a_lead_in_trump_trumps_must_be_played() -> None:
    table = Table("red 1, green 2, green 3", "red 3, green 4, green 6", "red 5, yellow 6, yellow 7", turned="green 20")
    assert table.state.player == 0
    table.bid(3, 0, 0)
    assert table.choices() == ["red 1", "green 2", "green 3"], "a leader may play anything"
    table.play("green 2")
    assert table.choices() == ["green 4", "green 6"]
    table.play("green 4")
    assert table.choices() == ["red 5", "yellow 6", "yellow 7"], "who holds none may play anything"


def test_N5_the_duty_ends_with_the_trick() -> None:
    table = Table("red 1, blue 9", "red 3, blue 4", "red 5, blue 6").bid(0, 2, 0)
    table.play("blue 9", "blue 4", "blue 6", "red 1")
    assert table.choices() == ["red 3"]
    table = Table("red 1, blue 2, blue 3", "red 9, red 8, blue 4", "red 5, blue 6, blue 7").bid(3, 0, 0)
    table.play("blue 2", "blue 4", "blue 6", "red 5")
    assert table.choices() == ["red 1", "blue 3"]


# N6


@pytest.mark.parametrize(
    ("plays", "winner"),
    [
        (("yellow 3", "green 11", "yellow 5", "blue 2"), 3),
        (("yellow 3", "green 11", "yellow 5", "red 2"), 1),
        (("yellow 3", "blue 11", "yellow 5", "blue 2"), 1),
        (("yellow 3", "green 2", "yellow 1", "red 3"), 0),
        (("yellow 3", "green 7", "yellow 7", "red 7"), 1),
        (("blue 1", "green 20", "yellow 20", "red 20"), 0),
        (("blue 1", "green 20", "blue 2", "red 20"), 2),
        (("yellow 20", "green 20", "red 20", "blue 1"), 3),
        (("yellow 1", "green 1", "red 1", "yellow 2"), 3),
    ],
)
def test_N6_highest_trump_else_highest_value_else_first(plays: tuple[str, ...], winner: int) -> None:
    order = [1, 2, 3, 0]
    hands = dict(zip(order, plays, strict=True))
    table = Table(*(hands[seat] for seat in range(4))).bid(0, 0, 0, 0).play(*plays)
    assert taker(table) == order[winner]


# N7


def test_N7_points_of_every_bid_and_number_of_tricks() -> None:
    for bid in range(11):
        for tricks in range(11):
            expected = tricks if bid != tricks else 20 if bid == 0 else 10 + tricks
            assert POINTS[bid][tricks] == expected


def test_N7_a_missed_bid_brings_its_tricks_and_a_hupfer() -> None:
    table = Table("red 1, red 2", "red 3, red 4", "red 5, red 9", "red 7, red 8")
    before, had = table.state.scores, table.state.hupfers
    table.bid(2, 0, 0, 2).play("red 9", "red 7", "red 1", "red 3", "red 5", "red 8", "red 2", "red 4")
    report = table.report()
    assert list(report.bids) == [0, 2, 2, 0]
    assert list(report.taken) == [0, 0, 1, 1]
    assert report.points == (20, 0, 1, 1)
    assert list(report.missed) == [0, 1, 1, 1]
    assert [now - then for now, then in zip(report.hupfers, had, strict=True)] == [0, 1, 1, 1]
    assert report.scores == tuple(now + won for now, won in zip(before, report.points, strict=True))
    assert table.state.view(0).hupfers == table.state.hupfers == report.hupfers


@EVERY_SIZE
def test_N7_every_hupfer_costs_five_points_at_the_end_and_not_before(seats: int) -> None:
    state = new(seats, DECKS)
    points, hupfers = [0] * seats, [0] * seats
    for number in range(20):
        pass_by(state, number)
        assert list(state.scores) == points
        assert state.view(0).scores == tuple(points)
        pass_by(state, number + 1)
        report = state.report
        assert report is not None
        points = [had + won for had, won in zip(points, report.points, strict=True)]
        hupfers = [had + missed for had, missed in zip(hupfers, report.missed, strict=True)]
    assert any(hupfers)
    result = tuple(had - 5 * count for had, count in zip(points, hupfers, strict=True))
    assert state.report is not None
    assert state.scores == state.report.scores == state.view(0).scores == result
    assert list(state.view(0).hupfers) == hupfers


# N8


def test_N8_the_bid_is_0_or_1_and_playing_is_no_choice() -> None:
    table = Table("red 1", "red 12", "red 7", number=BLIND_ROUND)
    assert table.state.view(0).dealer == 1
    for bid in (0, 1, 1):
        assert table.choices() == ["bid 0", "bid 1"]
        assert [list(table.state.view(seat).hand) for seat in range(3)] == [[], [], []]
        table.bid(bid)
    for seat, card in ((0, "red 1"), (1, "red 12"), (2, "red 7")):
        assert table.state.player == seat
        assert table.choices() == ["play the blind card"]
        assert table.state.fallback(seat) == ACTIONS["play the blind card"]
        assert [list(table.state.view(watcher).hand) for watcher in range(3)] == [[], [], []]
        shown = len(table.state.view(seat).plays)
        table.play("play the blind card")
        assert all(table.state.view(watcher).plays[shown] == CARDS[card] for watcher in range(3))
    assert taker(table) == 1
    assert table.state.player == OVER
    assert list(table.report().plays) == [CARDS["red 1"], CARDS["red 12"], CARDS["red 7"]]


def test_N8_trump_takes_the_blind_trick_too() -> None:
    table = Table("red 12", "blue 1", "green 20", number=BLIND_ROUND).bid(0, 0, 0)
    assert taker(table.play(*["play the blind card"] * 3)) == 1


def test_N8_the_round_before_with_one_card_is_not_blind() -> None:
    table = Table("red 12", "blue 1", "green 20", number=18)
    assert [list(table.state.view(seat).hand) for seat in range(3)] == [
        [CARDS["red 12"]],
        [CARDS["blue 1"]],
        [CARDS["green 20"]],
    ]
    table.bid(0, 0, 0)
    assert table.choices() == ["blue 1"]


# N9


@pytest.mark.parametrize(
    ("scores", "expected"),
    [((5, 9, 5, 7), (3, 1, 3, 2)), ((-3, -3, -3, -3), (1, 1, 1, 1)), ((0, 300, 300, -5), (3, 1, 1, 4))],
)
def test_N9_most_points_first_and_equal_points_share_a_place(
    scores: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    state = new(4, DECKS)
    state.scores = scores
    assert state.ranking() == expected


def test_N9_the_result_counts_the_hupfers() -> None:
    state = pass_by(new(4, DECKS), 20)
    best_first = sorted(state.scores, reverse=True)
    assert state.ranking() == tuple(best_first.index(score) + 1 for score in state.scores)
