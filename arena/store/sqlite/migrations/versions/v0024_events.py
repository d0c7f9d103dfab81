"""Events: four more tables. No row of another table changes."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"

Int = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "events",
        sa.Column("id", Int, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("ladder", sa.Text, nullable=False),
        sa.Column("seats", Int, nullable=False),
        sa.Column("format", sa.Text, sa.CheckConstraint("format IN ('race', 'all')", name="format"), nullable=False),
        sa.Column("matches", Int),
        sa.Column("seconds", Int),
        sa.Column("entry", sa.Text, sa.CheckConstraint("entry IN ('open', 'invited')", name="entry"), nullable=False),
        sa.Column("start", Int, nullable=False),
        sa.Column(
            "state",
            sa.Text,
            sa.CheckConstraint("state IN ('announced', 'playing', 'finished', 'cancelled')", name="state"),
            nullable=False,
        ),
        sa.Column("seed", sa.LargeBinary, nullable=False),
        sa.Column("earlier", sa.Text, nullable=False, server_default="[]"),
        sa.Column("result", sa.Text, nullable=False, server_default=""),
        sqlite_strict=True,
    )
    op.create_table(
        "event_entrants",
        sa.Column("event_id", Int, sa.ForeignKey("events.id"), primary_key=True),
        sa.Column("bot_id", Int, sa.ForeignKey("bots.id"), primary_key=True),
        sa.Column("entered", Int, nullable=False),
        sa.Column("name", sa.Text, nullable=False, server_default=""),
        sa.Column("nonce", sa.LargeBinary),
        sqlite_strict=True,
    )
    op.create_table(
        "event_rolls",
        sa.Column("event_id", Int, sa.ForeignKey("events.id"), primary_key=True),
        sa.Column("number", Int, primary_key=True),
        sa.Column("at", Int, nullable=False),
        sa.Column("present", sa.Text, nullable=False),
        sa.Column("used", Int, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "event_matches",
        sa.Column("match_id", Int, sa.ForeignKey("matches.id"), primary_key=True),
        sa.Column("event_id", Int, sa.ForeignKey("events.id"), nullable=False),
        sa.Column("number", Int, nullable=False),
        sqlite_strict=True,
    )
    op.create_index("ix_event_matches_event_id_number", "event_matches", ["event_id", "number"])
