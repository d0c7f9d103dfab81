"""The versions of bots: what the ladder rates. A version is frozen; a bot that changes says another.

One begins with the first match that its bot plays as it. Its parent is the bot's newest version at that time; a bot
that says an older version again is that one again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import Connection, bindparam, func, insert, select

from arena.house import random_bot
from arena.ladder.events import Entrant, Node
from arena.store import schema
from arena.store.bots import BotId
from arena.store.prepared import Prepared

_COLUMNS: Final = schema.versions.c
_KNOWN: Final = Prepared(
    select(_COLUMNS.id).where(_COLUMNS.bot_id == bindparam("of_bot"), _COLUMNS.version == bindparam("said"))
)
_NEWEST: Final = select(func.max(_COLUMNS.id)).where(_COLUMNS.bot_id == bindparam("of_bot"))


def seat(connection: Connection, players: Sequence[tuple[BotId, str]], at: int) -> tuple[Node, ...]:
    """The nodes of bots with the versions they say; those that are not known yet are added at the instant `at`."""
    nodes: dict[tuple[BotId, str], Node] = {}
    for player in players:
        if player not in nodes:
            bot, said = player
            row = _KNOWN.run(connection, {"of_bot": bot, "said": said}).fetchone()
            nodes[player] = _add(connection, bot, said, at) if row is None else Node(row[0])
    return tuple(nodes[player] for player in players)


def entrants(connection: Connection, latest: Mapping[Node, int]) -> tuple[Entrant, ...]:
    """Those of a ladder, by node: every version that has a result in it.

    `latest` has each one's highest match there. A bot stands on the ladder as the version of its latest match, so that
    one that goes back to an older version stands as that. A parent that has no result there is passed over. The house's
    bots hold the scale, but for the random one: it is so far below all others that their mean would not be near 1500.
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
            anchor=bool(row.house) and row.name != random_bot.NAME,
            newest=newest[row.bot_id][1] == row.id,
        )
        for row in sorted(rows, key=lambda row: row.id)
        if row.id in latest
    )


def titles(connection: Connection) -> dict[Node, tuple[BotId, str]]:
    """Of every node, the bot and the version that it said."""
    rows = connection.execute(select(_COLUMNS.id, _COLUMNS.bot_id, _COLUMNS.version))
    return {Node(row.id): (BotId(row.bot_id), row.version) for row in rows}


def _add(connection: Connection, bot: BotId, version: str, at: int) -> Node:
    row = {"bot_id": bot, "version": version, "created": at}
    row["parent"] = connection.scalar(_NEWEST, {"of_bot": bot})
    return Node(connection.execute(insert(schema.versions).values(row).returning(_COLUMNS.id)).scalar_one())
