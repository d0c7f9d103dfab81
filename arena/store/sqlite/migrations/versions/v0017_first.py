"""The oldest schema that is updated. No migration makes it: a new database is created with the newest schema."""

revision = "0017"
down_revision = None


def upgrade() -> None:
    """Change nothing: migrations begin with a database that has this schema."""
