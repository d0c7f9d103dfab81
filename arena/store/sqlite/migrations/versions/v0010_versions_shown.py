"""When each version played first and last in a game."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0007"

Int = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Adds the columns, and fills them from the results."""
    op.add_column("ratings", sa.Column("first_at", Int, comment="when its first result was stored"))
    op.add_column("ratings", sa.Column("last_at", Int, comment="when its last result was stored"))
    op.execute(
        "UPDATE ratings SET first_at = played.first_at, last_at = played.last_at FROM"
        " (SELECT node, game, min(at) AS first_at, max(at) AS last_at FROM match_seats JOIN events USING (match_id)"
        " WHERE kind = 'result' GROUP BY node, game) AS played"
        " WHERE ratings.node = played.node AND ratings.game = played.game"
    )
