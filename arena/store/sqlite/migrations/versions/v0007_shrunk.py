"""Published ladders with shrunk ratings and the scale's error. None is kept: the next start fits them anew."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

revision = "0007"
down_revision = "0006"

Int = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Real: TypeEngine[float] = sa.Double().with_variant(sa.REAL(), "sqlite")


def upgrade() -> None:
    """Makes the tables of published ladders anew, empty; live ratings stay."""
    op.drop_table("standings")
    op.drop_table("ladders")
    replayed = "the number of the last baseline in its luck column"
    op.create_table(
        "ladders",
        sa.Column("game", sa.Text, primary_key=True),
        sa.Column("through", Int, nullable=False, comment="the number of the last event it is made of"),
        sa.Column("digest", sa.Text, nullable=False, comment="SHA-256 of all figures"),
        sa.Column("at", Int, nullable=False),
        sa.Column("replayed", Int, nullable=False, server_default="0", comment=replayed),
        sa.Column("scale_error", Real, nullable=False, comment="standard error that all ratings have in common"),
        sa.Column("centre", Real, nullable=False, comment="of the strengths, which ratings are shrunk towards"),
        sa.Column("spread", Real, nullable=False, comment="of the strengths about it"),
        sqlite_strict=True,
    )
    shown = "the rating shown; none where another version of the bot stands on the ladder"
    op.create_table(
        "standings",
        sa.Column("game", sa.Text, sa.ForeignKey("ladders.game"), primary_key=True),
        sa.Column("node", Int, sa.ForeignKey("versions.id"), primary_key=True),
        sa.Column("rating", Real, nullable=False),
        sa.Column("error", Real, nullable=False, comment="standard error, without that of the scale"),
        sa.Column("shrunk", Real, comment=shown),
        sa.Column("shrunk_error", Real),
        sa.Column("rank", Int),
        sa.Column("rank_low", Int),
        sa.Column("rank_high", Int),
        sa.Column("best", Real, comment="the probability that it is the best"),
        sa.Column("matches", Int, nullable=False),
        sa.Column("opponents", Int, nullable=False),
        sa.Column("replayed", Int, comment="matches with a baseline; none before the first"),
        sa.Column("plain", Real),
        sa.Column("plain_error", Real),
        sa.Column("adjusted", Real),
        sa.Column("adjusted_error", Real),
        sqlite_strict=True,
    )
