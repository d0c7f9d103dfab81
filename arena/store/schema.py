"""The tables. Times are in microseconds since 1970; secrets are stored only as SHA-256; results are append-only.

A column `ladder` contains a ladder's id, which is the game's name for the first season of the game's default ladder. In
`invitations`, `bot_ladders`, `paces`, `seasons` and `events` it contains a ladder's name, which all seasons share.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ColumnElement,
    Double,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    bindparam,
    func,
    literal_column,
    select,
)
from sqlalchemy.types import TypeEngine

REVISION: Final = "0025"
"""The revision of the newest migration. It identifies the schema that this program reads and writes."""
OLDEST: Final = "0017"
"""The oldest schema that can be migrated to the newest one."""
FIRST: Final = "0025"
"""The first schema after `OLDEST` that can be migrated. No release had the schemas between them."""

Int = BigInteger  # Times need 64 bits.
Real = Double

APPEND_ONLY: Final = "append_only"
"""Key of a table's `info` for its `AppendOnly`, which the database then enforces."""


class AppendOnly(NamedTuple):
    """A table whose rows are never changed or deleted, and are numbered from 1 without gaps."""

    number: str
    """Name of the column with the rows' numbers."""
    within: str | None = None
    """Name of a column. Rows are numbered separately for each of its values; None if they are numbered together."""


def next_number(table: Table) -> ColumnElement[int]:
    """Return an SQL expression for the next number on the ladder that the parameter `of_ladder` names.

    The transaction must hold the write lock.
    """
    highest = select(func.max(table.c.number)).where(table.c.ladder == bindparam("of_ladder")).scalar_subquery()
    number: ColumnElement[int] = func.coalesce(highest, literal_column("0")) + literal_column("1")
    return number


def _one_of(name: str, *values: str, server_default: str | None = None) -> Column[str]:
    """Return a text column restricted to these values."""
    listed = ", ".join(f"'{value}'" for value in values)
    return Column(
        name, Text, CheckConstraint(f"{name} IN ({listed})", name=name), nullable=False, server_default=server_default
    )


def _filled(name: str, kind: type[TypeEngine[Any]], default: str, comment: str | None = None) -> Column[Any]:
    """Return a column with a default for rows that do not set it, such as those from before the column existed."""
    return Column(name, kind, nullable=False, server_default=default, comment=comment)


metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

bots = Table(
    "bots",
    metadata,
    Column("id", Int, primary_key=True),
    Column("name", Text, nullable=False),
    Column("key", Text, nullable=False, unique=True, comment="the name in lower case"),
    Column("owner", Text, nullable=False),
    Column("house", Int, CheckConstraint("house IN (0, 1)", name="house"), nullable=False),
    Column("token_hash", LargeBinary, unique=True, comment="SHA-256; none for house bots"),
    Column("registered", Int, nullable=False),
    _filled("troubles", Text, "[]", "JSON: troubled matches in a row"),
    Column("parked", Int, comment="instant since which it is; none if it is not"),
    _filled("forgiven", Int, "0", "no match up to this one counts as troubled"),
    Column("hidden", Int, comment="instant since which it is; none if it is not"),
    Column("deleted", Int, comment="instant since which it is; then it has neither token nor owner"),
)

names = Table(
    "names",
    metadata,
    Column("key", Text, primary_key=True, comment="the name in lower case"),
    Column("bot_id", Int, ForeignKey("bots.id"), nullable=False),
)
"""Every name that a bot has or had. A name belongs to its first bot forever."""

