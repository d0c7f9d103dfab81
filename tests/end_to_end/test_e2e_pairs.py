"""Evenness of pairings at several nodes: 40 bots at four nodes meet as evenly as at one, and wait as little."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import mean, variance

import pytest
from sqlalchemy import func, select

from arena.store import schema
from arena.store.opening import open_readonly
from tests.end_to_end.e2e_rig import ROOT, Crowd, program, server, until
from tests.end_to_end.test_e2e_nodes import addresses, stop

NAMES = [f"b{number}" for number in range(40)]
SINGLE = "single"
WARM_UP = 0.1
"""Share of the matches, at the beginning and at the end, that the measurement of occupied seats leaves out."""
SEATED = 5.0
"""Maximum number of seconds until a client with one address has its first match."""


@dataclass
class Meetings:
    """Figures about the matches in a trial's database."""

    counts: Counter[tuple[str, ...]]
    """Number of matches by pair of bots."""
    busy: float
    """Mean number of occupied seats between the first and the last tenth of the matches."""
    seated: float

    @property
    def spread(self) -> float:
        """Variance of the pairs' numbers of matches divided by their mean: 1 if pairs are drawn at random."""
        numbers = [self.counts[pair] for pair in combinations(sorted(NAMES), 2)]
        return variance(numbers) / mean(numbers)

    @property
    def never(self) -> int:
        """Number of pairs that have not met."""
        return len([*combinations(NAMES, 2)]) - len(self.counts)


def ended(data: Path) -> int:
    with open_readonly(data) as connection:
        return connection.scalar(select(func.count()).where(schema.matches.c.state == "finished")) or 0


def first_match(address: str) -> float:
    """Connect a bot to one address. Return the seconds until its first turn."""
    with Crowd(address) as crowd:
        bot = crowd.come(SINGLE, capacity=1)
        began = time.monotonic()
        bot.play_in_background()
        until(lambda: bot.answered, "the first turn of a client with one address")
        return time.monotonic() - began


def meetings(data: Path, seated: float) -> Meetings:
    seats, matches = schema.match_seats.c, schema.matches.c
    with open_readonly(data) as connection:
        rows = connection.execute(
            select(seats.match_id, schema.bots.c.name, matches.started, matches.ended)
            .join_from(schema.match_seats, schema.matches)
            .join(schema.bots, schema.bots.c.id == seats.bot_id)
            .where(matches.state == "finished")
            .order_by(matches.ended)
        ).all()
    pairs: dict[int, list[str]] = {}
    for row in rows:
        pairs.setdefault(row.match_id, []).append(row.name)
    since, to = (rows[int(len(rows) * share)].ended for share in (WARM_UP, 1 - WARM_UP))
    busy = sum(max(0, min(row.ended, to) - max(row.started, since)) for row in rows) / (to - since)
    return Meetings(Counter(tuple(sorted(pair)) for pair in pairs.values() if SINGLE not in pair), busy, seated)


def trial(data: Path, nodes: int, capacity: int, matches: int, think: float) -> Meetings:
    options = ("--processes", str(nodes), "--drain", "0", "--luck", "off")
    with ExitStack() as stack:
        running = stack.enter_context(server(data, *options))
        places = addresses(running) if nodes > 1 else [running.address]
        tokens = data.with_name(f"{data.name}-tokens")
        tokens.mkdir()
        for names in (NAMES[::2], NAMES[1::2]):
            words = (places[0], str(tokens), str(capacity), str(think), *names)
            stack.enter_context(program(str(ROOT / "tests/end_to_end/many_bots.py"), *words, listened_to=False))
        until(lambda: ended(data) >= matches * WARM_UP, "the first matches", 900, pause=1.0)
        seated = first_match(places[-1])
        until(lambda: ended(data) >= matches, "all matches", 7200, pause=1.0)
        stop(running)
    return meetings(data, seated)


@pytest.mark.long
@pytest.mark.parametrize(("capacity", "matches", "think"), [(8, 20_000, 0.03), (1, 20_000, 0.0)])
def test_bots_meet_as_evenly_at_four_nodes_as_at_one(tmp_path: Path, capacity: int, matches: int, think: float) -> None:
    """The bots think long enough that two cores suffice. Otherwise matches would wait for the machine, not for bots."""
    found = {nodes: trial(tmp_path / f"data-{nodes}", nodes, capacity, matches, think) for nodes in (1, 4)}
    waiting = {nodes: 1 - each.busy / (len(NAMES) * capacity) for nodes, each in found.items()}
    for nodes, each in found.items():
        print(
            f"capacity {capacity}, {nodes} nodes: variance/mean {each.spread:.2f}, waiting {waiting[nodes]:.1%}, "
            f"{each.never} pairs never met, a client with one address seated after {each.seated:.1f} s"
        )
    assert found[4].never == 0
    assert found[4].seated <= SEATED
    if capacity > 1:
        assert found[4].spread <= 1.3 * found[1].spread
        assert waiting[4] <= 0.05
