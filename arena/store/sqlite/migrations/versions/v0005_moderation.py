"""Banned owners, and the list of what the operator does about bots and owners. Both begin empty."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

Int = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

APPEND_ONLY: Final = (
    "CREATE TRIGGER bot_events_stay BEFORE UPDATE ON bot_events"
    " BEGIN SELECT RAISE(ABORT, 'bot_events are only added'); END",
    "CREATE TRIGGER bot_events_remain BEFORE DELETE ON bot_events"
    " BEGIN SELECT RAISE(ABORT, 'bot_events are only added'); END",
    "CREATE TRIGGER bot_events_follow BEFORE INSERT ON bot_events"
    " WHEN NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM bot_events)"
    " BEGIN SELECT RAISE(ABORT, 'bot_events are numbered without a gap'); END",
)


def upgrade() -> None:
    """Makes the tables."""
    op.create_table(
        "bans",
        sa.Column("key", sa.Text, primary_key=True, comment="the owner in lower case"),
        sa.Column("reason", sa.Text, nullable=False, comment="perhaps empty"),
        sqlite_strict=True,
    )
    op.create_table(
        "bot_events",
        sa.Column("number", Int, primary_key=True, comment="1, 2, …"),
        sa.Column("at", Int, nullable=False),
        sa.Column("kind", sa.Text, sa.CheckConstraint("kind IN ('banned', 'unbanned')", name="kind"), nullable=False),
        sa.Column("name", sa.Text, nullable=False, comment="of the bot or owner, as it was before"),
        sa.Column("reason", sa.Text, nullable=False, comment="perhaps empty"),
        sqlite_strict=True,
    )
    for trigger in APPEND_ONLY:
        op.execute(trigger)
