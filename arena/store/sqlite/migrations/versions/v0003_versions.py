"""Versions of bots, the list of events, the published ladder. What was played so far counts for nameless versions."""

from collections.abc import Iterator, Sequence
from itertools import count, groupby
from operator import attrgetter
from typing import Any, Final

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

revision = "0003"
down_revision = "0002"

Int = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Real: TypeEngine[float] = sa.Double().with_variant(sa.REAL(), "sqlite")

BATCH: Final = 10_000
"""Events inserted at once."""
APPEND_ONLY: Final = (
    "CREATE TRIGGER events_stay BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are only added'); END",
    "CREATE TRIGGER events_remain BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are only added'); END",
    "CREATE TRIGGER events_follow BEFORE INSERT ON events"
    " WHEN NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM events WHERE game = NEW.game)"
    " BEGIN SELECT RAISE(ABORT, 'events are numbered without a gap'); END",
)


def upgrade() -> None:
    """Makes the tables and fills them."""
    _versions()
    _seats()
    _ratings()
    _events()
    _ladders()


def _versions() -> None:
    op.create_table(
        "versions",
        sa.Column("id", Int, primary_key=True, comment="the ladder's node"),
        sa.Column("bot_id", Int, sa.ForeignKey("bots.id"), nullable=False),
        sa.Column("version", sa.Text, nullable=False, comment="what the bot says; perhaps empty"),
        sa.Column("parent", Int, sa.ForeignKey("versions.id"), comment="the bot's newest version when this one came"),
        sa.Column("created", Int, nullable=False),
        sa.UniqueConstraint("bot_id", "version"),
        sqlite_strict=True,
    )
    op.execute(
        "INSERT INTO versions (bot_id, version, created) SELECT id, '', registered FROM bots"
        " WHERE id IN (SELECT bot_id FROM match_seats) ORDER BY id"
    )


def _seats() -> None:
    op.drop_index("ix_match_seats_bot_id_match_id", "match_seats")
    op.rename_table("match_seats", "old_match_seats")
    op.create_table(
        "match_seats",
        sa.Column("match_id", Int, sa.ForeignKey("matches.id"), primary_key=True),
        sa.Column("seat", Int, primary_key=True),
        sa.Column("bot_id", Int, sa.ForeignKey("bots.id"), nullable=False),
        sa.Column("node", Int, sa.ForeignKey("versions.id"), nullable=False),
        sa.Column("score", Int),
        sa.Column("place", Int),
        sa.Column("forced", Int, nullable=False, comment="decisions the server made"),
        sa.Column("rating_before", Real),
        sa.Column("deviation_before", Real),
        sa.Column("rating_after", Real),
        sa.Column("deviation_after", Real),
        sqlite_strict=True,
    )
    op.execute(
        "INSERT INTO match_seats SELECT match_id, seat, old.bot_id, versions.id, score, place, forced, rating_before,"
        " deviation_before, rating_after, deviation_after FROM old_match_seats old JOIN versions USING (bot_id)"
    )
    op.drop_table("old_match_seats")
    op.create_index("ix_match_seats_bot_id_match_id", "match_seats", ["bot_id", "match_id"])


def _ratings() -> None:
    op.drop_index("ix_ratings_game", "ratings")
    op.rename_table("ratings", "old_ratings")
    op.create_table(
        "ratings",
        sa.Column("node", Int, sa.ForeignKey("versions.id"), primary_key=True),
        sa.Column("game", sa.Text, primary_key=True),
        sa.Column("rating", Real, nullable=False),
        sa.Column("deviation", Real, nullable=False),
        sa.Column("matches", Int, nullable=False),
        sa.Column("wins", Int, nullable=False),
        sa.Column("rank_sum", Real, nullable=False),
        sa.Column("last_change", Real, nullable=False),
        sa.Column("decisions", Int, nullable=False, server_default="0"),
        sa.Column("missed", Int, nullable=False, server_default="0", comment="decisions that others made for it"),
        sa.Column("think", sa.Text, nullable=False, server_default="{}", comment="JSON: a histogram of think times"),
        sqlite_strict=True,
    )
    op.execute(
        "INSERT INTO ratings (node, game, rating, deviation, matches, wins, rank_sum, last_change)"
        " SELECT versions.id, game, rating, deviation, matches, wins, rank_sum, last_change"
        " FROM old_ratings JOIN versions USING (bot_id)"
    )
    op.drop_table("old_ratings")
    op.create_index("ix_ratings_game", "ratings", ["game"])


