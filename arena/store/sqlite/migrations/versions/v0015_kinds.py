"""The kinds of matches: of those that are over, one with a result that moved no rating was casual."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0011"


def upgrade() -> None:
    """Adds the column, and fills it; of a match that was interrupted the kind is not known, and it counts as rated."""
    allowed = sa.CheckConstraint("kind IN ('rated', 'casual', 'challenge')", name="kind")
    op.add_column("matches", sa.Column("kind", sa.Text, allowed, nullable=False, server_default="rated"))
    op.execute(
        "UPDATE matches SET kind = 'casual' WHERE state = 'finished'"
        " AND NOT EXISTS (SELECT 1 FROM match_seats WHERE match_id = matches.id AND rating_after IS NOT NULL)"
    )
