"""Rules of thumb in Nullern's house bots."""

from __future__ import annotations

import pytest

from arena.house import HouseBot
from arena.house.nullern import CarefulBot, CounterBot
from arena.house.nullern.situation import read
from engine.nullern import NULLERN
from tests.engine.nullern_table import BLIND_ROUND, Table

BOTH = pytest.mark.parametrize("bot", [CarefulBot(), CounterBot()], ids=lambda bot: bot.name)


def choice(bot: HouseBot, table: Table) -> str:
    """Return a bot's choice for the seat whose turn it is."""
    state = table.state
    return NULLERN.actions[bot.decide(state.view(state.player), state.legal(state.player), bytes(32))].name


def test_a_situation_says_what_is_to_be_beaten_and_who_is_eager() -> None:
    """Seats 1 and 2 bid one trick, and seat 2 has won its trick. In the next trick seat 0 sees a lead of 4 and a 9
    on it.
    """
    hands = ("red 1, red 2", "red 3, yellow 8", "red 20, green 4", "red 4, yellow 9")
    table = Table(*hands).bid(1, 0, 0, 1).play("red 20", "red 4", "red 1", "red 3", "green 4", "yellow 9")
    assert table.state.player == 0
    situation = read(table.state.view(0))
    assert (situation.led, situation.ahead) == (4, 9)
    assert not situation.eager
    assert (situation.eager_to_come, situation.content_to_come) == (1, 0)
    table = Table(*hands).bid(1, 0, 0, 1).play("red 20", "red 4", "red 1", "red 3")
    situation = read(table.state.view(2))
    assert (situation.led, situation.ahead) == (0, 0)
    assert (situation.eager_to_come, situation.content_to_come) == (1, 2)


def test_trumps_rank_above_all_other_cards() -> None:
    situation = read(Table("blue 1, red 20", "green 20, green 1").bid(0, 0).state.view(0))
    assert situation.ranks[0] == 1
    assert sorted(situation.ranks[60:80]) == list(range(21, 41)), "blue is trump"


@BOTH
@pytest.mark.parametrize("seats", NULLERN.seats)
def test_nobody_bids_on_a_card_unseen(bot: HouseBot, seats: int) -> None:
    hands = [f"blue {20 - seat}" for seat in range(seats)]
    assert choice(bot, Table(*hands, turned="blue 1", number=BLIND_ROUND)) == "bid 0"


@BOTH
def test_a_single_card_is_worth_a_bid_when_it_is_nearly_sure(bot: HouseBot) -> None:
    assert choice(bot, Table("red 5", "blue 20", "red 6", turned="blue 3")) == "bid 1"
    assert choice(bot, Table("blue 20", "red 5", "red 6", turned="blue 3")) == "bid 0"


@BOTH
def test_who_wants_no_trick_throws_the_highest_card_that_does_not_take_it(bot: HouseBot) -> None:
    hands = ("red 1, red 15, green 18", "yellow 17, yellow 3, yellow 2")
    assert choice(bot, Table(*hands).bid(2, 0).play("yellow 17")) == "red 15"


@BOTH
def test_who_wants_a_trick_and_plays_last_takes_it_with_what_is_enough(bot: HouseBot) -> None:
    hands = ("red 1, red 15, blue 19", "yellow 14, yellow 3, yellow 2")
    assert choice(bot, Table(*hands).bid(2, 2).play("yellow 14")) == "red 15"


@BOTH
def test_who_leads_and_wants_no_trick_leads_low(bot: HouseBot) -> None:
    assert choice(bot, Table("red 1, red 15, green 18", "yellow 17, yellow 3, yellow 2").bid(0, 0)) == "yellow 2"


@pytest.mark.parametrize(("bids", "answer"), [((0, 0, 0), "bid 1"), ((3, 3, 3), "bid 0")])
def test_the_counter_listens_to_the_bids_of_the_others(bids: tuple[int, ...], answer: str) -> None:
    """A medium hand expects tricks among players who want none, and none among players who want all."""
    last = "red 16, red 15, blue 5"
    table = Table("green 1, green 2, green 3", "green 4, green 5, green 6", last, "red 1, red 2, red 3")
    assert choice(CounterBot(), table.bid(*bids)) == answer
