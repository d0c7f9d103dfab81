"""A bot's profile: results by seat and opponent, bids and flags, from its matches, its newest
replays and the ladder.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from math import sqrt
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Final

from arena.queries.figures import flagged, is_house
from arena.replay.read import read
from arena.replay.render.show import bids_kept, round_results
from arena.replay.steps import Course
from arena.store.base.errors import Refused
from arena.store.base.rows import JSON_KEY, ONLY_IF_SET, FlagRow, MatchRow, MatchState, OpponentRow, SeatRow
from arena.store.ladder.opponents import score_error
from engine.points import points_above

if TYPE_CHECKING:
    from arena.queries.source import DataSource

BEST: Final = 3
"""Length of the lists of a bot's best and worst matches."""
REPLAYS: Final = 20
"""Number of a bot's newest matches whose replays are read to count bids."""


@dataclass(frozen=True, slots=True)
class SeatRecord:
    """A bot's results in one seat of tables of one size."""

    seats: int
    seat: int
    matches: int
    place: float
    """Mean place; 1 is the best."""
    points: float
    """Mean difference between the points of this seat and the mean points of the other seats."""
    points_error: float | None
    """Standard error of `points`; None after one match."""


@dataclass(frozen=True, slots=True)
class MatchPoints:
    """A match of a bot, with the bot's points, for the lists of best and worst matches."""

    match_id: int = field(metadata={JSON_KEY: "match"})
    points: float
    """Points minus the mean points of the other seats."""
    place: int
    spoilt: bool = False
    """True if house bots made too many of the seat's decisions."""


@dataclass(frozen=True, slots=True)
class BotProfile:
    """A bot's results in its latest matches of one season of a ladder."""

    bot: str
    game: str
    matches: int
    wins: int
    """Number of matches won, including shared first places."""
    forced: int
    """Number of decisions that the server made for the bot."""
    spoilt: int
    """Number of matches in which house bots made too many of the bot's decisions."""
    seats: tuple[SeatRecord, ...]
    """Results by table size and seat."""
    opponents: tuple[OpponentRow, ...]
    """The opponents, ordered by the number of meetings."""
    best: tuple[MatchPoints, ...]
    worst: tuple[MatchPoints, ...]
    """The matches with the fewest points, in ascending order."""
    bids: int | None = None
    """Number of bids or predictions in the newest matches with a readable replay; None if there is no such match."""
    kept: int | None = None
    """Number of rounds in which the bot won exactly as many tricks as it had predicted or bid."""
    think_95_us: int | None = None
    """95th percentile of the bot's thinking times in microseconds, over all its decisions; None if no decision is
    known.
    """
    flags: tuple[FlagRow, ...] = ()
    """The flags on the bot's results, ordered by certainty."""
    ladder: str = field(default="", metadata={ONLY_IF_SET: True})
    """Name of the ladder. Empty in the first season of the game's default ladder."""
    season: int = field(default=0, metadata={ONLY_IF_SET: True})
    """Number of the ladder's season, from 1. It is 0 in the first season of the game's default ladder."""


def profile(rows: Iterable[MatchRow], typed: str) -> BotProfile | None:
    """Return a bot's profile from its matches of one game. Return None if none of them is finished.

    `typed` is the bot's name as the user typed it. It may differ in upper and lower case, and may be a former name.
    """
    finished = [row for row in rows if row.state is MatchState.FINISHED and not row.voided]
    if not finished:
        return None
    bot = _name(finished, typed)
    by_seat: dict[tuple[int, int], list[tuple[int, float]]] = defaultdict(list)
    against: dict[str, list[float]] = defaultdict(list)
    others: dict[str, SeatRow] = {}
    matches, wins, forced, spoilt = [], 0, 0, 0
    for row in finished:
        for number, seat in enumerate(row.seats):
            if seat.bot != bot or seat.place is None:
                continue
            points = points_above([each.score or 0 for each in row.seats], number)
            matches.append(MatchPoints(row.match_id, points, seat.place, seat.spoilt))
            by_seat[len(row.seats), number].append((seat.place, points))
            wins += seat.place == 1
            forced += seat.forced
            spoilt += seat.spoilt
            for other in row.seats:
                if other.bot != bot and other.place is not None:
                    others.setdefault(other.bot, other)
                    against[other.bot].append(0.5 * ((seat.place < other.place) + (seat.place <= other.place)))
    matches.sort(key=lambda each: -each.points)
    return BotProfile(
        bot,
        finished[0].game,
        len(matches),
        wins,
        forced,
        spoilt,
        tuple(_seat(*place, results) for place, results in sorted(by_seat.items())),
        tuple(
            _opponent(others[other], scores)
            for other, scores in sorted(against.items(), key=lambda item: (-len(item[1]), item[0]))
        ),
        tuple(matches[:BEST]),
        tuple(matches[: -BEST - 1 : -1]),
    )


def lost(row: MatchRow, typed: str) -> bool:
    """Return True if a bot finished a match without winning it. `typed`: as in `profile`."""
    places = [seat.place for seat in row.seats if seat.bot == _name([row], typed)]
    return bool(places) and all(place is not None and place > 1 for place in places)


def _name(rows: Sequence[MatchRow], typed: str) -> str:
    """Return the name under which the matches list a bot: the typed name if they contain it, ignoring case. Otherwise
    return the most frequent name.
    """
    names = Counter(name for row in rows for name in {seat.bot for seat in row.seats})
    same = [name for name in names if name.lower() == typed.lower()]
    return same[0] if same else names.most_common(1)[0][0]


def _opponent(seat: SeatRow, scores: Sequence[float]) -> OpponentRow:
    error = score_error(sum(scores), len(scores))
    return OpponentRow(seat.bot, is_house(seat.bot), seat.hidden, seat.deleted, len(scores), fmean(scores), error)


def _seat(seats: int, seat: int, results: Sequence[tuple[int, float]]) -> SeatRecord:
    places, points = zip(*results, strict=True)
    error = stdev(points) / sqrt(len(points)) if len(points) > 1 else None
    return SeatRecord(seats, seat, len(results), fmean(places), fmean(points), error)


def gathered(
    source: DataSource, game: str, name: str, last: int, ladder: str = "", season: int = 0
) -> BotProfile | None:
    """Return a bot's profile from its latest matches in a season of a ladder, or None without finished matches.

    By default, the season is the current one of the game's default ladder.
    """
    rows = [*islice(source.all_matches(game, name, ladder=ladder or game, season=season), last)]
    found = profile(rows, name)
    if found is None:
        return None
    standings = source.ladder(game, ladder=ladder, season=season)
    standing = next((row for row in standings.standings if row.bot == found.bot), None)
    bids: list[bool] = []
    with suppress(Refused):  # Older replays may have been pruned.
        for row in [row for row in rows if row.state is MatchState.FINISHED][:REPLAYS]:
            rounds = round_results(Course(read(source.replay(row.match_id))))
            bids += bids_kept(rounds, row.seats_of(found.bot))
    return replace(
        found,
        bids=len(bids) or None,
        kept=sum(bids) if bids else None,
        think_95_us=None if standing is None else standing.think_95_us,
        flags=flagged(standings.flags, found.bot),
        ladder=standings.ladder,
        season=standings.season,
    )
