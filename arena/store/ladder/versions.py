"""The versions of bots, which are the nodes that a ladder rates. A bot that has changed reports a new version.

A version is stored with its first match. Its parent is the bot's newest version at that time. A bot that reports an
older version again plays as that version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import Connection, bindparam, func, insert, select

from arena.ladder.events import OFF_SCALE, Entrant, Guest, Node
from arena.store import schema
from arena.store.base.statements import Statement, cache
from arena.store.bots.bots import BotId

_COLUMNS: Final = schema.versions.c
_KNOWN: Final = Statement(
    select(_COLUMNS.id).where(_COLUMNS.bot_id == bindparam("of_bot"), _COLUMNS.version == bindparam("said"))
)
_CACHED: Final = 10_000
"""Maximum number of versions cached per connection."""
_NEWEST: Final = select(func.max(_COLUMNS.id)).where(_COLUMNS.bot_id == bindparam("of_bot"))


def seat(connection: Connection, players: Sequence[tuple[BotId, str]], at: int) -> tuple[Node, ...]:
    """Return the nodes of bots with their reported versions.

    New versions are stored as created at the time `at`.
    """
    nodes: dict[tuple[BotId, str], Node] = cache(connection).setdefault(_KNOWN, {})
    if len(nodes) > _CACHED:
        nodes.clear()
    for player in players:
        if player not in nodes:
            bot, said = player
            row = _KNOWN.run(connection, {"of_bot": bot, "said": said}).fetchone()
            nodes[player] = _add(connection, bot, said, at) if row is None else Node(row[0])
    return tuple(nodes[player] for player in players)


def entrants(connection: Connection, latest: Mapping[Node, int]) -> tuple[Entrant, ...]:
    """Return the entrants of a ladder, by node: the versions that have a result in it.

    `latest` maps each version to its newest match on the ladder. A bot is represented by the version of its latest
    match, even if the bot has gone back to an older version. An entrant's parent is its nearest ancestor with a result.
    House bots anchor the scale, with two exceptions. The random bot is so weak that it would push the other ratings far
    away from 1500. Bots that search may join or leave a ladder, which must not shift the scale.
    """
    rows = connection.execute(select(schema.versions, schema.bots.c.house, schema.bots.c.name).join(schema.bots)).all()
    parents = {row.id: row.parent for row in rows}
    newest: dict[int, tuple[int, int]] = {}
    for row in rows:
        if row.id in latest:
            newest[row.bot_id] = max(newest.get(row.bot_id, (0, 0)), (latest[row.id], row.id))

    def parent(node: int | None) -> Node | None:
        while node is not None and node not in latest:
            node = parents[node]
        return None if node is None else Node(node)

    return tuple(
        Entrant(
            Node(row.id),
            parent(row.parent),
            anchor=bool(row.house) and row.name not in OFF_SCALE,
            newest=newest[row.bot_id][1] == row.id,
        )
        for row in sorted(rows, key=lambda row: row.id)
        if row.id in latest
    )


def guests(connection: Connection) -> dict[Node, Guest]:
    """Return the bot and owner of each version, without the versions of house bots."""
    bot = schema.bots.c
    query = select(_COLUMNS.id, _COLUMNS.bot_id, bot.owner).join(schema.bots).where(bot.house == 0)
    return {Node(row.id): Guest(row.bot_id, row.owner.lower() or str(row.bot_id)) for row in connection.execute(query)}


def titles(connection: Connection) -> dict[Node, tuple[BotId, str]]:
    """Return the bot and the reported version of every node."""
    rows = connection.execute(select(_COLUMNS.id, _COLUMNS.bot_id, _COLUMNS.version))
    return {Node(row.id): (BotId(row.bot_id), row.version) for row in rows}


def _add(connection: Connection, bot: BotId, version: str, at: int) -> Node:
    row = {"bot_id": bot, "version": version, "created": at}
    row["parent"] = connection.scalar(_NEWEST, {"of_bot": bot})
    return Node(connection.execute(insert(schema.versions).values(row).returning(_COLUMNS.id)).scalar_one())
