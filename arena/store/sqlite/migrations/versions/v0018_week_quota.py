"""The weekly quota under which a ladder was fitted. Earlier ladders had none."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"

Int = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the column."""
    column = sa.Column("pair_week_quota", Int, nullable=False, server_default="0", comment="the same of a week")
    op.add_column("ladders", column)
