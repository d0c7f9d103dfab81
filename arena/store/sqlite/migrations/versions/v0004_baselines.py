"""The house's scores on the deals of matches, and the luck column of published ladders. Both begin empty."""

from typing import Final

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

revision = "0004"
down_revision = "0003"

Int = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Real: TypeEngine[float] = sa.Double().with_variant(sa.REAL(), "sqlite")

FIGURES: Final = ("plain", "plain_error", "adjusted", "adjusted_error")


def upgrade() -> None:
    """Makes the table and adds the columns."""
    op.create_table(
        "baselines",
        sa.Column("game", sa.Text, primary_key=True),
        sa.Column("number", Int, primary_key=True, comment="1, 2, … in each game"),
        sa.Column("match_id", Int, sa.ForeignKey("matches.id"), nullable=False, unique=True),
        sa.Column("house", sa.Text, nullable=False, comment="the bots that replayed, with versions and commas"),
        sa.Column("scores", sa.Text, nullable=False, comment="sums over these bots, by seat, with commas"),
        sqlite_strict=True,
    )
    replayed = "the number of the last baseline in its luck column"
    op.add_column("ladders", sa.Column("replayed", Int, nullable=False, server_default="0", comment=replayed))
    op.add_column("standings", sa.Column("replayed", Int, comment="matches with a baseline; none before the first"))
    for figure in FIGURES:
        op.add_column("standings", sa.Column(figure, Real))
