"""Tests of the rulings S1–S17, named after them. Blue is trump and seat 1 leads unless a test says otherwise."""

from __future__ import annotations

from itertools import permutations

import pytest

from engine.deal import SeededDecks
from engine.game import OVER, Option, State, places
from engine.sixth_sense import SIXTH_SENSE, SixthSenseRound, SixthSenseView
from engine.sixth_sense.cards import PREDICT
from engine.sixth_sense.score import POINTS
from engine.sixth_sense.state import SixthSenseState
from tests.engine.sixth_sense_table import CARDS, HAND_SIZE, Table

DECKS = SeededDecks(bytes(range(32)))


def new(seats: int, **options: Option) -> SixthSenseState:
    state = SIXTH_SENSE.new(seats, DECKS, **options)
    assert isinstance(state, SixthSenseState)
    return state


def finish(state: SixthSenseState) -> SixthSenseRound:
    """Play the first legal actions to the end of the round."""
    number = state.round
    while state.player != OVER and state.round == number:
        state.apply(state.legal(state.player)[0], state.player)
    assert state.report is not None
    return state.report


def taker(table: Table) -> int:
    return table.state.view(0).takers[-1]


# S1


def test_S1_five_colours_of_fourteen_cards_with_one_six_for_six_and_nine() -> None:
    assert len(SIXTH_SENSE.cards) == 70
    for colour in range(5):
        values = [card.values for card in SIXTH_SENSE.cards if card.colour == colour]
        assert values == [(0,), (1,), (2,), (3,), (4,), (5,), (6, 9), (7,), (8,), (10,), (11,), (12,), (13,), (14,)]


def test_S1_two_seats_play_without_the_last_colour() -> None:
    state = new(2)
    seen = {card for number in range(60) for card in DECKS(number, 56, 31)}
    assert max(seen) == 55
    assert {SIXTH_SENSE.cards[card].colour for seat in (0, 1) for card in state.view(seat).hand} <= {0, 1, 2, 3}
    asked = Table({}, seats=2).asked
    assert asked == [(0, 56, 31)]


# S2


@pytest.mark.parametrize(("seats", "size"), [*HAND_SIZE.items()])
def test_S2_hand_sizes_and_the_card_turned_over(seats: int, size: int) -> None:
    state = new(seats)
    deck = DECKS(0, 56 if seats == 2 else 70, seats * size + 1)
    for seat in range(seats):
        view = state.view(seat)
        assert list(view.hand) == sorted(deck[seat * size : (seat + 1) * size])
        assert view.hand_size == size
        assert view.turned == deck[-1]


# S3


