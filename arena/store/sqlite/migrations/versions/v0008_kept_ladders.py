"""Published ladders of the past, of which there are none yet."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

revision = "0008"
down_revision = "0007"

Int = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Real: TypeEngine[float] = sa.Double().with_variant(sa.REAL(), "sqlite")


def upgrade() -> None:
    """Makes the tables, empty."""
    op.create_table(
        "kept_ladders",
        sa.Column("id", Int, primary_key=True),
        sa.Column("game", sa.Text, nullable=False),
        sa.Column("at", Int, nullable=False, comment="when it was published"),
        sa.Column("through", Int, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("scale_error", Real, nullable=False),
        sqlite_strict=True,
    )
    op.create_index("ix_kept_ladders_game_at", "kept_ladders", ["game", "at"])
    op.create_table(
        "kept_standings",
        sa.Column("ladder_id", Int, sa.ForeignKey("kept_ladders.id"), primary_key=True),
        sa.Column("node", Int, sa.ForeignKey("versions.id"), primary_key=True),
        sa.Column("rating", Real, nullable=False),
        sa.Column("error", Real, nullable=False),
        sa.Column("shrunk", Real, nullable=False),
        sa.Column("shrunk_error", Real, nullable=False),
        sa.Column("rank", Int, nullable=False),
        sa.Column("rank_low", Int, nullable=False),
        sa.Column("rank_high", Int, nullable=False),
        sa.Column("best", Real, nullable=False),
        sa.Column("matches", Int, nullable=False),
        sa.Column("opponents", Int, nullable=False),
        sqlite_strict=True,
    )