def _events() -> None:
    events = op.create_table(
        "events",
        sa.Column("game", sa.Text, primary_key=True),
        sa.Column("number", Int, primary_key=True, comment="1, 2, … in each game"),
        sa.Column("match_id", Int, sa.ForeignKey("matches.id"), nullable=False),
        sa.Column("kind", sa.Text, sa.CheckConstraint("kind IN ('result', 'void')", name="kind"), nullable=False),
        sa.Column("at", Int, nullable=False),
        sa.Column("reason", sa.Text, nullable=False, comment="why a result is void, else empty"),
        sa.Column("nodes", sa.Text, nullable=False, comment="by seat, with commas; of a void none"),
        sa.Column("places", sa.Text, nullable=False, comment="a digit a seat"),
        sa.Column("counts", sa.Text, nullable=False, comment="a digit a seat, 1 where the result counts for the node"),
        sa.UniqueConstraint("match_id", "kind"),
        sqlite_strict=True,
    )
    batch: list[dict[str, Any]] = []
    for row in _results():
        batch.append(row)
        if len(batch) == BATCH:
            op.bulk_insert(events, batch)
            batch = []
    op.bulk_insert(events, batch)
    for trigger in APPEND_ONLY:
        op.execute(trigger)


def _results() -> Iterator[dict[str, Any]]:
    """Every rated match as an event, in the order in which they ended: nothing else says in which they were rated."""
    rows = op.get_bind().execute(
        sa.text(
            "SELECT matches.id, game, ended, node, place, deviation_before, deviation_after"
            " FROM matches JOIN match_seats ON match_id = matches.id WHERE state = 'finished'"
            " ORDER BY game, ended, matches.id, seat"
        )
    )
    for game, of_game in groupby(rows, key=attrgetter("game")):
        number = count(1)
        for match, of_match in groupby(of_game, key=attrgetter("id")):
            seats: Sequence[Any] = list(of_match)
            yield {
                "game": game,
                "number": next(number),
                "match_id": match,
                "kind": "result",
                "at": seats[0].ended,
                "reason": "",
                "nodes": ",".join(str(seat.node) for seat in seats),
                "places": "".join(str(seat.place) for seat in seats),
                # A result that counts makes a rating surer, and no other does.
                "counts": "".join(str(int(seat.deviation_after != seat.deviation_before)) for seat in seats),
            }


def _ladders() -> None:
    op.create_table(
        "ladders",
        sa.Column("game", sa.Text, primary_key=True),
        sa.Column("through", Int, nullable=False, comment="the number of the last event it is made of"),
        sa.Column("digest", sa.Text, nullable=False, comment="SHA-256 of all figures"),
        sa.Column("at", Int, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "standings",
        sa.Column("game", sa.Text, sa.ForeignKey("ladders.game"), primary_key=True),
        sa.Column("node", Int, sa.ForeignKey("versions.id"), primary_key=True),
        sa.Column("rating", Real, nullable=False),
        sa.Column("error", Real, nullable=False, comment="standard error"),
        sa.Column("own", Real, nullable=False, comment="the same without that of the scale"),
        sa.Column("rank", Int, comment="none where another version of the bot stands on the ladder"),
        sa.Column("rank_low", Int),
        sa.Column("rank_high", Int),
        sa.Column("best", Real, comment="the probability that it is the best"),
        sa.Column("matches", Int, nullable=False),
        sa.Column("opponents", Int, nullable=False),
        sa.Column("provisional", Int, nullable=False),
        sqlite_strict=True,
    )