invitations = Table(
    "invitations",
    metadata,
    Column("code_hash", LargeBinary, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("created", Int, nullable=False),
    Column("used_by", Int, ForeignKey("bots.id")),
    _filled("number", Int, "0", "1, 2, …"),
    _filled("ladder", Text, "", "ladder that it opens; empty for registration only"),
    Column("expires", Int, comment="instant from which it is refused; none if it does not expire"),
    Column("revoked", Int, comment="instant since which it is; none if it is not"),
    Index(None, "number", unique=True),
)

bot_ladders = Table(
    "bot_ladders",
    metadata,
    Column("bot_id", Int, ForeignKey("bots.id"), primary_key=True),
    Column("ladder", Text, primary_key=True),
    Column("entered", Int, comment="instant of its entry by invitation; none without one"),
    _filled("troubles", Text, "[]", "as in `bots`, of matches of this ladder"),
    Column("parked", Int, comment="as in `bots`"),
    _filled("forgiven", Int, "0", "as in `bots`"),
)
"""Entry and parking of bots by ladder. For parking, the default ladders of all games share columns of `bots`."""

bans = Table(
    "bans",
    metadata,
    Column("key", Text, primary_key=True, comment="the owner in lower case"),
    Column("reason", Text, nullable=False, comment="may be empty"),
)
"""The owners that are currently banned."""

bot_events = Table(
    "bot_events",
    metadata,
    Column("number", Int, primary_key=True, comment="1, 2, …"),
    Column("at", Int, nullable=False),
    _one_of("kind", "banned", "unbanned", "hidden", "shown", "deleted", "renamed"),
    Column("name", Text, nullable=False, comment="name of the bot or owner before the event"),
    Column("new_name", Text, comment="new name of a renamed bot"),
    Column("reason", Text, nullable=False, comment="may be empty"),
    info={APPEND_ONLY: AppendOnly("number")},
)
"""The operator's actions on bots and owners. The database refuses to change or delete a row or to skip a number."""

log = Table(
    "log",
    metadata,
    Column("number", Int, primary_key=True, comment="1, 2, …"),
    Column("match_id", Int, ForeignKey("matches.id"), comment="none if the leaf is about no match"),
    Column("leaf", Text, nullable=False, comment="canonical bytes, which are UTF-8"),
    Column("nodes", LargeBinary, nullable=False, comment="hashes of the subtrees it completes, its own first"),
    _filled("kind", Text, "", "kind of the leaf"),
    Index(None, "match_id", "kind"),
    info={APPEND_ONLY: AppendOnly("number")},
)
"""The leaves of the log (docs/log.md). The database refuses to change or delete a row or to skip a number."""

log_head = Table(
    "log_head",
    metadata,
    Column("only", Int, CheckConstraint("only = 1", name="only"), primary_key=True),
    Column("size", Int, nullable=False, comment="number of leaves"),
    Column("root", LargeBinary, nullable=False),
    Column("signature", LargeBinary, nullable=False),
)
"""The newest signed head: one row, or none before the first head."""

versions = Table(
    "versions",
    metadata,
    Column("id", Int, primary_key=True, comment="the ladder's node"),
    Column("bot_id", Int, ForeignKey("bots.id"), nullable=False),
    Column("version", Text, nullable=False, comment="as stated by the bot; may be empty"),
    Column("parent", Int, ForeignKey("versions.id"), comment="the bot's newest version when this one was added"),
    Column("created", Int, nullable=False),
    UniqueConstraint("bot_id", "version"),
)

matches = Table(
    "matches",
    metadata,
    Column("id", Int, primary_key=True),
    Column("game", Text, nullable=False),
    Column("options", Text, nullable=False, comment="JSON"),
    Column("seats", Int, nullable=False),
    _one_of("state", "playing", "finished", "interrupted"),
    Column("started", Int, nullable=False),
    Column("ended", Int),
    Column("reason", Text, nullable=False, comment="why it was interrupted; empty if it was not"),
    _one_of("kind", "rated", "casual", "challenge", "event", server_default="rated"),
    Column("ladder", Text, nullable=False),
    Column("node", Int, comment="number of the node that plays it; none for a server without further nodes"),
    Index(None, "game", "id"),
    Index(None, "ladder", "id"),
    Index(None, "state"),
)

match_seats = Table(
    "match_seats",
    metadata,
    Column("match_id", Int, ForeignKey("matches.id"), primary_key=True),
    Column("seat", Int, primary_key=True),
    Column("bot_id", Int, ForeignKey("bots.id"), nullable=False),
    Column("node", Int, ForeignKey("versions.id"), nullable=False),
    Column("score", Int),
    Column("place", Int),
    Column("forced", Int, nullable=False, comment="number of decisions that the server made"),
    Column("rating_before", Real),
    Column("deviation_before", Real),
    Column("rating_after", Real),
    Column("deviation_after", Real),
    Column(
        "spoilt",
        Int,
        CheckConstraint("spoilt IN (0, 1)", name="spoilt"),
        nullable=False,
        server_default="0",
        comment="house bots played too much of it to move its opponents' ratings",
    ),
    Column("leaf", Int, comment="number of the leaf with which the match ended"),
    Index(None, "bot_id", "match_id"),
    Index(None, "bot_id", "leaf"),
)

events = Table(
    "events",
    metadata,
    Column("id", Int, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("ladder", Text, nullable=False),
    Column("seats", Int, nullable=False),
    _one_of("format", "race", "all"),
    Column("matches", Int, comment="budget in matches; none if the budget is a time"),
    Column("seconds", Int, comment="budget in seconds; none if it is a number of matches"),
    _one_of("entry", "open", "invited"),
    Column("start", Int, nullable=False, comment="planned start, and from then on the actual one"),
    _one_of("state", "announced", "playing", "finished", "cancelled"),
    Column("seed", LargeBinary, nullable=False, comment="secret until the event is over"),
    _filled("earlier", Text, "[]", "JSON: sums over earlier matches, as of the start"),
    _filled("result", Text, "", "JSON; the reason if it was cancelled"),
)

event_entrants = Table(
    "event_entrants",
    metadata,
    Column("event_id", Int, ForeignKey("events.id"), primary_key=True),
    Column("bot_id", Int, ForeignKey("bots.id"), primary_key=True),
    Column("entered", Int, nullable=False),
    _filled("name", Text, "", "name at check-in; empty without one"),
    Column("nonce", LargeBinary, comment="16 bytes of its check-in; none without one"),
)

event_rolls = Table(
    "event_rolls",
    metadata,
    Column("event_id", Int, ForeignKey("events.id"), primary_key=True),
    Column("number", Int, primary_key=True, comment="0, 1, … for each event"),
    Column("at", Int, nullable=False),
    Column("present", Text, nullable=False, comment="JSON: the bots that were present"),
    Column("used", Int, nullable=False, comment="thousandths of a budget of time; 0 for a budget of matches"),
)
"""Rounds of events. All tables of an event follow from its rounds, its entrants and its seed."""

event_matches = Table(
    "event_matches",
    metadata,
    Column("match_id", Int, ForeignKey("matches.id"), primary_key=True),
    Column("event_id", Int, ForeignKey("events.id"), nullable=False),
    Column("number", Int, nullable=False, comment="number of the table, from 0 for each event"),
    Index(None, "event_id", "number"),
)
"""Matches of events. A table's first match with a result counts; after a match without one, the table plays again."""

ratings = Table(
    "ratings",
    metadata,
    Column("node", Int, ForeignKey("versions.id"), primary_key=True),
    Column("ladder", Text, primary_key=True),
    Column("rating", Real, nullable=False),
    Column("deviation", Real, nullable=False),
    Column("matches", Int, nullable=False),
    Column("wins", Int, nullable=False),
    Column("rank_sum", Real, nullable=False),
    Column("last_change", Real, nullable=False),
    _filled("decisions", Int, "0"),
    _filled("missed", Int, "0", "number of decisions made for it by others"),
    _filled("think", Text, "{}", "JSON: a histogram of think times"),
    Column("first_at", Int, comment="when its first result was stored"),
    Column("last_at", Int, comment="when its last result was stored"),
    _filled("score_sum", Real, "0", "sum over matches of the mean over its seats"),
    Index(None, "ladder"),
)

paces = Table(
    "paces",
    metadata,
    Column("bot_id", Int, ForeignKey("bots.id"), primary_key=True),
    Column("ladder", Text, primary_key=True, comment="empty for the default ladders, which share a pace"),
    Column("pace", Real, nullable=False, comment="mean seconds for which it owes a decision, as of `at`"),
    Column("at", Int, nullable=False),
    Column("balance", Real, nullable=False, comment="seconds that it may wait for much slower ones"),
)

pair_days = Table(
    "pair_days",
    metadata,
    Column("ladder", Text, primary_key=True),
    Column("day", Int, primary_key=True, comment="UTC day, in days since 1970"),
    Column("first", Int, ForeignKey("bots.id"), primary_key=True),
    Column("second", Int, ForeignKey("bots.id"), primary_key=True),
    Column("matches", Int, nullable=False),
)
"""Number of matches by pair of bots and day in the latest weeks, for the pair quota of live ratings."""

rated_results = Table(
    "rated_results",
    metadata,
    Column("ladder", Text, primary_key=True),
    Column("number", Int, primary_key=True, comment="1, 2, … on each ladder"),
    Column("match_id", Int, ForeignKey("matches.id"), nullable=False),
    _one_of("kind", "result", "void"),
    Column("at", Int, nullable=False),
    Column("reason", Text, nullable=False, comment="why a result is void; empty if it is not"),
    Column("nodes", Text, nullable=False, comment="by seat, separated by commas; empty for a void"),
    Column("places", Text, nullable=False, comment="one digit per seat"),
    Column("counts", Text, nullable=False, comment="one digit per seat, 1 if the result counts for the node"),
    _filled(
        "spoilt", Text, "", "one digit per seat, 1 if it moves no opponent's rating; empty if there is no such seat"
    ),
    UniqueConstraint("match_id", "kind"),
    info={APPEND_ONLY: AppendOnly("number", within="ladder")},
)
"""The events from which ladders are computed. The database refuses to change or delete a row or to skip a number."""

baselines = Table(
    "baselines",
    metadata,
    Column("ladder", Text, primary_key=True),
    Column("number", Int, primary_key=True, comment="1, 2, … on each ladder"),
    Column("match_id", Int, ForeignKey("matches.id"), nullable=False, unique=True),
    Column("house", Text, nullable=False, comment="the bots that replayed, with versions, separated by commas"),
    Column("scores", Text, nullable=False, comment="sums over these bots, by seat, separated by commas"),
)

ladders = Table(
    "ladders",
    metadata,
    Column("ladder", Text, primary_key=True),
    Column("through", Int, nullable=False, comment="number of the last event included"),
    Column("digest", Text, nullable=False, comment="SHA-256 of all figures"),
    Column("at", Int, nullable=False),
    _filled("replayed", Int, "0", "number of the last baseline in its luck column"),
    Column("scale_error", Real, nullable=False, comment="standard error that all ratings share"),
    Column("centre", Real, nullable=False, comment="centre of the strengths, towards which ratings are shrunk"),
    Column("spread", Real, nullable=False, comment="spread of the strengths about it"),
    _filled("pair_quota", Int, "0", "number of matches per day that count between two guests; 0 for no limit"),
    _filled("pair_week_quota", Int, "0", "the same per week"),
    _filled("pair_young_days", Int, "0", "number of days for which bots are young and count together; 0 for none"),
)

seasons = Table(
    "seasons",
    metadata,
    Column("ladder", Text, primary_key=True),
    Column("number", Int, primary_key=True, comment="2, 3, …: the first season has no row"),
    Column("id", Text, nullable=False, unique=True, comment="ladder id of the season"),
    Column("begun", Int, nullable=False),
)

standings = Table(
    "standings",
    metadata,
    Column("ladder", Text, ForeignKey("ladders.ladder"), primary_key=True),
    Column("node", Int, ForeignKey("versions.id"), primary_key=True),
    Column("rating", Real, nullable=False),
    Column("error", Real, nullable=False, comment="standard error, without that of the scale"),
    Column("shrunk", Real, comment="the rating shown; none if another version of the bot is on the ladder"),
    Column("shrunk_error", Real),
    Column("rank", Int),
    Column("rank_low", Int),
    Column("rank_high", Int),
    Column("best", Real, comment="probability that it is the best"),
    Column("matches", Int, nullable=False),
    Column("opponents", Int, nullable=False),
    Column("replayed", Int, comment="number of matches with a baseline; none before the first"),
    Column("plain", Real),
    Column("plain_error", Real),
    Column("adjusted", Real),
    Column("adjusted_error", Real),
)

kept_ladders = Table(
    "kept_ladders",
    metadata,
    Column("id", Int, primary_key=True),
    Column("ladder", Text, nullable=False),
    Column("at", Int, nullable=False, comment="when it was published"),
    Column("through", Int, nullable=False),
    Column("digest", Text, nullable=False),
    Column("scale_error", Real, nullable=False),
    Index("ix_kept_ladders_ladder_at", "ladder", "at"),
)
"""Published ladders, including the newest. The older they are, the fewer are stored."""

kept_standings = Table(
    "kept_standings",
    metadata,
    Column("ladder_id", Int, ForeignKey("kept_ladders.id"), primary_key=True),
    Column("node", Int, ForeignKey("versions.id"), primary_key=True),
    Column("rating", Real, nullable=False),
    Column("error", Real, nullable=False),
    Column("shrunk", Real, nullable=False),
    Column("shrunk_error", Real, nullable=False),
    Column("rank", Int, nullable=False),
    Column("rank_low", Int, nullable=False),
    Column("rank_high", Int, nullable=False),
    Column("best", Real, nullable=False),
    Column("matches", Int, nullable=False),
    Column("opponents", Int, nullable=False),
)
"""The rows of the ladders in `kept_ladders`: figures as in `standings`, for the versions on the ladder at that time."""

flags = Table(
    "flags",
    metadata,
    Column("ladder", Text, ForeignKey("ladders.ladder"), primary_key=True),
    Column("number", Int, primary_key=True, comment="1 for the most certain one"),
    _one_of("kind", "pair", "owners", "lift", "opponents", "change"),
    Column("node", Int, ForeignKey("versions.id"), nullable=False, comment="version of the bot that gains or changed"),
    Column(
        "other", Int, ForeignKey("versions.id"), comment="version of the bot from which it gains, if it is a single one"
    ),
    Column("matches", Int, nullable=False),
    Column("size", Real, nullable=False, comment="mean score beyond the expected one, or Elo"),
    Column("errors", Real, nullable=False, comment="the same in standard errors"),
)
"""The flags of the published ladders. No rating depends on them."""

replays = Table(
    "replays",
    metadata,
    Column("match_id", Int, ForeignKey("matches.id"), primary_key=True),
    Column("content", LargeBinary, nullable=False, comment="the gzip file if it is in this row; otherwise empty"),
    Column("sha256", LargeBinary, nullable=False, comment="digest of the content, even if it is pruned"),
    Column("segment", Int, server_default="0", comment="number of its file, 0 for this row; none once it is pruned"),
    _filled("start", Int, "0", "offset in its file"),
    _filled("length", Int, "0", "in bytes; 0 if it is in this row"),
)
"""The locations of the replays, as explained in `arena.store.replays.files`."""

replay_segments = Table(
    "replay_segments",
    metadata,
    Column("number", Int, primary_key=True, comment="number of a file; 0 for replays in their rows"),
    Column("game", Text, primary_key=True),
    Column("kept", Int, nullable=False),
    Column("pruned", Int, nullable=False),
    Column("bytes", Int, nullable=False, comment="total size of those not pruned"),
    Column("size", Int, nullable=False, comment="offset of the end of the last one in the file"),
)
"""Numbers of replays by file and game, updated when replays are added and removed. Deleted files stay listed."""

nodes = Table(
    "nodes",
    metadata,
    Column("number", Int, primary_key=True),
    Column("address", Text, nullable=False),
    Column("program", Text, nullable=False, comment="versions of package and schema"),
    Column("settings", Text, nullable=False, comment="digest of the settings that all nodes share; may be empty"),
    Column("identity", Text, nullable=False, comment="of its data directory"),
    Column("session", Text, nullable=False, comment="of its present start"),
    Column("started", Int, nullable=False),
    Column("lease_until", Int, nullable=False),
    _one_of("state", "registered", "lost", "released"),
    Column("last_number", Int, nullable=False, comment="the last match number reserved for it; 0 for none"),
)
"""The nodes (docs/nodes.md). All times are by the database's clock."""

leases = Table(
    "leases",
    metadata,
    Column("name", Text, primary_key=True, comment="the job"),
    Column("node", Int, ForeignKey("nodes.number"), nullable=False),
    Column("until", Int, nullable=False),
)
"""Leases of jobs that one node does for all nodes."""

changes = Table(
    "changes",
    metadata,
    Column("kind", Text, primary_key=True),
    Column("subject", Text, primary_key=True),
    Column("number", Int, nullable=False, unique=True, comment="1, 2, … in the order of the commits"),
)
"""The newest change of each subject that other nodes must learn about."""

allowances = Table(
    "allowances",
    metadata,
    Column("kind", Text, primary_key=True),
    Column("key", Text, primary_key=True, comment="an owner in lower case, an address, …"),
    Column("full", Int, nullable=False, comment="instant at which the whole allowance is available again"),
    Index(None, "full"),
)
"""Hourly allowances that several nodes share."""
