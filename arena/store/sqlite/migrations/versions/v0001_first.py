"""Bots, invitations, matches, seats, ratings and replays."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

revision = "0001"
down_revision = None

Int = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Real: TypeEngine[float] = sa.Double().with_variant(sa.REAL(), "sqlite")


def upgrade() -> None:
    """Makes the tables."""
    op.create_table(
        "bots",
        sa.Column("id", Int, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False, unique=True, comment="the name in lower case"),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("house", Int, sa.CheckConstraint("house IN (0, 1)", name="house"), nullable=False),
        sa.Column("token_hash", sa.LargeBinary, unique=True, comment="SHA-256; none for house bots"),
        sa.Column("registered", Int, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "invitations",
        sa.Column("code_hash", sa.LargeBinary, primary_key=True),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("created", Int, nullable=False),
        sa.Column("used_by", Int, sa.ForeignKey("bots.id")),
        sqlite_strict=True,
    )
    op.create_table(
        "matches",
        sa.Column("id", Int, primary_key=True),
        sa.Column("game", sa.Text, nullable=False),
        sa.Column("options", sa.Text, nullable=False, comment="JSON"),
        sa.Column("seats", Int, nullable=False),
        sa.Column(
            "state",
            sa.Text,
            sa.CheckConstraint("state IN ('playing', 'finished', 'interrupted')", name="state"),
            nullable=False,
        ),
        sa.Column("started", Int, nullable=False),
        sa.Column("ended", Int),
        sa.Column("reason", sa.Text, nullable=False, comment="why it was interrupted, else empty"),
        sqlite_strict=True,
    )
    op.create_index("ix_matches_game_id", "matches", ["game", "id"])
    op.create_index("ix_matches_state", "matches", ["state"])
    op.create_table(
        "match_seats",
        sa.Column("match_id", Int, sa.ForeignKey("matches.id"), primary_key=True),
        sa.Column("seat", Int, primary_key=True),
        sa.Column("bot_id", Int, sa.ForeignKey("bots.id"), nullable=False),
        sa.Column("score", Int),
        sa.Column("place", Int),
        sa.Column("forced", Int, nullable=False, comment="decisions the server made"),
        sa.Column("rating_before", Real),
        sa.Column("deviation_before", Real),
        sa.Column("rating_after", Real),
        sa.Column("deviation_after", Real),
        sqlite_strict=True,
    )
    op.create_index("ix_match_seats_bot_id_match_id", "match_seats", ["bot_id", "match_id"])
    op.create_table(
        "ratings",
        sa.Column("bot_id", Int, sa.ForeignKey("bots.id"), primary_key=True),
        sa.Column("game", sa.Text, primary_key=True),
        sa.Column("rating", Real, nullable=False),
        sa.Column("deviation", Real, nullable=False),
        sa.Column("matches", Int, nullable=False),
        sa.Column("wins", Int, nullable=False),
        sa.Column("rank_sum", Real, nullable=False),
        sa.Column("last_change", Real, nullable=False),
        sqlite_strict=True,
    )
    op.create_index("ix_ratings_game", "ratings", ["game"])
    op.create_table(
        "replays",
        sa.Column("match_id", Int, sa.ForeignKey("matches.id"), primary_key=True),
        sa.Column("content", sa.LargeBinary, nullable=False, comment="the gzip file"),
        sa.Column("sha256", sa.LargeBinary, nullable=False, comment="of the content"),
        sqlite_strict=True,
    )
