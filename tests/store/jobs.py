"""Short forms of a server's jobs for the store, and checks of conditions that always hold in the store."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from hashlib import sha256

from sqlalchemy import Connection, select

from arena.ladder import live
from arena.ladder.events import MatchResult
from arena.ladder.ladder import NO_QUOTA, Quota
from arena.ladder.live import Rating, RatingChange
from arena.replay.hash_chain import PackedReplay
from arena.store import schema
from arena.store.bots import bots
from arena.store.bots.bots import BotId
from arena.store.ladder import events
from arena.store.matches import matches
from arena.store.matches.matches import MatchId
from arena.store.replays import replays

NOW = 1_700_000_000_000_000
GAME = "whist"


def add_bots(connection: Connection, *names: str) -> list[BotId]:
    return [bots.register(connection, name, "", NOW).bot.id for name in names]


def begin(
    connection: Connection,
    players: Sequence[BotId],
    game: str = GAME,
    match_id: int | None = None,
    node: int | None = None,
) -> MatchId:
    return matches.begin(connection, game, {"rounds": 3}, players, NOW, match_id, node=node)


def finish(
    connection: Connection,
    match_id: MatchId,
    places: Sequence[int],
    at: int = NOW + 1,
    spoilt: Sequence[bool] = (),
    more: bytes = b"",
    quota: Quota = NO_QUOTA,
) -> tuple[RatingChange, ...]:
    """Finish a match. `more` is appended to its replay."""
    scores = [10 - place for place in places]
    return matches.finish(
        connection,
        match_id,
        scores=scores,
        places=places,
        forced=[0] * len(places),
        counts=[True] * len(places),
        spoilt=spoilt,
        at=at,
        quota=quota,
        replay=lambda changes: PackedReplay(replay(changes).content + more, None),
    )


def replay(changes: tuple[RatingChange, ...]) -> PackedReplay:
    return PackedReplay(gzip.compress(repr(changes).encode(), mtime=0), sha256(repr(changes).encode()).digest())


def audit(connection: Connection) -> set[int]:
    """Return the finished matches. Check that each is complete and that the ratings follow exactly from them."""
    finished = set()
    steps: dict[tuple[int, str], dict[Rating, Rating]] = {}
    for row in connection.execute(select(schema.matches)).all():
        of_match = schema.match_seats.c.match_id == row.id
        seats = connection.execute(select(schema.match_seats).where(of_match).order_by(schema.match_seats.c.seat)).all()
        stored = connection.execute(select(schema.replays).where(schema.replays.c.match_id == row.id)).all()
        assert [seat.seat for seat in seats] == list(range(row.seats))
        if row.state != "finished":
            assert stored == []
            assert {(seat.score, seat.place, seat.rating_before, seat.rating_after) for seat in seats} == {(None,) * 4}
            continue
        finished.add(row.id)
        changes = tuple(
            RatingChange(
                Rating(seat.rating_before, seat.deviation_before), Rating(seat.rating_after, seat.deviation_after)
            )
            for seat in seats
        )
        players = [seat.node for seat in seats]
        result = events.result_of(connection, row.id)
        assert result == MatchResult(
            result.number,
            row.id,
            tuple(players),
            tuple(seat.place for seat in seats),
            (True,) * len(seats),
            (),
            result.day,
        )
        after = live.update([change.before for change in changes], [seat.place for seat in seats], players)
        assert after == tuple(change.after for change in changes)
        assert len(stored) == 1
        content = replays.content(connection, row.id)
        assert content is not None
        assert content.startswith(replay(changes).content)
        for player, change in dict(zip(players, changes, strict=True)).items():
            own = steps.setdefault((player, row.ladder), {})
            assert change.before not in own, "two matches moved the same rating"
            own[change.before] = change.after
    ratings = connection.execute(select(schema.ratings)).all()
    assert {(row.node, row.ladder) for row in ratings} == steps.keys()
    for row in ratings:
        own, at = steps[row.node, row.ladder], live.NEW
        for _ in range(row.matches):
            at = own[at]
        assert (at, row.matches) == (Rating(row.rating, row.deviation), len(own))
    return finished
