"""Past decisions, answered again by a bot. The bot gets the messages of the seat that decided, and its answers are
compared with the old ones.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from arena.local.ask.asking import AT_ONCE, AskingCost, PastSeat, asked_again, own_decisions, past_seats
from arena.local.errors import BotFailed
from arena.local.match.design import Design
from arena.local.match.play_set import play_set
from arena.local.match.replays import set_replays
from arena.local.match.runner import versions
from arena.local.match.sets import Subject
from arena.replay.read import read
from arena.replay.replay import Replay
from arena.replay.steps import steps
from engine.registry import GAMES
from tests.games import THOUGHT_ABOUT
from tests.local.bots import CHANCE, FIRST, written
from tests.replay.recorded import rated

BATCHING = (
    FIRST
    + """
    told = []

    def decide_many(self, decisions):
        self.told.append(("decide", [(each.match_id, each.decision_id) for each in decisions]))
        return [each.legal[0] for each in decisions]

    def on_match_start(self, start):
        self.told.append(("start", start.match_id, start.seat))

    def on_round(self, report):
        self.told.append(("round", report.match_id, report.round))

    def on_match_end(self, report):
        self.told.append(("end", report.match_id, list(report.scores)))
"""
)


def replays(game: str, *bots: str, sets: int = 2) -> list[Replay]:
    of = Subject(game, {}, 3, Design.SAME_SEATS, 5, bots, versions(game, bots))
    return [read(each) for number in range(sets) for each in set_replays(of, play_set(of, number)).values()]


def past(games: list[Replay], bot: str) -> list[PastSeat]:
    return [
        each
        for replay in games
        for each in past_seats(replay, [at for at, seated in enumerate(replay.header.bots) if seated.name == bot])
    ]


@pytest.mark.parametrize("game", THOUGHT_ABOUT)
@pytest.mark.thorough
def test_a_deterministic_bot_agrees_with_itself(game: str, tmp_path: Path) -> None:
    rules = str(Path(__file__).parents[2] / "clients/python/arena_client/samples/rule_bot.py")
    for bot in ("house:counter", "house:careful", rules, written(tmp_path)):
        seats = past(replays(game, bot, "house:random", bot, bot), bot)
        cost = AskingCost()
        found = list(asked_again(bot, seats, 2, cost))
        assert len(found) == len(seats) == 10
        assert cost.decisions == 2 * sum(len(each.decisions) for each in seats) > 0
        assert {each.same(at) for each in found for at in each.free} == {1.0}


def test_what_is_asked_is_what_the_bots_decided_themselves() -> None:
    for replay in (read(rated(chance=chance)) for chance in range(4)):
        decisions, reports = own_decisions(replay)
        assert len(reports) == 4
        made = [step.made for step in steps(replay) if step.made is not None]
        own = [(each.seat, each.decision, each.action) for each in made if each.forced is None]
        assert [(each.ask.seat, each.ask.decision, each.action) for each in decisions] == own
        assert all(each.action in each.ask.legal and each.ask.view.seat == each.ask.seat for each in decisions)
        assert len(own) == len(made) - sum(replay.result.forced) < len(made)


def test_a_bot_hears_what_was_heard_and_is_asked_many_at_once(tmp_path: Path) -> None:
    spec = written(tmp_path, BATCHING)
    seats = past(replays("nullern", "house:random", "house:careful", "house:counter", "house:counter"), "house:counter")
    from arena.local.play.players import load

    told = load(spec, GAMES["nullern"])._caller._bot.told  # type: ignore[attr-defined] # the class's own list
    list(asked_again(spec, seats, 1, AskingCost()))
    matches = {each.replay.header.match_id for each in seats}
    assert Counter(each[0] for each in told)["start"] == len(seats)
    rounds = Counter(each[1] for each in told if each[0] == "round")
    assert rounds == dict.fromkeys(matches, 40), "twenty of each of the two seats"
    together = [len(each[1]) for each in told if each[0] == "decide"]
    assert max(together) == len(matches), "a bot has one seat in a match at a time"
    for each in seats:
        heard = [event for event in told if event[1] == each.replay.header.match_id and event[0] != "start"]
        assert heard[-1] == ("end", each.replay.header.match_id, [*each.replay.result.scores])


def test_more_matches_than_side_by_side_are_all_asked_once() -> None:
    [replay] = replays("nullern", "house:random", "house:careful", "house:counter", "house:counter", sets=1)[:1]
    decisions, reports = own_decisions(replay)
    many = [PastSeat(replay, 0, list(decisions[:3]), reports) for _ in range(3)]
    from dataclasses import replace

    for number in range(2 * AT_ONCE):
        other = replace(replay, header=replace(replay.header, match_id=1000 + number))
        many.append(PastSeat(other, 0, list(decisions[:3]), reports))
    found = list(asked_again("house:counter", iter(many), 1, AskingCost()))
    assert sorted(map(id, found)) == sorted(map(id, many))
    assert all(len(each.answers) == 1 and len(each.answers[0]) == 3 for each in many)


@pytest.mark.thorough
def test_a_bot_that_draws_chance_is_asked_many_times_and_the_same_again(tmp_path: Path) -> None:
    spec = written(tmp_path, CHANCE)
    games = replays("nullern", "house:random", "house:careful", "house:counter", "house:counter", sets=1)
    for bot in (spec, "house:random"):
        [found, again] = [list(asked_again(bot, past(games, "house:random"), 40, AskingCost())) for _ in range(2)]
        assert [each.answers for each in found] == [each.answers for each in again]
        ways = [
            (len(each.decisions[at].ask.legal), each.same(at), len({answers[at] for answers in each.answers}))
            for each in found
            for at in each.free
        ]
        assert min(different for _, _, different in ways) > 1
        error = (sum(1 / legal * (1 - 1 / legal) / 40 for legal, _, _ in ways)) ** 0.5
        assert abs(sum(same - 1 / legal for legal, same, _ in ways)) < 4 * error, "every legal action is as likely"


def test_a_bot_that_fails_is_named_with_where(tmp_path: Path) -> None:
    spec = written(tmp_path, FIRST.replace("return", "assert decision.decision_id < 9\n        return"))
    games = replays("nullern", "house:random", "house:careful", "house:counter", "house:counter", sets=1)
    with pytest.raises(BotFailed) as failed:
        list(asked_again(spec, past(games, "house:counter"), 1, AskingCost()))
    assert f"{spec} failed in seat" in str(failed.value)
    assert "of replay, round 2, decision" in str(failed.value)
    assert "assert decision.decision_id < 9" in str(failed.value)
