"""Flags of bots that score better than predicted against many opponents. Existing flags stay."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

revision = "0019"
down_revision = "0018"

Int = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Real: TypeEngine[float] = sa.Double().with_variant(sa.REAL(), "sqlite")


def upgrade() -> None:
    """Recreate the table, because a table's constraint cannot be changed."""
    op.rename_table("flags", "flags_of_before")
    op.create_table(
        "flags",
        sa.Column("game", sa.Text, sa.ForeignKey("ladders.game"), primary_key=True),
        sa.Column("number", Int, primary_key=True, comment="1 for the most certain one"),
        sa.Column(
            "kind",
            sa.Text,
            sa.CheckConstraint("kind IN ('pair', 'owners', 'lift', 'opponents', 'change')", name="kind"),
            nullable=False,
        ),
        sa.Column("node", Int, sa.ForeignKey("versions.id"), nullable=False),
        sa.Column("other", Int, sa.ForeignKey("versions.id")),
        sa.Column("matches", Int, nullable=False),
        sa.Column("size", Real, nullable=False, comment="mean score beyond the expected one, or Elo"),
        sa.Column("errors", Real, nullable=False, comment="the same in standard errors"),
        sqlite_strict=True,
    )
    op.execute("INSERT INTO flags SELECT * FROM flags_of_before")
    op.drop_table("flags_of_before")
