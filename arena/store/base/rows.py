"""The rows that queries of an arena return, as plain values without protobuf, database or terminal types.

The store creates them, `api` packs them into protobuf messages with the same field names, `queries` unpacks them, `cli`
draws them, and `--json` prints them field by field. A new column takes a value in the store, a field here, a field of
the same name in `proto/` and the code that draws it; no other file changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Final

from arena.ladder.ladder import FlagKind
from arena.replay.header import MatchKind

JSON_KEY: Final = "json_key"
"""Key of a field's metadata with the name under which `--json` prints it."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class MatchState(Enum):
    """The state of a match."""

    PLAYING = "playing"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class LadderRow:
    """One bot on a ladder, as the version of its latest match."""

    rank: int
    """1 is the best; equal ratings share a rank."""
    bot: str
    owner: str
    house: bool
    """True if it is a house bot."""
    rating: float
    """The rating that is shown and ranked, in Elo: the posterior mean of the strength.

    It is the fitted rating, shrunk towards the average. Between fits it moves with the live rating by the same factor.
    """
    deviation: float
    """Posterior standard deviation in Elo, without the scale's error; ±1.96 of it is the 95 % interval."""
    matches: int
    wins: int
    """Matches won, shared first places included."""
    mean_rank: float
    """Mean relative rank: 0 is always first, 1 always last."""
    last_change: float
    """Change of the live rating by the last match, in Elo."""
    version: str
    """The version that the bot states; may be empty."""
    rank_low: int
    """The best rank within the 95 % interval of ranks."""
    rank_high: int
    """The worst rank within that interval."""
    best: float | None
    """Probability that it is the best of all; None if the last fit does not include the bot yet."""
    opponents: int
    """Different opponents, as of the last fit."""
    provisional: bool
    """True if the rating is still too uncertain to be settled."""
    live: float
    """The live rating, which changes after every match, in Elo."""
    live_deviation: float
    """Standard deviation of the live rating, in Elo."""
    fitted: float | None
    """Elo, the rating of the last fit, not shrunk; None if it does not include the bot yet."""
    fitted_deviation: float | None
    """Standard error in Elo, without that of the scale. Above 40, a rating is provisional."""
    forced_share: float | None
    """Share of its decisions that the server made for it, from 0 to 1; None if no decision is known."""
    think_95_us: int | None
    """95th percentile of its think times in microseconds, to within 5 %; None if no decision is known."""
    mean_points: float | None
    """Mean score of its rated matches, in points; None from a server that does not report it."""
    last_match: datetime | None
    """End of its last rated match; None from a server that does not report it."""
    luck: LuckRow | None
    """None if the last fit has no replayed match of the bot, and on ladders of one table size."""
    hidden: bool = False
    """True if the operator has hidden it from the list of bots; its owner is empty then."""
    deleted: bool = False
    """True if the operator has deleted it; its owner is empty then."""


@dataclass(frozen=True, slots=True)
class LuckRow:
    """The mean score of a bot, in points, over the matches whose deals house bots have replayed."""

    matches: int
    plain: float
    plain_error: float | None
    """Standard error of `plain`; None after one match."""
    adjusted: float
    """The mean score adjusted for the luck of the deals."""
    adjusted_error: float | None


@dataclass(frozen=True, slots=True)
class FlagRow:
    """Results that differ from the predictions of the last fit. No rating depends on it."""

    kind: FlagKind
    bot: str
    """The bot that gains or changed; for "owners" the one that gains most."""
    version: str
    """The version of a change, as the bot states it; else empty."""
    owner: str
    """The bot's owner; empty if it is not shown."""
    other: str
    """The bot from which it gains; for "owners" and "lift", the owner's bot from which it gains most.

    Empty for "opponents" and "change".
    """
    other_owner: str
    matches: int
    """Number of results compared."""
    size: float
    """For "pair" and "owners": the mean score above the expected one.

    For "opponents": the same, against those from which it gains. For "lift": the Elo that the rating would lose without
    these results. For "change": the Elo of the newer half of results above the older half.
    """
    errors: float
    """`size` in standard errors; for "opponents", the standard errors at which a normal error is as rare."""


