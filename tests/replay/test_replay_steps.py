"""A replay as positions, one after every choice of a bot, house bot or server."""

from collections.abc import Sequence

import pytest

from arena.match.effects import Force, Refuse
from arena.match.inputs import Acted
from arena.replay.header import Entry
from arena.replay.read import read
from arena.replay.record import encode
from arena.replay.steps import Course, Made, steps
from engine.game import OVER
from tests.replay.recorded import play, rated


def choices(entries: Sequence[Entry]) -> list[Made]:
    """Return every choice of a match by its decision: the accepted answers and the forced choices."""
    made = []
    for event, effects in entries:
        made += [Made(*effect) for effect in effects if isinstance(effect, Force)]
        if isinstance(event, Acted) and not any(isinstance(effect, Refuse) for effect in effects):
            made.append(Made(event.seat, event.decision, event.action, None))
    return sorted(made, key=lambda each: each.decision)


@pytest.mark.parametrize("seats", [2, 4, 6])
@pytest.mark.parametrize("chance", [1, 2, 3])
def test_replay_has_a_step_for_the_deal_and_for_every_choice(seats: int, chance: int) -> None:
    header, entries = play(seats, chance=chance)
    first, *rest = steps(read(encode(header, entries)))
    assert first.made is None
    assert first.state.round == 0
    made = [step.made for step in rest if step.made is not None]
    assert sorted(made, key=lambda each: each.decision) == choices(entries)
    assert [step.at for step in rest] == sorted(step.at for step in rest)


def test_replay_steps_are_independent_positions_up_to_the_result() -> None:
    replay = read(rated())
    found = steps(replay)
    assert [step.state.player == OVER for step in found].count(True) == 1
    assert tuple(found[-1].state.scores) == replay.result.scores
    assert found[-1].state.ranking() == replay.result.places
    assert tuple(found[0].state.scores) == (0, 0, 0, 0)


def test_replay_course_finds_rounds() -> None:
    course = Course(read(rated()))
    assert course.rounds == 4
    assert [report.round for report in course.reports] == [0, 1, 2, 3]
    assert [course.steps[course.begins(number)].state.round for number in range(4)] == [0, 1, 2, 3]
    assert [course.steps[course.ends(number)].round for number in range(4)] == [0, 1, 2, 3]
    assert course.ends(3) == len(course.steps) - 1


def test_replay_course_of_an_interrupted_match_ends_where_it_was_broken_off() -> None:
    header, entries = play(interrupted_after=40)
    course = Course(read(encode(header, entries)))
    assert course.rounds == 1
    assert course.reports == []
    assert course.ends(0) == len(course.steps) - 1


def test_replay_course_of_a_match_interrupted_at_once_has_its_deal() -> None:
    header, entries = play(interrupted_after=0)
    course = Course(read(encode(header, entries)))
    assert (course.rounds, len(course.steps), course.begins(0), course.ends(0)) == (1, 1, 0, 0)
