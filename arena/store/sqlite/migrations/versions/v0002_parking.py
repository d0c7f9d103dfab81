"""Parked bots: what led to it, since when, and what is forgiven."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

Int = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Adds the columns; no bot is parked."""
    troubles = "JSON: troubled matches in a row"
    forgiven = "no match up to this one counts as troubled"
    op.add_column("bots", sa.Column("troubles", sa.Text, nullable=False, server_default="[]", comment=troubles))
    op.add_column("bots", sa.Column("parked", Int, comment="since when, if it is"))
    op.add_column("bots", sa.Column("forgiven", Int, nullable=False, server_default="0", comment=forgiven))
