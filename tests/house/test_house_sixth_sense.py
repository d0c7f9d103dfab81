"""Rules of thumb in 6th Sense's house bots."""

from __future__ import annotations

from random import Random

import pytest

from arena.house.sixth_sense import CarefulBot
from arena.house.sixth_sense.situation import ACTIONS as ACTIONS_OF
from arena.house.sixth_sense.situation import Situation
from engine.deal import SeededDecks
from engine.game import OVER
from engine.sixth_sense import SIXTH_SENSE
from engine.sixth_sense.state import SixthSenseState
from tests.engine.sixth_sense_table import ACTIONS, CARDS, Table


def test_a_six_aims_at_six_until_more_are_taken() -> None:
    table = Table({0: "red 6/9"})
    assert Situation(table.state.view(0)).wanted == 0
    table.predict()
    assert Situation(table.state.view(0)).wanted == 6


@pytest.mark.parametrize("seats", SIXTH_SENSE.seats)
def test_the_last_of_a_trick_knows_whether_it_takes_it(seats: int) -> None:
    random, seen = Random(seats), set[tuple[str, bool]]()
    for _ in range(3):
        state = SIXTH_SENSE.new(seats, SeededDecks(random.randbytes(32)))
        assert isinstance(state, SixthSenseState)
        while (seat := state.player) != OVER:
            legal = state.legal(seat)
            if ACTIONS_OF[legal[0]].kind == "play" and len(state.plays) % seats == seats - 1:
                situation = Situation(state.view(seat))
                for action in legal:
                    after = state.clone()
                    after.apply(action, seat)
                    report = after.report
                    takers = after.takers or (report.takers if report else b"")
                    assert situation.takes(action) == (takers[-1] == seat)
                    seen.add((ACTIONS_OF[action].kind, takers[-1] == seat))
            state.apply(random.choice(legal), seat)
    assert seen >= {("play", True), ("play", False), ("block", False)}


def test_careful_throws_its_strongest_card_when_it_wants_no_trick() -> None:
    hands = {0: "red 1", 1: "red 2, green 13", 2: "red 0, green 3, green 12", 3: "red 3"}
    table = Table(hands, fill={2: "yellow, red"}).predict().play("green 13")
    state = table.state
    action = CarefulBot().decide(state.view(2), state.legal(2), bytes(32))
    assert action == ACTIONS["green 12"]
    assert CARDS["red 0"] == state.view(2).prediction
