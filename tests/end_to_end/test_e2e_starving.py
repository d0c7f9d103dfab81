"""Honest bots beside a bot that declines, is silent, leaves or is slow, with real servers and processes.

Each test compares a server with the other bot and a server without it. Both run at the same time, so other work on this
machine affects both alike.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import func, select

from arena.store import schema
from arena.store.base.rows import MatchState
from arena.store.opening import open_readonly
from tests.end_to_end.e2e_rig import program, server

HERE = Path(__file__).parent
LEAD = 60.0
"""Seconds before the measurement begins."""
SECONDS = 180.0
"""Length of the measurement in seconds."""
THINKING = 5
"""Milliseconds that an honest bot needs for a decision."""


@contextmanager
def evening(data: Path, honest: int, seats: int, capacity: int, trouble: list[tuple[str, int]]) -> Iterator[None]:
    """Run a server with house bots during the `with` block. Honest bots and the other bots run in separate
    processes.
    """
    with ExitStack() as stack:
        arena = stack.enter_context(server(data, "--house", "--luck", "off", "--quiet", seats=str(seats)))
        for number in range(honest):
            words = f"honest-{number}", str(data / f"token-{number}"), str(capacity), str(THINKING)
            stack.enter_context(program(str(HERE / "slow_bot.py"), arena.address, *words, listened_to=False))
        for number, (manner, most) in enumerate(trouble):
            stack.enter_context(
                program(
                    str(HERE / "trouble_bot.py"),
                    arena.address,
                    f"trouble-{number}",
                    str(most),
                    manner,
                    listened_to=False,
                )
            )
        yield


def finished(data: Path) -> int:
    """Return the number of seats that honest bots had in finished matches."""
    seats, bots, matches = schema.match_seats, schema.bots, schema.matches
    chosen = (
        select(func.count())
        .select_from(seats.join(bots, bots.c.id == seats.c.bot_id).join(matches, matches.c.id == seats.c.match_id))
        .where(bots.c.name.startswith("honest-"), matches.c.state == MatchState.FINISHED.value)
    )
    with open_readonly(data) as connection:
        return int(connection.execute(chosen).scalar_one())


@pytest.mark.long
@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("trouble", "honest", "seats", "capacity", "bar"),
    [
        pytest.param([("declines", 8)], 2, 2, 8, 0.9, id="a decliner beside 2"),
        pytest.param([("ignores", 8)], 3, 2, 8, 0.9, id="an ignorer beside 3"),
        pytest.param([("leaves", 8)], 4, 4, 8, 0.9, id="one that leaves beside 4"),
        pytest.param([("slow", 256)], 4, 4, 8, 0.75, id="a slow one beside 4"),
        pytest.param([("slow", 256)], 4, 2, 8, 0.75, id="a slow one at two seats"),
        pytest.param([("slow", 256)] * 10, 20, 4, 1, 0.7, id="ten slow ones beside 20"),
    ],
)
def test_honest_bots_play_on(
    tmp_path: Path, trouble: list[tuple[str, int]], honest: int, seats: int, capacity: int, bar: float
) -> None:
    places = tmp_path / "alone", tmp_path / "beside"
    with evening(places[0], honest, seats, capacity, []), evening(places[1], honest, seats, capacity, trouble):
        time.sleep(LEAD)
        before = [finished(data) for data in places]
        time.sleep(SECONDS)
        alone, beside = (finished(data) - count for data, count in zip(places, before, strict=True))
    print(f"{beside} seats beside it, {alone} without: {beside / alone:.3f}")
    assert beside / alone >= bar, f"{beside} seats beside it, {alone} without"
