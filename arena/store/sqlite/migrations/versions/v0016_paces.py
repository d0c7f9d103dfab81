"""Paces and balances of bots, which a server kept in memory only: no bot has any."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

revision = "0016"
down_revision = "0015"

Int = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Real: TypeEngine[float] = sa.Double().with_variant(sa.REAL(), "sqlite")


def upgrade() -> None:
    """Makes the table, empty."""
    op.create_table(
        "paces",
        sa.Column("bot_id", Int, sa.ForeignKey("bots.id"), primary_key=True),
        sa.Column("pace", Real, nullable=False, comment="mean seconds owed for a decision, at the instant"),
        sa.Column("at", Int, nullable=False),
        sa.Column("balance", Real, nullable=False, comment="seconds that it may wait for much slower ones"),
        sqlite_strict=True,
    )
