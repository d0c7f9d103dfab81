"""The tables. Instants are microseconds since 1970; secrets are there as SHA-256 only; results are only added."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    REAL,
    BigInteger,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)
from sqlalchemy.types import TypeEngine

REVISION: Final = "0002"
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
    Column("bot_id", Int, ForeignKey("bots.id"), primary_key=True),
    Column("game", Text, primary_key=True),
    Column("rating", Real, nullable=False),
    Column("deviation", Real, nullable=False),
    Column("matches", Int, nullable=False),
    Column("wins", Int, nullable=False),
    Column("rank_sum", Real, nullable=False),
    Column("last_change", Real, nullable=False),
    Index(None, "game"),
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