@pytest.mark.parametrize(("seats", "rounds"), [(6, 6), (5, 5), (4, 4), (3, 6), (2, 6)])
def test_S3_every_seat_deals_equally_often_and_the_next_leads(seats: int, rounds: int) -> None:
    state = new(seats)
    dealers = []
    while state.player != OVER:
        view = state.view(0)
        dealers.append(view.dealer)
        assert view.rounds == rounds
        assert finish(state).leaders[0] == (dealers[-1] + 1) % seats
    assert dealers == [number % seats for number in range(rounds)]
    assert all(dealers.count(seat) == rounds // seats for seat in range(seats))


# S4


def test_S4_any_card_of_the_hand_predicts_and_leaves_it() -> None:
    state = new(4)
    for seat in range(4):
        hand = state.view(seat).hand
        assert list(state.legal(seat)) == [PREDICT + card for card in hand]
        state.apply(PREDICT + hand[5], seat)
        assert list(state.view(seat).hand) == [card for card in hand if card != hand[5]]
        assert state.view(seat).prediction == hand[5]


def test_S4_a_six_predicts_undeclared_and_takes_both_its_plays_along() -> None:
    table = Table({1: "green 6/9, green 1"}, fill={1: "red, yellow, blue"})
    assert "predict green 6/9" in [SIXTH_SENSE.actions[action].name for action in table.state.legal(1)]
    table.predict()
    assert "green 6" not in table.choices()
    assert "green 6 as 9" not in table.choices()
    assert "green 1" in table.choices()


def test_S4_nobody_learns_who_has_chosen_until_all_have() -> None:
    state = new(4)
    before = [state.view(seat) for seat in range(4)]
    state.apply(state.legal(2)[0], 2)
    state.apply(state.legal(0)[0], 0)
    assert state.waiting() == (1, 3)
    assert state.player == 1
    assert state.view(1) == before[1]
    assert state.view(3) == before[3]


def test_S4_predictions_in_any_order_give_the_same_game() -> None:
    outcomes = set()
    for order in permutations(range(4)):
        state = new(4)
        for seat in order:
            state.apply(state.legal(seat)[3], seat)
        views = tuple(state.view(seat) for seat in range(4))
        outcomes.add((views, state.player, finish(state)))
    assert len(outcomes) == 1


def test_S4_predictions_lie_open_at_the_end_of_the_round() -> None:
    state = new(3)
    chosen = [state.view(seat).hand[1] for seat in range(3)]
    for seat, card in enumerate(chosen):
        state.apply(PREDICT + card, seat)
    assert [list(state.view(seat).known_predictions) for seat in range(3)] == [
        [card + 1 if seat == other else 0 for other, card in enumerate(chosen)] for seat in range(3)
    ]
    assert list(finish(state).predictions) == chosen


# S5


def test_S5_anything_may_be_led() -> None:
    table = Table({1: "red 1, red 2, red 6/9, yellow 5, blue 3"}, fill={1: "green"}).predict()
    names = {name for name in table.choices() if not name.startswith("green")}
    assert names == {"red 2", "red 6", "red 6 as 9", "yellow 5", "blue 3"}


def test_S5_the_led_colour_must_be_followed_and_a_seat_without_it_is_free() -> None:
    table = Table({1: "red 1, red 2", 2: "yellow 1, red 5, red 11"}, fill={2: "green", 3: "purple, yellow"}).predict()
    table.play("red 2")
    assert table.choices() == ["red 5", "red 11"]
    table.play("red 5")
    hand = table.state.view(3).hand
    assert {SIXTH_SENSE.actions[action].card for action in table.state.legal(3)} == set(hand)


def test_S5_a_block_must_be_a_card_that_may_be_played() -> None:
    table = Table({1: "red 1, red 2", 2: "yellow 1, red 5, green 0"}, fill={1: "yellow", 2: "purple, blue"}).predict()
    table.play("red 2")
    assert table.choices() == ["red 5"]


# S6


def test_S6_led_colour_after_a_blocked_lead_is_that_of_the_next_card_on_the_table() -> None:
    table = Table(
        {1: "red 1, red 10", 2: "purple 1, yellow 5", 3: "red 2, red 0", 0: "purple 2, yellow 7, red 14"},
        fill={2: "yellow, green", 0: "purple"},
    ).predict()
    table.play("red 10", "yellow 5", "red 0 blocks place 1")
    assert table.choices() == ["yellow 7"]
    table.play("yellow 7")
    assert taker(table) == 0


def test_S6_led_colour_after_a_blocked_lead_without_another_card_is_that_of_the_next_played() -> None:
    table = Table(
        {1: "red 1, red 10", 2: "red 2, red 0", 3: "purple 1, red 5, green 3, yellow 8", 0: "purple 2, green 5, red 3"},
        fill={0: "purple, yellow"},
    ).predict()
    table.play("red 10", "red 0 blocks place 1")
    hand = table.state.view(3).hand
    assert {SIXTH_SENSE.actions[action].card for action in table.state.legal(3)} == set(hand)
    table.play("green 3")
    assert table.choices() == ["green 5"]
    table.play("green 5")
    assert taker(table) == 0


def test_S6_cards_already_down_stay_legal_after_a_block() -> None:
    table = Table(
        {1: "red 1, red 10", 2: "red 2, yellow 14", 3: "red 3, purple 5", 0: "red 4, green 0"},
        fill={2: "yellow", 3: "purple", 0: "green"},
    ).predict()
    table.play("red 10", "yellow 14", "purple 5", "green 0 blocks place 1")
    assert taker(table) == 2, "yellow is led now, purple does not follow it"


# S7


def test_S7_no_block_when_leading() -> None:
    table = Table({1: "red 1, red 0, yellow 0"}).predict()
    assert "red 0" in table.choices()
    assert not [name for name in table.choices() if "blocks" in name]


def test_S7_a_zero_may_block_any_card_on_the_table_or_none() -> None:
    table = Table({1: "red 1, red 10", 2: "red 2, red 11", 3: "red 3, red 0", 0: "red 5"}, fill={3: "green"}).predict()
    table.play("red 10", "red 11")
    assert table.choices() == ["red 0", "red 0 blocks place 1", "red 0 blocks place 2"]


def test_S7_block_and_blocked_card_leave_the_trick() -> None:
    table = Table({1: "red 1, red 10", 2: "red 2, red 11", 3: "red 3, red 0", 0: "red 5, red 7"}, fill={0: "green"})
    table.predict().play("red 10", "red 11", "red 0 blocks place 2", "red 7")
    assert taker(table) == 1


def test_S7_one_block_a_trick_and_a_later_zero_is_ordinary() -> None:
    table = Table(
        {1: "red 1, red 10", 2: "red 2, red 0", 3: "red 3, purple 0", 0: "red 5"}, fill={3: "purple"}
    ).predict()
    table.play("red 10", "red 0 blocks place 1")
    assert "purple 0" in table.choices()
    assert not [name for name in table.choices() if "blocks" in name]


def test_S7_an_ordinary_zero_may_be_blocked() -> None:
    table = Table({1: "red 1, red 0", 2: "red 2, yellow 0"}, fill={2: "yellow, green"}).predict()
    table.play("red 0", "yellow 0 blocks place 1")
    assert SIXTH_SENSE.actions[table.state.view(1).plays[0]].name == "red 0"


@pytest.mark.parametrize("effect", ["red 4", "red 12", "red 8"])
def test_S7_the_effect_of_a_blocked_card_does_not_apply(effect: str) -> None:
    table = Table(
        {1: f"red 1, {effect}", 2: "red 2, yellow 5", 3: "red 3, yellow 11", 0: "red 5, green 0"},
        fill={2: "yellow, green", 3: "yellow, purple", 0: "green, purple"},
    ).predict()
    table.play(effect, "yellow 5", "yellow 11", "green 0 blocks place 1")
    assert taker(table) == 3
    assert table.state.player == 3, "it leads at once: no question about doubling or peeking"
    assert len(table.choices()) > 2


def test_S7_a_block_hides_its_colour_from_others_until_the_round_is_over() -> None:
    table = Table({1: "red 1, red 10", 2: "red 2, yellow 0"}, fill={2: "yellow, green"})
    table.predict().play("red 10", "yellow 0 blocks place 1")
    assert table.plays_seen(2) == ["red 10", "yellow 0 blocks place 1"]
    for seat in (0, 1, 3):
        assert table.plays_seen(seat) == ["red 10", "a 0 blocks place 1"]
    table.finish_round()
    assert table.state.report is not None
    assert SIXTH_SENSE.actions[table.state.report.plays[1]].name == "yellow 0 blocks place 1"


# S8


def two_seats_block(*names: str) -> Table:
    table = Table({1: "red 1, red 8, red 12, yellow 7, green 0", 0: "red 2, red 0, yellow 10, green 3"}, seats=2)
    return table.predict().play(*names)


def test_S8_a_block_with_two_seats_leaves_the_trick_to_nobody() -> None:
    table = two_seats_block("red 8", "red 0 blocks place 1")
    view = table.state.view(0)
    assert list(view.takers) == [2]
    assert list(view.worths) == [0]
    assert list(view.taken) == [0, 0]
    assert table.state.player == 1, "the round's first leader leads again and is not asked to peek"
    assert "red 12" in table.choices()


def test_S8_nobody_doubles_a_blocked_trick() -> None:
    table = two_seats_block("red 12", "red 0 blocks place 1")
    assert table.state.player == 1
    assert "split" not in table.choices()


def test_S8_after_a_block_the_taker_of_the_trick_before_leads() -> None:
    table = two_seats_block("yellow 7", "yellow 10", "green 3", "green 0 blocks place 1")
    assert table.state.player == 0
    assert list(table.state.view(0).leaders) == [1, 0, 0]
    again = two_seats_block("red 8", "red 0 blocks place 1")
    assert list(again.state.view(0).leaders) == [1, 1]


# S9


def test_S9_the_first_worked_example() -> None:
    table = Table(
        {1: "red 1, yellow 3", 2: "red 2, green 11", 3: "red 3, yellow 5", 0: "red 5, blue 2"},
        fill={2: "green, purple", 0: "purple, blue, green"},
    ).predict()
    table.play("yellow 3", "green 11", "yellow 5", "blue 2")
    assert taker(table) == 0


def test_S9_the_highest_card_of_the_led_colour_takes_a_trick_without_trump() -> None:
    table = Table(
        {1: "red 1, yellow 3", 2: "red 2, green 14", 3: "red 3, yellow 5", 0: "red 5, purple 13"},
        fill={2: "green", 0: "purple"},
    ).predict()
    table.play("yellow 3", "green 14", "yellow 5", "purple 13")
    assert taker(table) == 3


# S10


def test_S10_the_second_worked_example() -> None:
    table = Table(
        {1: "red 2, blue 10", 2: "red 3, green 4", 3: "red 5, yellow 1", 0: "red 7, purple 1"},
        fill={2: "green, red", 3: "yellow, red", 0: "purple"},
    ).predict()
    table.play("blue 10", "green 4", "yellow 1", "purple 1")
    assert taker(table) == 0


@pytest.mark.parametrize(
    ("second", "third", "fourth", "takes"),
    [
        ("yellow 4", "yellow 5", "yellow 7", 1),
        ("yellow 4", "purple 4", "yellow 7", 0),
        ("yellow 4", "blue 2", "yellow 7", 1),
        ("yellow 4", "purple 10", "blue 1", 3),
        ("blue 4", "blue 2", "blue 1", 1),
        ("purple 4", "purple 5", "yellow 1", 2),
        ("purple 4", "yellow 4", "blue 1", 0),
    ],
)
def test_S10_an_odd_number_of_fours_reverses_the_order(second: str, third: str, fourth: str, takes: int) -> None:
    """Yellow 3 is led: other colours are lowest, then yellow, then blue; two 4s cancel out."""
    hands = {1: "red 1, yellow 3", 2: f"red 2, {second}", 3: f"red 3, {third}", 0: f"red 5, {fourth}"}
    fill = {2: "green, purple, red", 3: "green, purple, red", 0: "green, purple, red"}
    table = Table(hands, fill=fill).predict().play("yellow 3", second, third, fourth)
    assert taker(table) == takes


def test_S10_three_fours_reverse_and_a_blocked_four_does_not() -> None:
    hands = {1: "red 1, yellow 4", 2: "red 2, purple 4", 3: "red 3, green 4", 0: "red 5, yellow 7"}
    fill = {2: "purple, red", 3: "green, red"}
    table = Table(hands, fill=fill).predict().play("yellow 4", "purple 4", "green 4", "yellow 7")
    assert taker(table) == 3, "of equally low cards the last played"
    hands = {1: "red 1, yellow 4", 2: "red 2, yellow 5", 3: "red 3, yellow 0", 0: "red 5, yellow 7"}
    table = Table(hands).predict().play("yellow 4", "yellow 5", "yellow 0 blocks place 1", "yellow 7")
    assert taker(table) == 0


# S11


@pytest.mark.parametrize(("said", "takes"), [("red 6", 2), ("red 6 as 9", 1)])
def test_S11_the_player_of_a_six_says_what_it_counts(said: str, takes: int) -> None:
    hands = {1: "green 1, red 6/9", 2: "green 2, red 7", 3: "green 3, red 3", 0: "green 5, red 5"}
    table = Table(hands).predict().play(said, "red 7", "red 3", "red 5")
    assert taker(table) == takes
    assert "red 6" not in table.choices()
    assert "red 6 as 9" not in table.choices()


# S12


def led_by_an_eight(*, seat_3: str = "red 3, red 13") -> Table:
    hands = {1: "red 1, red 8", 2: "red 2, red 10", 3: seat_3, 0: "red 5, red 7"}
    return Table(hands).predict()


def test_S12_the_leader_of_an_eight_may_peek_at_the_taker() -> None:
    table = led_by_an_eight().play("red 8", "red 10", "red 13", "red 7")
    assert table.state.player == 1
    assert table.choices() == ["do not peek", "peek"]
    assert table.state.waiting() == (1,)
    table.play("peek")
    known = [list(table.state.view(seat).known_predictions) for seat in range(4)]
    assert known[1] == [0, CARDS["red 1"] + 1, 0, CARDS["red 3"] + 1]
    assert [known[seat][3] for seat in (0, 2)] == [0, 0]
    assert all(list(table.state.view(seat).peeks) == [1] for seat in range(4))
    assert table.state.player == 3


def test_S12_it_is_a_choice() -> None:
    table = led_by_an_eight().play("red 8", "red 10", "red 13", "red 7", "do not peek")
    assert list(table.state.view(1).known_predictions) == [0, CARDS["red 1"] + 1, 0, 0]
    assert list(table.state.view(0).peeks) == [0]


def test_S12_no_question_when_the_leader_took_the_trick_itself() -> None:
    hands = {1: "red 1, red 8", 2: "red 2, red 5", 3: "red 3, red 6/9", 0: "red 13, red 7"}
    table = Table(hands).predict().play("red 8", "red 5", "red 6", "red 7")
    assert table.state.player == 1
    assert "peek" not in table.choices()


def test_S12_an_eight_that_inherited_the_led_colour_does_not_peek() -> None:
    hands = {1: "red 1, red 10", 2: "red 2, yellow 8", 3: "red 3, green 0", 0: "red 5, yellow 11"}
    table = Table(hands, fill={2: "yellow, purple", 3: "green, purple"}).predict()
    table.play("red 10", "yellow 8", "green 0 blocks place 1", "yellow 11")
    assert taker(table) == 0
    assert table.state.player == 0
    assert "peek" not in table.choices()


def test_S12_and_S13_are_asked_in_the_last_trick_too() -> None:
    state = new(3)
    asked = set()
    for seed in range(400):
        state = SIXTH_SENSE.new(3, SeededDecks(seed.to_bytes(32, "big")))  # type: ignore[assignment] # narrowed below
        assert isinstance(state, SixthSenseState)
        while state.round == 0:
            if len(state.view(0).takers) == 13:
                asked |= {SIXTH_SENSE.actions[action].name for action in state.legal(state.player)}
                break
            state.apply(state.legal(state.player)[-1], state.player)
    assert {"peek", "split"} <= asked


# S13


def test_S13_the_taker_of_a_twelve_may_split_and_is_asked_before_the_peek() -> None:
    table = led_by_an_eight(seat_3="red 3, red 12").play("red 8", "red 10", "red 12", "red 7")
    assert table.state.player == 3
    assert table.choices() == ["keep as one", "split"]
    assert list(table.state.view(0).worths) == [1]
    assert list(table.state.view(0).taken) == [0, 0, 0, 1]
    table.play("split")
    assert table.state.player == 1
    assert table.choices() == ["do not peek", "peek"]
    table.play("peek")
    assert list(table.state.view(0).worths) == [2]
    assert list(table.state.view(0).taken) == [0, 0, 0, 2]
    assert table.state.player == 3


def test_S13_several_twelves_give_at_most_two() -> None:
    hands = {1: "red 1, red 12", 2: "red 2, yellow 12", 3: "red 3, red 13", 0: "red 5, red 7"}
    table = Table(hands, fill={2: "yellow, purple"}).predict()
    table.play("red 12", "yellow 12", "red 13", "red 7", "split")
    assert list(table.state.view(0).taken) == [0, 0, 0, 2]


def test_S13_keeping_it_as_one_counts_one() -> None:
    hands = {1: "red 1, red 12", 2: "red 2, red 5", 3: "red 3, red 13", 0: "red 8, red 7"}
    table = Table(hands).predict().play("red 12", "red 5", "red 13", "red 7", "keep as one")
    assert list(table.state.view(0).taken) == [0, 0, 0, 1]
    assert table.state.player == 3


# S14


@pytest.mark.parametrize(
    ("card", "tricks", "points"),
    [
        ("red 4", 6, -2),
        ("red 4", 2, -2),
        ("red 4", 4, 4),
        ("red 6/9", 7, -1),
        ("red 6/9", 8, -1),
        ("red 6/9", 0, -6),
        ("red 6/9", 12, -3),
        ("red 6/9", 6, 6),
        ("red 6/9", 9, 9),
        ("red 0", 0, 0),
        ("red 0", 3, -3),
        ("red 14", 0, -14),
        ("red 1", 28, -27),
    ],
)
def test_S14_points(card: str, tricks: int, points: int) -> None:
    assert POINTS[False][CARDS[card]][tricks] == points


def test_S14_a_round_is_counted_by_prediction_and_tricks() -> None:
    state = new(4)
    total = [0] * 4
    while state.player != OVER:
        report = finish(state)
        expected = tuple(POINTS[0][card][taken] for card, taken in zip(report.predictions, report.taken, strict=True))
        assert report.points == expected
        total = [score + won for score, won in zip(total, expected, strict=True)]
        assert report.scores == state.scores == tuple(total)


# S15


def test_S15_most_points_win_and_equal_points_share_a_place() -> None:
    assert places((3, 5, 5, -1)) == (3, 1, 1, 4)
    state = new(4)
    while state.player != OVER:
        finish(state)
    assert state.ranking() == places(state.scores)
    assert state.waiting() == ()


# S16


@pytest.mark.parametrize(("distance", "points"), [*enumerate((6, 4, 3, 2, 1, 0, 0))])
def test_S16_novice_points_by_distance(distance: int, points: int) -> None:
    assert POINTS[True][CARDS["red 7"]][7 + distance] == points
    assert POINTS[True][CARDS["red 7"]][7 - distance] == points


def test_S16_novice_turns_no_card_and_has_no_trump() -> None:
    table = Table(
        {1: "red 1, yellow 3", 2: "red 2, blue 14", 3: "red 3, yellow 5", 0: "red 5, blue 2"},
        turned="blue 13",
        fill={2: "green", 0: "purple"},
        novice=True,
    ).predict()
    assert table.state.view(0).turned is None
    table.play("yellow 3", "blue 14", "yellow 5", "blue 2")
    assert taker(table) == 3
    table.finish_round()
    assert table.state.report is not None
    assert table.state.report.turned is None


def test_S16_a_target_ends_the_game_after_the_round_in_which_it_is_reached() -> None:
    state = new(3, target=5, novice=True)
    assert (state.view(0).rounds, state.view(0).target) == (0, 5)
    while state.player != OVER:
        assert max(state.scores) < 5
        finish(state)
    assert max(state.scores) >= 5


def test_S16_a_target_that_nobody_reaches_ends_after_sixty_rounds() -> None:
    state = new(2, target=1000)
    while state.player != OVER:
        finish(state)
    assert state.round == 59
    assert max(state.scores) < 1000


def test_S16_late_trump_is_turned_when_all_predictions_are_in() -> None:
    table = Table({0: "red 1", 1: "red 2", 2: "red 3", 3: "red 5"}, late_trump=True)
    for seat in range(4):
        assert all(table.state.view(other).turned is None for other in range(4))
        table.state.apply(PREDICT + table.predictions[seat], seat)
    assert all(table.state.view(seat).turned == CARDS["blue 14"] for seat in range(4))


# S17


def test_S17_a_blocking_zero_is_not_a_zero_of_the_led_colour() -> None:
    hands = {1: "red 1, red 10", 2: "red 2, yellow 5", 3: "red 3, green 0", 0: "red 5, red 13"}
    table = Table(hands, fill={2: "yellow", 3: "green, purple", 0: "purple"}).predict()
    table.play("red 10", "yellow 5", "green 0", "red 13")
    assert taker(table) == 0


def test_S17_only_the_leader_peeks_with_an_eight() -> None:
    hands = {1: "red 1, red 7", 2: "red 2, red 8", 3: "red 3, red 13", 0: "red 5, red 10"}
    table = Table(hands).predict().play("red 7", "red 8", "red 13", "red 10")
    assert table.state.player == 3
    assert "peek" not in table.choices()


def test_S17_a_six_that_predicts_is_not_declared() -> None:
    names = [action.name for action in SIXTH_SENSE.actions if action.kind == "predict" and "6" in action.name]
    assert names == [f"predict {colour} 6/9" for colour in SIXTH_SENSE.colours]


def test_S17_the_state_is_one_of_the_contract() -> None:
    state: State[SixthSenseView, SixthSenseRound] = new(2)
    assert repr(state) == "SixthSenseState(secret)"
