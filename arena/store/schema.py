"""The tables. Instants are microseconds since 1970; secrets are there as SHA-256 only; results are only added."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    REAL,
    BigInteger,
    CheckConstraint,
    Column,
    Connection,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    event,
)
from sqlalchemy.types import TypeEngine

REVISION: Final = "0004"
"""The newest migration: the schema that this program reads and writes."""

# SQLite's STRICT tables take INTEGER, REAL, TEXT and BLOB only; elsewhere instants need 64 bits and ratings a double.
Int = BigInteger().with_variant(Integer(), "sqlite")
Real: TypeEngine[float] = Double().with_variant(REAL(), "sqlite")

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

bots = Table(
    "bots",
    metadata,
    Column("id", Int, primary_key=True),
    Column("name", Text, nullable=False),
    Column("key", Text, nullable=False, unique=True, comment="the name in lower case"),
    Column("owner", Text, nullable=False),
    Column("house", Int, CheckConstraint("house IN (0, 1)", name="house"), nullable=False),
    Column("token_hash", LargeBinary, unique=True, comment="SHA-256; none for house bots"),
    Column("registered", Int, nullable=False),
    Column("troubles", Text, nullable=False, server_default="[]", comment="JSON: troubled matches in a row"),
    Column("parked", Int, comment="since when, if it is"),
    Column("forgiven", Int, nullable=False, server_default="0", comment="no match up to this one counts as troubled"),
    sqlite_strict=True,
)

invitations = Table(
    "invitations",
    metadata,
    Column("code_hash", LargeBinary, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("created", Int, nullable=False),
    Column("used_by", Int, ForeignKey("bots.id")),
    sqlite_strict=True,
)

versions = Table(
    "versions",
    metadata,
    Column("id", Int, primary_key=True, comment="the ladder's node"),
    Column("bot_id", Int, ForeignKey("bots.id"), nullable=False),
    Column("version", Text, nullable=False, comment="what the bot says; perhaps empty"),
    Column("parent", Int, ForeignKey("versions.id"), comment="the bot's newest version when this one came"),
    Column("created", Int, nullable=False),
    UniqueConstraint("bot_id", "version"),
    sqlite_strict=True,
)

matches = Table(
    "matches",
    metadata,
    Column("id", Int, primary_key=True),
    Column("game", Text, nullable=False),
    Column("options", Text, nullable=False, comment="JSON"),
    Column("seats", Int, nullable=False),
    Column(
        "state",
        Text,
        CheckConstraint("state IN ('playing', 'finished', 'interrupted')", name="state"),
        nullable=False,
    ),
    Column("started", Int, nullable=False),
    Column("ended", Int),
    Column("reason", Text, nullable=False, comment="why it was interrupted, else empty"),
    Index(None, "game", "id"),
    Index(None, "state"),
    sqlite_strict=True,
)

match_seats = Table(
    "match_seats",
    metadata,
    Column("match_id", Int, ForeignKey("matches.id"), primary_key=True),
    Column("seat", Int, primary_key=True),
    Column("bot_id", Int, ForeignKey("bots.id"), nullable=False),
    Column("node", Int, ForeignKey("versions.id"), nullable=False),
    Column("score", Int),
    Column("place", Int),
    Column("forced", Int, nullable=False, comment="decisions the server made"),
    Column("rating_before", Real),
    Column("deviation_before", Real),
    Column("rating_after", Real),
    Column("deviation_after", Real),
    Index(None, "bot_id", "match_id"),
    sqlite_strict=True,
)

ratings = Table(
    "ratings",
    metadata,
    Column("node", Int, ForeignKey("versions.id"), primary_key=True),
    Column("game", Text, primary_key=True),
    Column("rating", Real, nullable=False),
    Column("deviation", Real, nullable=False),
    Column("matches", Int, nullable=False),
    Column("wins", Int, nullable=False),
    Column("rank_sum", Real, nullable=False),
    Column("last_change", Real, nullable=False),
    Column("decisions", Int, nullable=False, server_default="0"),
    Column("missed", Int, nullable=False, server_default="0", comment="decisions that others made for it"),
    Column("think", Text, nullable=False, server_default="{}", comment="JSON: a histogram of think times"),
    Index(None, "game"),
    sqlite_strict=True,
)

events = Table(
    "events",
    metadata,
    Column("game", Text, primary_key=True),
    Column("number", Int, primary_key=True, comment="1, 2, … in each game"),
    Column("match_id", Int, ForeignKey("matches.id"), nullable=False),
    Column("kind", Text, CheckConstraint("kind IN ('result', 'void')", name="kind"), nullable=False),
    Column("at", Int, nullable=False),
    Column("reason", Text, nullable=False, comment="why a result is void, else empty"),
    Column("nodes", Text, nullable=False, comment="by seat, with commas; of a void none"),
    Column("places", Text, nullable=False, comment="a digit a seat"),
    Column("counts", Text, nullable=False, comment="a digit a seat, 1 where the result counts for the node"),
    UniqueConstraint("match_id", "kind"),
    sqlite_strict=True,
)
"""The ladder's source. The database itself refuses to change or remove a row, and to leave out a number."""
APPEND_ONLY: Final = (
    "CREATE TRIGGER events_stay BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are only added'); END",
    "CREATE TRIGGER events_remain BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are only added'); END",
    "CREATE TRIGGER events_follow BEFORE INSERT ON events"
    " WHEN NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM events WHERE game = NEW.game)"
    " BEGIN SELECT RAISE(ABORT, 'events are numbered without a gap'); END",
)


