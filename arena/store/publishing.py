"""The published ladders: what the last fit made of each game's events, kept bit for bit."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from arena.ladder.events import Entrant, Node
from arena.ladder.fortune import Fortune
from arena.ladder.ladder import Figure, Ladder, Line
from arena.ladder.live import start
from arena.ladder.reseat import moved_on
from arena.store import events, schema

_RATINGS: Final = schema.ratings.c
_LINES: Final = schema.standings.c
_RANKS: Final = ("rank", "rank_low", "rank_high", "best")
_FORTUNE: Final = ("plain", "plain_error", "adjusted", "adjusted_error")


def publish(connection: Connection, game: str, ladder: Ladder, at: int) -> bool:
    """Makes a ladder the published one and seats the live ratings on it; False where a later one is published already.

    What has happened since the ladder's last event moves the live ratings on from there.
    """
    if through(connection, game) > ladder.through:
        return False
    connection.execute(delete(schema.standings).where(_LINES.game == game))
    connection.execute(delete(schema.ladders).where(schema.ladders.c.game == game))
    row = {"game": game, "through": ladder.through, "digest": ladder.digest, "at": at, "replayed": ladder.replayed}
    connection.execute(insert(schema.ladders).values(row))
    lines = {line.node: {name: getattr(line, name) for name in _RANKS} for line in ladder.lines}
    luck = {each.node: _luck(each) for each in ladder.fortunes}
    unranked, unknown = dict.fromkeys(_RANKS), dict.fromkeys(("replayed", *_FORTUNE))
    rows = [
        {"game": game, **figure._asdict(), "provisional": int(figure.provisional)}
        | lines.get(figure.node, unranked)
        | luck.get(figure.node, unknown)
        for figure in ladder.figures
    ]
    if rows:
        connection.execute(insert(schema.standings), rows)
    _reseat(connection, game, ladder)
    return True


def through(connection: Connection, game: str) -> int:
    """The number of the last event in the published ladder of a game; 0 before the first fit."""
    return connection.scalar(select(schema.ladders.c.through).where(schema.ladders.c.game == game)) or 0


def replayed(connection: Connection, game: str) -> int:
    """The number of the last baseline in the published ladder of a game; 0 before the first fit with one."""
    return connection.scalar(select(schema.ladders.c.replayed).where(schema.ladders.c.game == game)) or 0


def as_published(connection: Connection, game: str) -> Ladder | None:
    """The published ladder of a game; None before the first fit."""
    row = connection.execute(select(schema.ladders).where(schema.ladders.c.game == game)).one_or_none()
    if row is None:
        return None
    found = connection.execute(select(schema.standings).where(_LINES.game == game).order_by(_LINES.node)).all()
    lines = [
        Line(
            Node(line.node),
            line.rating,
            line.error,
            line.rank,
            line.rank_low,
            line.rank_high,
            line.best,
            line.matches,
            line.opponents,
            bool(line.provisional),
        )
        for line in found
        if line.rank is not None
    ]
    return Ladder(
        tuple(sorted(lines, key=lambda line: (line.rank, line.node))),
        tuple(
            Figure(Node(line.node), line.rating, line.error, line.matches, line.opponents, line.own) for line in found
        ),
        row.through,
        row.digest,
        tuple(
            Fortune(Node(line.node), line.replayed, line.plain, line.plain_error, line.adjusted, line.adjusted_error)
            for line in found
            if line.replayed is not None
        ),
        row.replayed,
    )


def _luck(fortune: Fortune) -> dict[str, float | None]:
    return {"replayed": fortune.matches, **{name: getattr(fortune, name) for name in _FORTUNE}}


def _reseat(connection: Connection, game: str, ladder: Ladder) -> None:
    versions = connection.execute(select(schema.versions.c.id, schema.versions.c.parent))
    entrants = [Entrant(Node(row.id), row.parent) for row in versions]
    ratings = moved_on(ladder, entrants, events.read(connection, game, after=ladder.through))
    rated = connection.scalars(select(_RATINGS.node).where(_RATINGS.game == game)).all()
    move = update(schema.ratings).where(_RATINGS.game == game, _RATINGS.node == bindparam("of_node"))
    seated = {node: ratings.get(node, start(None)) for node in rated}
    rows = [{"of_node": node, "rating": each.value, "deviation": each.deviation} for node, each in seated.items()]
    if rows:
        connection.execute(move, rows)
