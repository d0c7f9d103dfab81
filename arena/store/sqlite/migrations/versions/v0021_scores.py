"""The sum of scores in each version's totals, computed from the seats whose results count."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

revision = "0021"
down_revision = "0020"

Real: TypeEngine[float] = sa.Double().with_variant(sa.REAL(), "sqlite")
SUMS = """
WITH played AS (
    SELECT seats.node AS node, result.game AS game, AVG(seats.score) AS points
    FROM match_seats AS seats JOIN events AS result ON result.match_id = seats.match_id AND result.kind = 'result'
    WHERE NOT EXISTS (SELECT 1 FROM events AS void WHERE void.match_id = seats.match_id AND void.kind = 'void')
    GROUP BY seats.match_id, seats.node, result.game
    HAVING MAX(substr(result.counts, seats.seat + 1, 1)) = '1'
), sums AS (SELECT node, game, SUM(points) AS points FROM played GROUP BY node, game)
UPDATE ratings SET score_sum = COALESCE(
    (SELECT points FROM sums WHERE sums.node = ratings.node AND sums.game = ratings.game), 0
)
"""


def upgrade() -> None:
    """Add the column and compute the sums."""
    comment = "by match, the mean over its seats"
    op.add_column("ratings", sa.Column("score_sum", Real, nullable=False, server_default="0", comment=comment))
    op.execute(SUMS)