@event.listens_for(events, "after_create")
def _guard(_: Table, connection: Connection, **__: object) -> None:
    for trigger in APPEND_ONLY:
        connection.exec_driver_sql(trigger)


baselines = Table(
    "baselines",
    metadata,
    Column("game", Text, primary_key=True),
    Column("number", Int, primary_key=True, comment="1, 2, … in each game"),
    Column("match_id", Int, ForeignKey("matches.id"), nullable=False, unique=True),
    Column("house", Text, nullable=False, comment="the bots that replayed, with versions and commas"),
    Column("scores", Text, nullable=False, comment="sums over these bots, by seat, with commas"),
    sqlite_strict=True,
)

ladders = Table(
    "ladders",
    metadata,
    Column("game", Text, primary_key=True),
    Column("through", Int, nullable=False, comment="the number of the last event it is made of"),
    Column("digest", Text, nullable=False, comment="SHA-256 of all figures"),
    Column("at", Int, nullable=False),
    Column(
        "replayed",
        Int,
        nullable=False,
        server_default="0",
        comment="the number of the last baseline in its luck column",
    ),
    sqlite_strict=True,
)

standings = Table(
    "standings",
    metadata,
    Column("game", Text, ForeignKey("ladders.game"), primary_key=True),
    Column("node", Int, ForeignKey("versions.id"), primary_key=True),
    Column("rating", Real, nullable=False),
    Column("error", Real, nullable=False, comment="standard error"),
    Column("own", Real, nullable=False, comment="the same without that of the scale"),
    Column("rank", Int, comment="none where another version of the bot stands on the ladder"),
    Column("rank_low", Int),
    Column("rank_high", Int),
    Column("best", Real, comment="the probability that it is the best"),
    Column("matches", Int, nullable=False),
    Column("opponents", Int, nullable=False),
    Column("provisional", Int, nullable=False),
    Column("replayed", Int, comment="matches with a baseline; none before the first"),
    Column("plain", Real),
    Column("plain_error", Real),
    Column("adjusted", Real),
    Column("adjusted_error", Real),
    sqlite_strict=True,
)

replays = Table(
    "replays",
    metadata,
    Column("match_id", Int, ForeignKey("matches.id"), primary_key=True),
    Column("content", LargeBinary, nullable=False, comment="the gzip file"),
    Column("sha256", LargeBinary, nullable=False, comment="of the content"),
    sqlite_strict=True,
)
