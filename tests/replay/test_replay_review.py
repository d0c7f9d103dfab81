"""Costs of choices: exact for a tiny game, and plausible for the real games."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from statistics import fmean
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import pytest

from arena.analysis.review import Costly, costly, house_rounds
from arena.house import HOUSE_BOTS
from arena.match.effects import Cause
from arena.replay.read import read
from arena.replay.render.show import RENDERERS
from arena.replay.steps import Course, Made, Step
from engine.game import OVER, Chance
from engine.registry import GAMES
from tests.games import THOUGHT_ABOUT
from tests.replay.recorded import rated


class Seen(NamedTuple):
    """A seat's view of the numbers that the seats have named."""

    seat: int
    named: tuple[int, ...]


class Coin:
    """A round in which each of two seats names a number. Then a coin decides whether the larger number wins."""

    round = 0

    def __init__(self, coin: int, named: tuple[int, ...] = ()) -> None:
        self.coin, self.named = coin, named

    @property
    def player(self) -> int:
        return len(self.named) if len(self.named) < 2 else OVER

    @property
    def scores(self) -> tuple[int, ...]:
        return (0, 0)

    def waiting(self) -> tuple[int, ...]:
        return () if self.player == OVER else (self.player,)

    @property
    def report(self) -> Any:
        return (
            SimpleNamespace(points=tuple(number * self.coin for number in self.named)) if self.player == OVER else None
        )

    def legal(self, seat: int) -> Sequence[int]:
        return (0, 1, 2)

    def apply(self, action: int, seat: int) -> None:
        self.named += (action,)

    def clone(self) -> Coin:
        return Coin(self.coin, self.named)

    def view(self, seat: int) -> Seen:
        return Seen(seat, self.named)

    @staticmethod
    def sample(view: Seen, chance: Chance) -> Coin:
        return Coin(chance.randrange(2), view.named)


class Middle:
    """A bot that always names 1."""

    def decide(self, view: object, legal: Sequence[int], chance: bytes) -> int:
        return legal[1]


def coin_course(*named: int, forced: Cause | None = None) -> Course:
    steps = [Step(cast("Any", 0), None, 0, cast("Any", Coin(1)), None)]
    for seat, number in enumerate(named):
        state = Coin(1, named[: seat + 1])
        steps.append(Step(cast("Any", 0), Made(seat, 7 + seat, number, forced), 0, cast("Any", state), None))
    replay = SimpleNamespace(header=SimpleNamespace(game=Coin))
    return cast("Course", SimpleNamespace(steps=steps, replay=replay))


def of_coin(course: Course, seat: int) -> tuple[Costly, ...]:
    looked: list[float] = []
    house: Any = Middle()
    found = costly(course, seat, house, lambda report: report.points, 3, Random, "seed", looked.append)
    assert looked == sorted(looked)
    assert not looked or looked[-1] == 1.0
    return found


def test_a_choice_costs_what_the_best_other_brings_more_on_the_mean_of_the_worlds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("arena.analysis.review.ENDING_LINES", 0)
    [found] = of_coin(coin_course(0, 2), 0)
    assert (found.decision, found.round, found.action, found.better) == (7, 0, 0, 2)
    assert found.cost == pytest.approx(1.0, abs=4 * found.error), "2 more in every second world"
    assert found.error == pytest.approx(1 / 200**0.5, rel=0.1), "the coin's own scatter is 1"


def test_the_cost_in_an_ending_is_exact_where_all_worlds_are_solved() -> None:
    """The coin has two sides. The review must not ask the house bot Middle, which would not name 2."""
    [found] = of_coin(coin_course(1, 2), 0)
    assert (found.action, found.better, found.cost, found.error) == (1, 2, 0.5, 0.0)


def test_the_cost_in_an_ending_with_many_worlds_has_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.analysis.review.ALL_WORLDS", 1)
    [found] = of_coin(coin_course(1, 2), 0)
    assert found.cost == pytest.approx(0.5, abs=4 * found.error)
    assert found.error == pytest.approx(0.5 / 200**0.5, rel=0.1)


def test_the_best_choice_costs_nothing_and_what_others_chose_for_a_seat_is_not_its_own() -> None:
    assert of_coin(coin_course(2, 1), 0) == ()
    assert of_coin(coin_course(0, 0, forced=Cause.TIME), 0) == ()


def test_a_cost_is_not_dearer_for_having_been_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A review selects three choices out of twelve of cost 0.5. On average over many matches they cost 0.5."""
    monkeypatch.setattr("arena.analysis.review.ENDING_LINES", 0)
    monkeypatch.setattr("arena.analysis.review.WORLDS", 16)
    start = Step(cast("Any", 0), None, 0, cast("Any", Coin(1)), None)
    steps = [start, *(replace(start, made=Made(0, number, 1, None)) for number in range(12))]
    course = cast("Course", SimpleNamespace(steps=steps, replay=coin_course().replay))
    house: Any = Middle()
    costs = [
        each.cost
        for match in range(60)
        for each in costly(course, 0, house, lambda report: report.points, 3, Random, f"match {match}")
        if each.better == 2
    ]
    assert len(costs) > 150
    assert fmean(costs) == pytest.approx(0.5, abs=4 * 0.5 / 16**0.5 / len(costs) ** 0.5)


@pytest.mark.thorough
@pytest.mark.parametrize("game", THOUGHT_ABOUT)
def test_a_bot_that_chooses_by_chance_pays_for_it(game: str) -> None:
    replay = read(rated(2, game=GAMES[game], errs=False))
    course, house, worth = Course(replay), HOUSE_BOTS[game][1], RENDERERS[game].worth
    found = costly(course, 1, house, worth, 2, Random, "seed")
    assert len(found) == 2
    assert found == costly(course, 1, house, worth, 2, Random, "seed")
    own = {step.made.decision: step for step in course.steps if step.made and step.made.seat == 1}
    for each in found:
        step = own[each.decision]
        assert (step.round, step.made and step.made.action) == (each.round, each.action)
        before = course.steps[course.steps.index(step) - 1].state
        assert {each.action, each.better} <= {*before.legal(1)}
        assert each.cost > 2 * each.error


@pytest.mark.parametrize("game", THOUGHT_ABOUT)
def test_the_house_plays_the_same_deals(game: str) -> None:
    replay = read(rated(3, game=GAMES[game]))
    reports = house_rounds(replay, HOUSE_BOTS[game][-1], Random(1))
    own = Course(replay).reports
    assert [report.round for report in reports] == [report.round for report in own]
    assert [getattr(report, "turned", None) for report in reports] == [getattr(each, "turned", None) for each in own]
    renderer = RENDERERS[game]
    for report in reports:
        earned: Any = report
        full = [20 if not taken else 10 + taken for taken in earned.taken] if game == "nullern" else earned.taken
        kept = [points == most for points, most in zip(report.points, full, strict=True)]
        assert renderer.kept(report) == kept
    total = [sum(column) for column in zip(*(renderer.worth(report) for report in reports), strict=True)]
    state = replay.header.new_game()
    chance, bot = Random(1), HOUSE_BOTS[game][-1]
    while state.player != OVER:
        seat = state.player
        state.apply(bot.decide(state.view(seat), state.legal(seat), chance.randbytes(32)), seat)
    assert total == [*state.scores], "what rounds are worth adds up to the scores, with what comes at the end"
