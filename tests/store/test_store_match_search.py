"""Searches among matches: every filter compared with a plain scan, page by page, and the cost of a page."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random

import pytest
import trio
from sqlalchemy import Connection, insert, text

from arena.store import schema
from arena.store.base.rows import MatchRow, MatchState, microseconds
from arena.store.matches import matches
from arena.store.matches import search as match_search
from arena.store.matches.search import SEARCHED, MatchFilter, NoSuchSearch, search
from arena.store.opening import open_readonly, open_to_amend
from arena.store.store import open_store
from tests.store.jobs import GAME, NOW, add_bots, replay

GAMES = (GAME, "nullern")


async def make(directory: Path) -> None:
    async with open_store(directory, NOW):
        pass


def fill(connection: Connection, count: int) -> list[MatchRow]:
    """Store matches of four bots with random properties. Return them, newest first."""
    chance = Random(7)
    bots = add_bots(connection, "Ada", "Bob", "Eve", "Ida")
    for number in range(count):
        players = chance.choices(bots, k=chance.choice([2, 3, 4]))
        match_id = matches.begin(connection, chance.choice(GAMES), {}, players, 1000 * number)
        match chance.randrange(6):
            case 0:
                matches.interrupt(connection, [match_id], "the server was stopped", 1000 * number + 1)
            case 1:
                pass
            case _:
                scores = [chance.randrange(4) for _ in players]
                matches.finish(
                    connection,
                    match_id,
                    scores=scores,
                    places=[1 + sum(other > score for other in scores) for score in scores],
                    forced=[chance.choice([0, 0, 3]) for _ in players],
                    counts=[True] * len(players),
                    spoilt=[chance.random() < 0.2 for _ in players],
                    at=1000 * number + 1,
                    replay=replay,
                )
    return list(matches.list_matches(connection, limit=1000))


def fits(row: MatchRow, wanted: MatchFilter) -> bool:
    """Return True if a match fits a filter, computed as simply as possible."""
    own = [seat for seat in row.seats if seat.bot == wanted.bot]
    last = max((seat.place or 0 for seat in row.seats), default=0)
    others = [seat.bot for seat in row.seats]
    if wanted.opponent == wanted.bot and own:
        others.remove(wanted.bot)
    at = microseconds(row.started)
    return all(
        [
            not wanted.game or row.game == wanted.game,
            not wanted.bot or own,
            not wanted.opponent or wanted.opponent in others,
            not wanted.seats or len(row.seats) == wanted.seats,
            wanted.since is None or at >= wanted.since,
            wanted.until is None or at < wanted.until,
            not wanted.faults or any(seat.forced or seat.spoilt for seat in own),
            not wanted.lost or any((seat.place or 0) > 1 and seat.place == last for seat in own),
            wanted.state is None or row.state is wanted.state,
        ]
    )


def paged(connection: Connection, wanted: MatchFilter, limit: int) -> list[MatchRow]:
    found: list[MatchRow] = []
    before = None
    while True:
        page = search(connection, wanted, limit, before)
        assert len(page.matches) <= limit
        found += page.matches
        if page.next is None:
            return found
        assert before is None or page.next < before, "it gets on"
        before = page.next


FILTERS = [
    MatchFilter(),
    MatchFilter(game=GAME),
    MatchFilter(bot="Ada"),
    MatchFilter(game="nullern", bot="Ada"),
    MatchFilter(bot="Ada", opponent="Eve"),
    MatchFilter(bot="Ada", opponent="Ada"),
    MatchFilter(bot="Bob", faults=True),
    MatchFilter(bot="Bob", lost=True),
    MatchFilter(bot="Bob", lost=True, faults=True, opponent="Ida", seats=4),
    MatchFilter(seats=3),
    MatchFilter(since=50_000, until=120_000),
    MatchFilter(bot="Ida", since=50_001),
    MatchFilter(until=0),
    MatchFilter(state=MatchState.PLAYING),
    MatchFilter(state=MatchState.INTERRUPTED, game=GAME),
    MatchFilter(bot="Ida", state=MatchState.FINISHED, seats=2),
]


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Connection, list[MatchRow]]]:
    """A directory with 200 matches that tests only read."""
    directory = tmp_path_factory.mktemp("history") / "data"
    trio.run(partial(make, directory))
    with open_to_amend(directory) as connection:
        everything = fill(connection, 200)
    with open_readonly(directory) as connection:
        yield connection, everything


@pytest.mark.parametrize("searched", [3, SEARCHED])
@pytest.mark.parametrize("wanted", FILTERS, ids=str)
def test_every_filter_finds_what_a_plain_look_finds(
    history: tuple[Connection, list[MatchRow]], wanted: MatchFilter, searched: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(match_search, "SEARCHED", searched)
    connection, everything = history
    expected = [row.match_id for row in everything if fits(row, wanted)]
    found = [row.match_id for row in paged(connection, wanted, 7)]
    assert found == expected
    assert expected or wanted.until == 0, "a filter that finds nothing tells nothing"


def test_a_bot_that_nobody_knows_has_no_matches_and_one_that_is_not_named_is_asked_for(data: Path) -> None:
    with open_to_amend(data) as connection:
        fill(connection, 5)
        for wanted in (MatchFilter(bot="Nobody", lost=True), MatchFilter(bot="Ada", opponent="Nobody")):
            assert search(connection, wanted) == match_search.MatchPage((), None)
        for wanted, asked in (
            (MatchFilter(opponent="Ada"), "an opponent"),
            (MatchFilter(faults=True), "faults"),
            (MatchFilter(lost=True), "lost matches"),
        ):
            with pytest.raises(NoSuchSearch, match=f"a search for {asked} needs a bot"):
                search(connection, wanted)


@pytest.mark.sqlite_only("it counts SQLite's steps")
@pytest.mark.thorough
def test_a_page_costs_the_same_however_long_the_history_is(data: Path) -> None:
    """The cost is counted in steps of SQLite's virtual machine, which do not depend on the load of this machine."""
    costs: dict[int, list[int]] = {}
    # clients expect that a bot's matches of one game, without other filters, are searched to the end
    wanted = [each for each in FILTERS if each != MatchFilter(game="nullern", bot="Ada")]
    with open_to_amend(data) as connection:
        ada, bob, *_ = add_bots(connection, "Ada", "Bob", "Eve", "Ida")
        matches.begin(connection, GAME, {}, [ada, bob], 0)  # the list of versions remains
        for size in (6_000, 60_000):
            _lengthen(connection, size)
            costs[size] = [_steps(connection, partial(search, wanted=each)) for each in wanted]
    for each, short, long in zip(wanted, *costs.values(), strict=True):
        assert long < 1.5 * short + 2000, f"{each}: {short} steps in 6,000 matches, {long} in 60,000"


def _lengthen(connection: Connection, size: int) -> None:
    """Add finished matches of two bots, up to match number `size`. No bot loses, and no decision is forced."""
    first = matches.newest(connection) + 1
    rows = [
        {
            "id": number,
            "game": GAME,
            "ladder": GAME,
            "options": "{}",
            "seats": 2,
            "state": "finished",
            "started": 20 * number,
            "reason": "",
        }
        for number in range(first, size + 1)
    ]
    connection.execute(insert(schema.matches), rows)
    connection.execute(
        text(
            "insert into match_seats (match_id, seat, bot_id, node, forced, place, score, spoilt)"
            " select matches.id, seat, bot_id, match_seats.node, 0, 1, 0, 0 from matches, match_seats"
            " where match_seats.match_id = 1 and matches.id >= :first"
        ),
        {"first": first},
    )


def _steps(connection: Connection, query: partial[match_search.MatchPage]) -> int:
    driver = connection.connection.dbapi_connection
    assert driver is not None
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    driver.set_progress_handler(count, 10)
    try:
        query(connection)
    finally:
        driver.set_progress_handler(None, 0)
    return 10 * steps
