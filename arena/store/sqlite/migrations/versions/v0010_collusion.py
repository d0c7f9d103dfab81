"""When each version played first and last; flags, which ladders have from their next fit on; quotas of pairs."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

revision = "0010"
down_revision = "0009"

Int = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Real: TypeEngine[float] = sa.Double().with_variant(sa.REAL(), "sqlite")


def upgrade() -> None:
    """Adds columns and tables, and fills the columns from the results."""
    _played()
    _flags()
    _quota()


def _played() -> None:
    op.add_column("ratings", sa.Column("first_at", Int, comment="when its first result was stored"))
    op.add_column("ratings", sa.Column("last_at", Int, comment="when its last result was stored"))
    op.execute(
        "UPDATE ratings SET first_at = played.first_at, last_at = played.last_at FROM"
        " (SELECT node, game, min(at) AS first_at, max(at) AS last_at FROM match_seats JOIN events USING (match_id)"
        " WHERE kind = 'result' GROUP BY node, game) AS played"
        " WHERE ratings.node = played.node AND ratings.game = played.game"
    )


def _flags() -> None:
    kind = sa.CheckConstraint("kind IN ('pair', 'owners', 'lift', 'change')", name="kind")
    op.create_table(
        "flags",
        sa.Column("game", sa.Text, sa.ForeignKey("ladders.game"), primary_key=True),
        sa.Column("number", Int, primary_key=True, comment="1 for the most certain one"),
        sa.Column("kind", sa.Text, kind, nullable=False),
        sa.Column("node", Int, sa.ForeignKey("versions.id"), nullable=False),
        sa.Column("other", Int, sa.ForeignKey("versions.id")),
        sa.Column("matches", Int, nullable=False),
        sa.Column("size", Real, nullable=False, comment="mean score beyond the expected one, or Elo"),
        sa.Column("errors", Real, nullable=False, comment="the same in standard errors"),
        sqlite_strict=True,
    )


def _quota() -> None:
    comment = "matches of a day that two guests count; 0 for all"
    op.add_column("ladders", sa.Column("pair_quota", Int, nullable=False, server_default="0", comment=comment))
    op.create_table(
        "pair_days",
        sa.Column("game", sa.Text, primary_key=True),
        sa.Column("day", Int, primary_key=True, comment="in UTC, in days since 1970"),
        sa.Column("first", Int, sa.ForeignKey("bots.id"), primary_key=True),
        sa.Column("second", Int, sa.ForeignKey("bots.id"), primary_key=True),
        sa.Column("matches", Int, nullable=False),
        sqlite_strict=True,
    )
