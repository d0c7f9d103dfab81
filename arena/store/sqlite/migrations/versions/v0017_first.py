"""The oldest schema, from which migrations start.

No migration creates it, because a new database gets the newest schema.
"""

revision = "0017"
down_revision = None


def upgrade() -> None:
    """Change nothing, because migrations start from a database with this schema."""
