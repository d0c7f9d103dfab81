"""When each version played first and last in a game, and flags: published ladders have none until they are fitted."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

revision = "0010"
down_revision = "0007"

Int = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Real: TypeEngine[float] = sa.Double().with_variant(sa.REAL(), "sqlite")


def upgrade() -> None:
    """Adds columns and tables, and fills the columns from the results."""
    _played()
    _flags()


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