@dataclass(frozen=True, slots=True)
class LadderRows:
    """The ladder of one game."""

    game: str
    seats: int
    """Size of the tables whose results are included; 0 for all sizes."""
    standings: tuple[LadderRow, ...]
    """Best first."""
    through: int | None
    """Number of the last of the game's events included in the fit; None before the first fit."""
    digest: str
    """SHA-256 of all its figures, in hex; empty before the first fit."""
    published: datetime | None
    """When it was published; None before the first fit and for a ladder computed on demand."""
    scale_error: float | None
    """Standard error, in Elo, that all ratings have in common: of the house bots' mean, which is 1500; None before the
    first fit."""
    not_fitted_since: datetime | None = None
    """Time since which newer results cannot be fitted; None if they can, or without a server."""
    not_fitted_why: str = ""
    """The reason why they cannot; empty if they can."""
    flags: tuple[FlagRow, ...] = ()
    """The flags of the last fit, the most certain first; none on ladders of one table size."""
    pair_quota: int = 0
    """Maximum number of matches a day that count between two bots of other players, by the last fit; 0 for all."""
    pair_week_quota: int = 0
    """Maximum number of matches a week that count between them; 0 for all."""
    pair_young_days: int = 0
    """Days after its first result during which a bot is young: with an older bot that mostly meets older ones, all
    young bots count as one of the two.

    0 for none.
    """


@dataclass(frozen=True, slots=True)
class PastLadderRow:
    """One bot on a ladder of the past, by the version of that time and under its present name."""

    rank: int
    bot: str
    owner: str
    house: bool
    version: str
    rating: float
    """The rating that was published, in Elo."""
    deviation: float
    """Posterior standard deviation in Elo, without the scale's error."""
    fitted: float
    """Elo, not shrunk."""
    fitted_deviation: float
    """Standard error in Elo, without that of the scale."""
    rank_low: int
    rank_high: int
    best: float
    """Probability that it was the best of all."""
    matches: int
    opponents: int


@dataclass(frozen=True, slots=True)
class PastLadder:
    """The ladder of one game as it was published at some time."""

    game: str
    published: datetime | None
    """None if no ladder is stored from before the requested time."""
    through: int | None
    """Number of the last of the game's events included in the fit."""
    digest: str
    """SHA-256 of all its figures, in hex."""
    scale_error: float | None
    """Standard error, in Elo, that all ratings have in common."""
    standings: tuple[PastLadderRow, ...]
    """Best first."""


@dataclass(frozen=True, slots=True)
class RatedRow:
    """The effect of one match on the live rating of a bot, in Elo."""

    match_id: int = field(metadata={JSON_KEY: "match"})
    ended: datetime
    version: str
    before: float
    after: float
    deviation: float
    voided: bool
    """True if the result is void."""


@dataclass(frozen=True, slots=True)
class OpponentRow:
    """A bot's results against one other at the same tables."""

    opponent: str
    house: bool
    """True if it is a house bot."""
    hidden: bool
    """True if the operator has taken it off the list of bots."""
    deleted: bool
    matches: int
    """Times that the two had a place in one match."""
    score: float
    """Mean score: 1 for a better place, ½ for the same and 0 for a worse one."""
    error: float
    """Standard error, as if two more matches had been won and two lost."""


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One version of a bot in one game, rated by itself."""

    number: int
    """Greater for a newer version; no two have the same."""
    version: str
    """As the bot states it; may be empty."""
    shown: bool
    """True if the ladder shows the bot by this version."""
    matches: int
    first: datetime | None
    """When its first result was stored; None if that is not known."""
    last: datetime | None
    """When its last result was stored."""
    live: float
    """The live rating, in Elo."""
    fitted: float | None
    """Elo, the rating of the last fit, not shrunk; None if it does not include the version yet."""
    fitted_deviation: float | None
    """Standard error in Elo, without that of the scale."""
    difference: float | None
    """Elo above the bot's version before it, by the fit; None for the first version, and if the fit lacks either."""
    difference_deviation: float | None
    """Standard error, if the errors of the two were independent. They share opponents, so it is at most this."""
    better: float | None
    """Probability that it is better than the version before it, from both ratings and the usual gain of versions here.
    """
    changed: float | None = None
    """Elo of its newer half of results above its older half, if that is flagged as a change; else None."""


