"""The flags of a published ladder with the names of those whom they are about."""

from __future__ import annotations

from sqlalchemy import Connection, select

from arena.ladder.ladder import FlagKind
from arena.store import schema
from arena.store.base.rows import FlagRow


def standing_out(connection: Connection, game: str) -> tuple[FlagRow, ...]:
    """Return the flags of a game's last fit, the most certain first. Hidden and deleted bots are without owner."""
    flag, bot, other = schema.flags.c, schema.bots.alias("bot"), schema.bots.alias("other")
    own, its = schema.versions.alias("own"), schema.versions.alias("its")
    joined = schema.flags.join(own, own.c.id == flag.node).join(bot, bot.c.id == own.c.bot_id)
    joined = joined.outerjoin(its, its.c.id == flag.other).outerjoin(other, other.c.id == its.c.bot_id)
    query = select(flag.kind, flag.matches, flag.size, flag.errors, own.c.version, bot.c.name, bot.c.owner)
    query = query.add_columns(bot.c.hidden, other.c.name.label("other"), other.c.owner.label("other_owner"))
    query = query.add_columns(other.c.hidden.label("other_hidden")).select_from(joined)
    rows = connection.execute(query.where(flag.game == game).order_by(flag.number))
    return tuple(
        FlagRow(
            kind=FlagKind(row.kind),
            bot=row.name,
            version=row.version if row.kind == FlagKind.CHANGE.value else "",
            owner=row.owner if row.hidden is None else "",
            other=row.other or "",
            other_owner=(row.other_owner or "") if row.other_hidden is None else "",
            matches=row.matches,
            size=row.size,
            errors=row.errors,
        )
        for row in rows
    )
