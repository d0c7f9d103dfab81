"""Nodes: four more tables, and a column that names the node of a match. No existing row changes."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"

Int = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the tables and add the column."""
    op.add_column("matches", sa.Column("node", Int))
    op.create_table(
        "nodes",
        sa.Column("number", Int, primary_key=True),
        sa.Column("address", sa.Text, nullable=False),
        sa.Column("program", sa.Text, nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("identity", sa.Text, nullable=False),
        sa.Column("session", sa.Text, nullable=False),
        sa.Column("started", Int, nullable=False),
        sa.Column("lease_until", Int, nullable=False),
        sa.Column(
            "state",
            sa.Text,
            sa.CheckConstraint("state IN ('registered', 'lost', 'released')", name="state"),
            nullable=False,
        ),
        sa.Column("last_number", Int, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "leases",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("node", Int, sa.ForeignKey("nodes.number"), nullable=False),
        sa.Column("until", Int, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "changes",
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("subject", sa.Text, primary_key=True),
        sa.Column("number", Int, nullable=False, unique=True),
        sqlite_strict=True,
    )
    op.create_table(
        "allowances",
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("full", Int, nullable=False),
        sqlite_strict=True,
    )
    op.create_index("ix_allowances_full", "allowances", ["full"])
