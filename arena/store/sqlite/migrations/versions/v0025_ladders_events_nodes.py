"""Quotas, sums of scores, leaves of seats, ladders, events and nodes. One migration makes all changes since 0017.

Keys that were games become ladder ids. For all existing rows, the ladder id is the game's name. Renaming rewrites no
row; `matches`, `match_seats` and `ratings` get columns that are filled. Existing flags stay, and earlier ladders had
neither a weekly quota nor young bots.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

revision = "0025"
down_revision = "0017"

Int = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Real: TypeEngine[float] = sa.Double().with_variant(sa.REAL(), "sqlite")
KEYED = ("ratings", "pair_days", "rated_results", "baselines", "ladders", "standings", "kept_ladders")
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
)
"""Changes to the tables' definitions that SQLite could otherwise make only by copying each table."""
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

LEAVES = "UPDATE match_seats SET leaf = (SELECT MIN(number) FROM log WHERE log.match_id = match_seats.match_id)"


def upgrade() -> None:
    """Fill the new columns from the old tables, rename the keys, and add the other columns and tables."""
    _totals()
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
    op.add_column("matches", sa.Column("node", Int))
    _invitations()
    _flags()
    _ladders()
    _events()
    _nodes()
    op.execute("PRAGMA writable_schema = ON")
    for table, old, new in DEFINITIONS:
        change = sa.text(
            "UPDATE sqlite_schema SET sql = replace(sql, :old, :new) WHERE type = 'table' AND name = :name"
        )
        op.execute(change.bindparams(old=old, new=new, name=table))
    op.execute("PRAGMA writable_schema = RESET")


def _totals() -> None:
    """Add the columns that are filled from the oldest tables."""
    comment = "by match, the mean over its seats"
    op.add_column("ratings", sa.Column("score_sum", Real, nullable=False, server_default="0", comment=comment))
    op.execute(SUMS)
    comment = "number of the leaf with which the match ended"
    op.add_column("match_seats", sa.Column("leaf", Int, nullable=True, comment=comment))
    op.execute(LEAVES)
    op.create_index("ix_match_seats_bot_id_leaf", "match_seats", ["bot_id", "leaf"])
    column = sa.Column("pair_week_quota", Int, nullable=False, server_default="0", comment="the same of a week")
    op.add_column("ladders", column)
    comment = "days in which bots are young, which count together; 0 for none"
    op.add_column("ladders", sa.Column("pair_young_days", Int, nullable=False, server_default="0", comment=comment))


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


def _flags() -> None:
    """Recreate the table, because a table's constraint cannot be changed."""
    op.rename_table("flags", "flags_of_before")
    op.create_table(
        "flags",
        sa.Column("ladder", sa.Text, sa.ForeignKey("ladders.ladder"), primary_key=True),
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


def _ladders() -> None:
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


def _events() -> None:
    op.create_table(
        "events",
        sa.Column("id", Int, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("ladder", sa.Text, nullable=False),
        sa.Column("seats", Int, nullable=False),
        sa.Column("format", sa.Text, sa.CheckConstraint("format IN ('race', 'all')", name="format"), nullable=False),
        sa.Column("matches", Int),
        sa.Column("seconds", Int),
        sa.Column("entry", sa.Text, sa.CheckConstraint("entry IN ('open', 'invited')", name="entry"), nullable=False),
        sa.Column("start", Int, nullable=False),
        sa.Column(
            "state",
            sa.Text,
            sa.CheckConstraint("state IN ('announced', 'playing', 'finished', 'cancelled')", name="state"),
            nullable=False,
        ),
        sa.Column("seed", sa.LargeBinary, nullable=False),
        sa.Column("earlier", sa.Text, nullable=False, server_default="[]"),
        sa.Column("result", sa.Text, nullable=False, server_default=""),
        sqlite_strict=True,
    )
    op.create_table(
        "event_entrants",
        sa.Column("event_id", Int, sa.ForeignKey("events.id"), primary_key=True),
        sa.Column("bot_id", Int, sa.ForeignKey("bots.id"), primary_key=True),
        sa.Column("entered", Int, nullable=False),
        sa.Column("name", sa.Text, nullable=False, server_default=""),
        sa.Column("nonce", sa.LargeBinary),
        sqlite_strict=True,
    )
    op.create_table(
        "event_rolls",
        sa.Column("event_id", Int, sa.ForeignKey("events.id"), primary_key=True),
        sa.Column("number", Int, primary_key=True),
        sa.Column("at", Int, nullable=False),
        sa.Column("present", sa.Text, nullable=False),
        sa.Column("used", Int, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "event_matches",
        sa.Column("match_id", Int, sa.ForeignKey("matches.id"), primary_key=True),
        sa.Column("event_id", Int, sa.ForeignKey("events.id"), nullable=False),
        sa.Column("number", Int, nullable=False),
        sqlite_strict=True,
    )
    op.create_index("ix_event_matches_event_id_number", "event_matches", ["event_id", "number"])


def _nodes() -> None:
    op.create_table(
        "nodes",
        sa.Column("number", Int, primary_key=True),
        sa.Column("address", sa.Text, nullable=False),
        sa.Column("program", sa.Text, nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("identity", sa.Text, nullable=False),
        sa.Column("session", sa.Text, nullable=False),
        sa.Column("started", Int, nullable=False),
        sa.Column("lease_until", Int, nullable=False),
        sa.Column(
            "state",
            sa.Text,
            sa.CheckConstraint("state IN ('registered', 'lost', 'released')", name="state"),
            nullable=False,
        ),
        sa.Column("last_number", Int, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "leases",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("node", Int, sa.ForeignKey("nodes.number"), nullable=False),
        sa.Column("until", Int, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "changes",
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("subject", sa.Text, primary_key=True),
        sa.Column("number", Int, nullable=False, unique=True),
        sqlite_strict=True,
    )
    op.create_table(
        "allowances",
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("full", Int, nullable=False),
        sqlite_strict=True,
    )
    op.create_index("ix_allowances_full", "allowances", ["full"])
