"""The number of days for which bots count as young under a ladder's quota; zero for earlier ladders."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"

Int = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the column."""
    comment = "days in which bots are young, which count together; 0 for none"
    op.add_column("ladders", sa.Column("pair_young_days", Int, nullable=False, server_default="0", comment=comment))
