"""The number of the log leaf with which a match ended, by seat.

A returning bot sends this number to request missed reports.
"""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"

Int = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

LEAVES = """
UPDATE match_seats SET leaf = (SELECT MIN(number) FROM log WHERE log.match_id = match_seats.match_id)
"""


def upgrade() -> None:
    """Add the column, fill it from the log, and add its index."""
    comment = "number of the leaf with which the match ended"
    op.add_column("match_seats", sa.Column("leaf", Int, nullable=True, comment=comment))
    op.execute(LEAVES)
    op.create_index("ix_match_seats_bot_id_leaf", "match_seats", ["bot_id", "leaf"])
