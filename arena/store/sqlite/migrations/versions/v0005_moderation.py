"""All names of bots, bans, hidden and deleted bots, and the list of what the operator does, which begins empty."""

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
    """Makes the tables and adds the columns; no bot is hidden or deleted."""
    op.add_column("bots", sa.Column("hidden", Int, comment="since when, if it is"))
    deleted = "since when, if it is; then it has neither token nor owner"
    op.add_column("bots", sa.Column("deleted", Int, comment=deleted))
    op.create_table(
        "names",
        sa.Column("key", sa.Text, primary_key=True, comment="the name in lower case"),
        sa.Column("bot_id", Int, sa.ForeignKey("bots.id"), nullable=False),
        sqlite_strict=True,
    )
    op.execute("INSERT INTO names (key, bot_id) SELECT key, id FROM bots ORDER BY id")
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
        sa.Column(
            "kind",
            sa.Text,
            sa.CheckConstraint("kind IN ('banned', 'unbanned', 'hidden', 'shown', 'deleted', 'renamed')", name="kind"),
            nullable=False,
        ),
        sa.Column("name", sa.Text, nullable=False, comment="of the bot or owner, as it was before"),
        sa.Column("new_name", sa.Text, comment="of a bot that was renamed"),
        sa.Column("reason", sa.Text, nullable=False, comment="perhaps empty"),
        sqlite_strict=True,
    )
    for trigger in APPEND_ONLY:
        op.execute(trigger)
