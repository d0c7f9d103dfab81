"""Pages of lists: each row is on one page, and the cost of a page depends on its rows and not on the list's length."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import thread_time
from typing import Any, Final

import pytest
import trio
from sqlalchemy import Connection, insert

from arena.store import schema
from arena.store.bots import bots
from arena.store.ladder import standings
from arena.store.matches import matches
from arena.store.moderation import moderation
from arena.store.opening import open_to_amend
from arena.store.store import open_store
from tests.store.jobs import GAME, NOW, add_bots, begin, finish
from trio_grpc.limits.work_budget import metered

OTHER: Final = "bridge"
STEPS: Final = 10
"""Number of instructions of SQLite's virtual machine between two counts."""


def steps(connection: Connection, job: Callable[[Connection], object]) -> int:
    """Return the approximate number of instructions of SQLite's virtual machine for a job."""
    count = 0

    def counted() -> int:
        nonlocal count
        count += STEPS
        return 0

    driver: Any = connection.connection.driver_connection
    driver.set_progress_handler(counted, STEPS)
    job(connection)
    driver.set_progress_handler(None, 0)
    return count


def play(connection: Connection, players: list[bots.BotId], count: int, first: int, game: str = GAME) -> None:
    """Store a number of results of two bots, beginning with the given match and event numbers."""
    numbers = range(first, first + count)
    match = {
        "game": game,
        "ladder": game,
        "options": "{}",
        "seats": 2,
        "state": "finished",
        "started": NOW,
        "ended": NOW,
        "reason": "",
    }
    connection.execute(insert(schema.matches), [match | {"id": number} for number in numbers])
    ratings = dict.fromkeys(("rating_before", "deviation_before", "rating_after", "deviation_after"), 1500.0)
    seats = [
        {"match_id": number, "seat": seat, "bot_id": bot, "node": bot, "forced": 0, "score": 1, "place": 1} | ratings
        for number in numbers
        for seat, bot in enumerate(players)
    ]
    connection.execute(insert(schema.match_seats), seats)
    event = {"ladder": game, "kind": "result", "at": NOW, "reason": "", "nodes": "1,2", "places": "11", "counts": "11"}
    connection.execute(
        insert(schema.rated_results), [event | {"number": number, "match_id": number} for number in numbers]
    )


def stored(connection: Connection, count: int) -> None:
    """Store results of Ann and Bob, then results of two others, then further bots, each in the given number."""
    four = add_bots(connection, "ann", "bob", "cleo", "dan")
    versions = [{"id": bot, "bot_id": bot, "version": "", "created": NOW} for bot in four]
    connection.execute(insert(schema.versions), versions)
    play(connection, four[:2], count, 1)
    play(connection, four[2:], count, count + 1)
    more = [{"name": f"x{number}", "key": f"x{number}", "owner": "x"} for number in range(count)]
    connection.execute(insert(schema.bots), [row | {"house": 0, "registered": NOW} for row in more])
    event = {"at": NOW, "kind": "hidden", "name": "x", "new_name": None, "reason": ""}
    connection.execute(insert(schema.bot_events), [event | {"number": number + 1} for number in range(count)])


PAGES: Final[dict[str, Callable[[Connection], Any]]] = {
    "matches": lambda connection: matches.list_matches(connection, limit=5),
    "matches of a game": lambda connection: matches.list_matches(connection, game=GAME, limit=5),
    "matches of a bot": lambda connection: matches.list_matches(connection, bot="ann", limit=5),
    "older matches of a bot": lambda connection: matches.list_matches(connection, bot="ann", limit=5, before=9),
    "matches of a bot in a game": lambda connection: matches.list_matches(connection, bot="ann", game=GAME, limit=5),
    "history": lambda connection: standings.history(connection, "ann", GAME, limit=5),
    "older history": lambda connection: standings.history(connection, "ann", GAME, limit=5, before=9),
    "bots": lambda connection: bots.list_bots(connection, limit=5),
    "more bots": lambda connection: bots.list_bots(connection, limit=5, after="dan"),
    "events of bots": lambda connection: moderation.list_events(connection, limit=5),
}


@pytest.fixture(scope="module")
def costs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[int]]:
    """Return the steps of each page with 10 and with 10,000 matches of a bot, and with equally many of other bots."""
    found: dict[str, list[int]] = {page: [] for page in PAGES}
    for count in (10, 10_000):
        directory = tmp_path_factory.mktemp("pages")

        async def make(directory: Path = directory) -> None:
            async with open_store(directory, NOW):
                pass

        trio.run(make)
        with open_to_amend(directory) as connection:
            stored(connection, count)
            for page, job in PAGES.items():
                assert len(job(connection)) == 5
                found[page].append(steps(connection, job))
    return found


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.thorough
def test_the_cost_of_a_page_does_not_grow_with_history(costs: dict[str, list[int]], page: str) -> None:
    few, many = costs[page]
    assert STEPS < many < 1.5 * few + 100


def test_pages_of_bots_have_every_bot_once_whatever_its_capitals(data: Path) -> None:
    with open_to_amend(data) as connection:
        add_bots(connection, "Bob", "ann", "eve", "Cleo", "dan")
        found: list[str] = []
        while page := bots.list_bots(connection, limit=2, after=found[-1] if found else ""):
            found += [row.name for row in page]
    assert found == ["ann", "Bob", "Cleo", "dan", "eve"]


def test_pages_of_a_bot_have_every_match_once_also_where_it_has_several_seats(data: Path) -> None:
    with open_to_amend(data) as connection:
        ann, bob = add_bots(connection, "ann", "bob")
        begun = [begin(connection, players) for players in ([ann, bob], [bob, ann, ann], [bob, bob], [ann, bob, ann])]
        for match_id in reversed(begun):
            finish(connection, match_id, range(1, 1 + len(matches.seated(connection, match_id))))
        listed: list[int] = []
        while page := matches.list_matches(connection, bot="Ann", limit=2, before=listed[-1] if listed else None):
            listed += [row.match_id for row in page]
        assert listed == [begun[3], begun[1], begun[0]]
        newest = standings.history(connection, "ann", GAME, limit=2)
        older = standings.history(connection, "ann", GAME, limit=2, before=min(row.match_id for row in newest))
    assert [row.match_id for row in newest] == [begun[3], begun[1]], "in the order they were rated"
    assert [row.match_id for row in older] == [begun[0]]


async def test_the_processor_time_of_a_read_is_charged_to_the_call_that_waits_for_it(directory: Path) -> None:
    def job(_: Connection) -> None:
        end = thread_time() + 0.05
        while thread_time() < end:
            pass

    charged: list[float] = []
    async with open_store(directory, NOW) as store:

        async def handler() -> None:
            await store.read(job)

        await metered(handler(), charged.append)
    assert 0.05 <= sum(charged) < 0.2
