"""Ladders: the keys that were games become ladder ids. For all existing rows, the ladder id is the game's name.

Renaming rewrites no row, and only `matches` gets a column that is filled.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

revision = "0023"
down_revision = "0022"

Int = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Real: TypeEngine[float] = sa.Double().with_variant(sa.REAL(), "sqlite")
KEYED = ("ratings", "pair_days", "rated_results", "baselines", "ladders", "standings", "kept_ladders", "flags")
GUARDS = ("stay", "remain", "follow")
TRIGGERS = (
    "CREATE TRIGGER rated_results_stay BEFORE UPDATE ON rated_results"
    " BEGIN SELECT RAISE(ABORT, 'rated_results are only added'); END",
    "CREATE TRIGGER rated_results_remain BEFORE DELETE ON rated_results"
    " BEGIN SELECT RAISE(ABORT, 'rated_results are only added'); END",
    "CREATE TRIGGER rated_results_follow BEFORE INSERT ON rated_results WHEN NEW.number <>"
    " (SELECT coalesce(max(number), 0) + 1 FROM rated_results WHERE ladder = NEW.ladder)"
    " BEGIN SELECT RAISE(ABORT, 'rated_results are numbered without a gap'); END",
)
DEFINITIONS = (
    ("matches", "'rated', 'casual', 'challenge')", "'rated', 'casual', 'challenge', 'event')"),
    ("matches", "ladder TEXT DEFAULT '' NOT NULL", "ladder TEXT NOT NULL"),
    ("rated_results", "_events", "_rated_results"),
    ("standings", "fk_standings_game", "fk_standings_ladder"),
    ("flags", "fk_flags_game", "fk_flags_ladder"),
)
"""Changes of the tables' definitions that SQLite could otherwise make only by copying each table."""


def upgrade() -> None:
    """Rename the keys, and add the columns and tables of ladders."""
    for guard in GUARDS:
        op.execute(f"DROP TRIGGER events_{guard}")
    op.rename_table("events", "rated_results")
    for table in KEYED:
        op.execute(f"ALTER TABLE {table} RENAME COLUMN game TO ladder")
    for trigger in TRIGGERS:
        op.execute(trigger)
    for old, new, table, columns in (
        ("ix_ratings_game", "ix_ratings_ladder", "ratings", ["ladder"]),
        ("ix_kept_ladders_game_at", "ix_kept_ladders_ladder_at", "kept_ladders", ["ladder", "at"]),
    ):
        op.drop_index(old)
        op.create_index(new, table, columns)
    op.add_column("matches", sa.Column("ladder", sa.Text, nullable=False, server_default=""))
    op.execute("UPDATE matches SET ladder = game")
    op.create_index("ix_matches_ladder_id", "matches", ["ladder", "id"])
    _invitations()
    _tables()
    op.execute("PRAGMA writable_schema = ON")
    for table, old, new in DEFINITIONS:
        change = sa.text(
            "UPDATE sqlite_schema SET sql = replace(sql, :old, :new) WHERE type = 'table' AND name = :name"
        )
        op.execute(change.bindparams(old=old, new=new, name=table))
    op.execute("PRAGMA writable_schema = RESET")


def _invitations() -> None:
    op.add_column("invitations", sa.Column("number", Int, nullable=False, server_default="0"))
    op.add_column("invitations", sa.Column("ladder", sa.Text, nullable=False, server_default=""))
    op.add_column("invitations", sa.Column("expires", Int))
    op.add_column("invitations", sa.Column("revoked", Int))
    op.execute(
        "UPDATE invitations SET number = numbered.number FROM (SELECT code_hash, row_number() OVER"
        " (ORDER BY created, code_hash) AS number FROM invitations) AS numbered"
        " WHERE numbered.code_hash = invitations.code_hash"
    )
    op.create_index("ix_invitations_number", "invitations", ["number"], unique=True)


def _tables() -> None:
    op.create_table(
        "bot_ladders",
        sa.Column("bot_id", Int, sa.ForeignKey("bots.id"), primary_key=True),
        sa.Column("ladder", sa.Text, primary_key=True),
        sa.Column("entered", Int),
        sa.Column("troubles", sa.Text, nullable=False, server_default="[]"),
        sa.Column("parked", Int),
        sa.Column("forgiven", Int, nullable=False, server_default="0"),
        sqlite_strict=True,
    )
    op.create_table(
        "seasons",
        sa.Column("ladder", sa.Text, primary_key=True),
        sa.Column("number", Int, primary_key=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("begun", Int, nullable=False),
        sqlite_strict=True,
    )
    op.rename_table("paces", "paces_of_before")
    op.create_table(
        "paces",
        sa.Column("bot_id", Int, sa.ForeignKey("bots.id"), primary_key=True),
        sa.Column("ladder", sa.Text, primary_key=True),
        sa.Column("pace", Real, nullable=False),
        sa.Column("at", Int, nullable=False),
        sa.Column("balance", Real, nullable=False),
        sqlite_strict=True,
    )
    op.execute("INSERT INTO paces SELECT bot_id, '', pace, at, balance FROM paces_of_before")
    op.drop_table("paces_of_before")