@dataclass(frozen=True, slots=True)
class SeatRow:
    """One seat of a match; fields of the result are None until the match has one."""

    bot: str
    score: int | None
    place: int | None
    """1 is the best."""
    rating_before: float | None
    rating_after: float | None
    forced: int
    """Number of decisions that the server made for the bot."""
    version: str
    """The version that the bot stated; may be empty."""
    hidden: bool = False
    """True if the operator has hidden the bot from the list of bots."""
    deleted: bool = False
    """True if the operator has deleted the bot."""
    spoilt: bool = False
    """True if house bots played too much of it for the result to move its opponents' ratings."""


@dataclass(frozen=True, slots=True)
class MatchRow:
    """One match."""

    match_id: int = field(metadata={JSON_KEY: "match"})
    game: str
    state: MatchState
    started: datetime
    ended: datetime | None
    reason: str
    """Why the match was interrupted; empty if it was not."""
    seats: tuple[SeatRow, ...]
    voided: str
    """Why its result is void; empty if it is not."""
    pruned: bool
    """True if its replay was removed to save room."""
    kind: MatchKind = MatchKind.RATED
    """The match's kind; an interrupted match of an older server counts as rated."""

    def seats_of(self, bot: str) -> Sequence[int]:
        """Return the numbers of the seats that a bot has in it."""
        return [number for number, seat in enumerate(self.seats) if seat.bot == bot]


@dataclass(frozen=True, slots=True)
class BotRow:
    """One registered bot; fields that only a running server knows are None without one."""

    name: str = field(metadata={JSON_KEY: "bot"})
    owner: str
    house: bool
    connected: bool | None
    playing: int | None
    """Number of matches it is playing now."""
    matches: int
    """Number of rated matches it has finished, all games together."""
    registered: datetime
    round_trip_ms: float | None
    """The shortest of the latest round trips in milliseconds; None before the first heartbeat is answered."""
    parked: str
    """Why it is parked; empty if it is not."""
    version: str
    """The version that it states while connected, else its newest stored version; may be empty."""
    declined: int | None
    """Number of invitations that it declined since the server started; None if it is not connected."""
    silent: int | None
    """Number of invitations that it left unanswered for too long, likewise."""
    pace_ms: float | None
    """Mean time that it owes for a decision in milliseconds; None while the server does not know it."""
    banned: str = ""
    """The reason why it may not connect, if its owner is banned; else empty."""


class BotEventKind(Enum):
    """The operator's actions on bots and owners."""

    BANNED = "banned"
    UNBANNED = "unbanned"
    HIDDEN = "hidden"
    SHOWN = "shown"
    DELETED = "deleted"
    RENAMED = "renamed"


@dataclass(frozen=True, slots=True)
class BotEventRow:
    """One decision of the operator about a bot or an owner."""

    number: int
    """1, 2, … in the order of the decisions."""
    at: datetime
    kind: BotEventKind
    name: str
    """The bot's name as it was before, or the owner's."""
    new_name: str | None
    """The new name of a bot that was renamed; None for any other event."""
    reason: str
    """Why; may be empty."""


@dataclass(frozen=True, slots=True)
class DrainRow:
    """The progress of a server that drains."""

    playing: int
    """Number of matches being played; once `done`, of those that continue after the next start."""
    done: bool


def microseconds(instant: datetime) -> int:
    """Convert a datetime with a time zone to microseconds since 1970."""
    return (instant - _EPOCH) // timedelta(microseconds=1)


def instant(microseconds: int) -> datetime:
    """Convert microseconds since 1970 to a datetime in UTC."""
    return _EPOCH + timedelta(microseconds=microseconds)
