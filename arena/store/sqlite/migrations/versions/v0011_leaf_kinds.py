"""The kind of each leaf of the log in a column, so that the few that are asked for are found by the index."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

LEAVES_STAY: Final = "CREATE TRIGGER log_stay BEFORE UPDATE ON log BEGIN SELECT RAISE(ABORT, 'log are only added'); END"


def upgrade() -> None:
    """Adds the column and fills it from the leaves."""
    op.add_column("log", sa.Column("kind", sa.Text, nullable=False, server_default="", comment="of the leaf"))
    op.execute("DROP TRIGGER log_stay")
    op.execute("UPDATE log SET kind = json_extract(leaf, '$.kind')")
    op.execute(LEAVES_STAY)
    op.drop_index("ix_log_match_id", "log")
    op.create_index("ix_log_match_id_kind", "log", ["match_id", "kind"])
