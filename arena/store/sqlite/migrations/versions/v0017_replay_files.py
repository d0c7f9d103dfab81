"""Where each replay is: as yet all that are not pruned are in their rows. The next start moves them into files."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

Int = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Adds the columns, and counts what there is."""
    op.add_column("replays", sa.Column("segment", Int, server_default="0", comment="its file; none once it is pruned"))
    op.add_column("replays", sa.Column("start", Int, nullable=False, server_default="0"))
    op.add_column("replays", sa.Column("length", Int, nullable=False, server_default="0"))
    op.execute("UPDATE replays SET segment = NULL WHERE length(content) = 0")
    op.create_table(
        "replay_segments",
        sa.Column("number", Int, primary_key=True),
        sa.Column("game", sa.Text, primary_key=True),
        sa.Column("kept", Int, nullable=False),
        sa.Column("pruned", Int, nullable=False),
        sa.Column("bytes", Int, nullable=False, comment="of those kept"),
        sa.Column("size", Int, nullable=False, comment="where the last of them ends in the file"),
        sqlite_strict=True,
    )
    op.execute(
        "INSERT INTO replay_segments SELECT 0, game, sum(length(content) > 0), sum(length(content) = 0),"
        " sum(length(content)), 0 FROM replays JOIN matches ON matches.id = match_id GROUP BY game"
    )
