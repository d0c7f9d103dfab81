"""Seats that house bots played too much of: results from before have none, since they counted by another rule."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

Int = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Adds the columns; no seat of an earlier match is marked."""
    comment = "a digit a seat, 1 where it moves no opponent's rating; empty where no seat is so"
    op.add_column("events", sa.Column("spoilt", sa.Text, nullable=False, server_default="", comment=comment))
    allowed = sa.CheckConstraint("spoilt IN (0, 1)", name="spoilt")
    comment = "house bots played too much of it to move its opponents' ratings"
    marked = sa.Column("spoilt", Int, allowed, nullable=False, server_default="0", comment=comment)
    op.add_column("match_seats", marked)
