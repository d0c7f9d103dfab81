"""The log, without a leaf yet: the first start makes those of the results that stand (`arena.store.log.adoption`)."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

Int = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

APPEND_ONLY: Final = (
    "CREATE TRIGGER log_stay BEFORE UPDATE ON log BEGIN SELECT RAISE(ABORT, 'log are only added'); END",
    "CREATE TRIGGER log_remain BEFORE DELETE ON log BEGIN SELECT RAISE(ABORT, 'log are only added'); END",
    "CREATE TRIGGER log_follow BEFORE INSERT ON log"
    " WHEN NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM log)"
    " BEGIN SELECT RAISE(ABORT, 'log are numbered without a gap'); END",
)


def upgrade() -> None:
    """Makes the tables, empty."""
    completes = "hashes of the subtrees that it completes, its own first"
    op.create_table(
        "log",
        sa.Column("number", Int, primary_key=True, comment="1, 2, …"),
        sa.Column("match_id", Int, sa.ForeignKey("matches.id"), comment="none where it is about no match"),
        sa.Column("leaf", sa.Text, nullable=False, comment="its canonical bytes, which are UTF-8"),
        sa.Column("nodes", sa.LargeBinary, nullable=False, comment=completes),
        sqlite_strict=True,
    )
    op.create_index("ix_log_match_id", "log", ["match_id"])
    op.create_table(
        "log_head",
        sa.Column("only", Int, sa.CheckConstraint("only = 1", name="only"), primary_key=True),
        sa.Column("size", Int, nullable=False, comment="of how many leaves"),
        sa.Column("root", sa.LargeBinary, nullable=False),
        sa.Column("signature", sa.LargeBinary, nullable=False),
        sqlite_strict=True,
    )
    for trigger in APPEND_ONLY:
        op.execute(trigger)
