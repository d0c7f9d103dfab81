"""The rows that queries of an arena return, as plain values without protobuf, database or terminal types.

The store creates them, `api` packs them into protobuf messages with the same field names, `queries` unpacks them, `cli`
draws them, and `--json` prints them field by field. A new column needs a value in the store, a field here, a field of
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
from arena.store.base.interruption import Interruption

JSON_KEY: Final = "json_key"
"""Key of a field's metadata for the name under which `--json` prints it."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class MatchState(Enum):
    """The state of a match."""

    PLAYING = "playing"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class LadderRow:
    """One bot on a ladder, represented by the version of its latest match."""

    rank: int
    """1 is the best rank; equal ratings share a rank."""
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
    """Number of matches won, including shared first places."""
    mean_rank: float
    """Mean relative rank: 0 if it is always first, 1 if always last."""
    last_change: float
    """Change of the live rating in the last match, in Elo."""
    version: str
    """The version that the bot states; may be empty."""
    rank_low: int
    """The best rank within the 95 % interval of ranks."""
    rank_high: int
    """The worst rank within that interval."""
    best: float | None
    """Probability that it is the best of all; None if the last fit does not include the bot yet."""
    opponents: int
    """Number of different opponents, as of the last fit."""
    provisional: bool
    """True if the rating is still too uncertain to be settled."""
    live: float
    """The live rating, which changes after every match, in Elo."""
    live_deviation: float
    """Standard deviation of the live rating, in Elo."""
    fitted: float | None
    """The rating of the last fit, in Elo and not shrunk; None if the fit does not include the bot yet."""
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
    """Luck figures; None if the last fit has no replayed match of the bot, and on ladders of one table size."""
    hidden: bool = False
    """True if the operator has hidden it from the list of bots; then its owner is empty."""
    deleted: bool = False
    """True if the operator has deleted it; then its owner is empty."""


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
    """Results that differ from the predictions of the last fit. No rating depends on them."""

    kind: FlagKind
    bot: str
    """The bot that gains or changed; for "owners", the one that gains most."""
    version: str
    """For a change, the version as the bot states it; otherwise empty."""
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

    For "opponents": the same mean, over the opponents from which it gains. For "lift": the Elo that the rating would
    lose without these results. For "change": the Elo by which the newer half of results exceeds the older half.
    """
    errors: float
    """`size` in standard errors; for "opponents", the number of standard errors at which a normal error is equally
    rare."""


@dataclass(frozen=True, slots=True)
class LadderRows:
    """The ladder of one game."""

    game: str
    seats: int
    """Size of the tables whose results are included; 0 for all sizes."""
    standings: tuple[LadderRow, ...]
    """The standings, best first."""
    through: int | None
    """Number of the last of the game's events included in the fit; None before the first fit."""
    digest: str
    """SHA-256 of all its figures, in hex; empty before the first fit."""
    published: datetime | None
    """Time at which it was published; None before the first fit and for a ladder computed on demand."""
    scale_error: float | None
    """Standard error, in Elo, that all ratings share: that of the house bots' mean, which is set to 1500. None before
    the first fit."""
    not_fitted_since: datetime | None = None
    """Time since which newer results could not be fitted; None if they can be, or without a server."""
    not_fitted_reason: str = field(default="", metadata={JSON_KEY: "not_fitted_why"})
    """The reason why they cannot be fitted; empty if they can."""
    flags: tuple[FlagRow, ...] = ()
    """The flags of the last fit, the most certain first; empty on ladders of one table size."""
    pair_quota: int = 0
    """Maximum number of matches per day that count between two bots of different players, by the last fit; 0 for no
    limit."""
    pair_week_quota: int = 0
    """Maximum number of matches per week that count between two such bots; 0 for no limit."""
    pair_young_days: int = 0
    """Number of days, from its first result on, for which a bot is young; 0 for none.

    For an older bot that mostly meets older ones, all young bots together count as one under the quotas.
    """


@dataclass(frozen=True, slots=True)
class PastLadderRow:
    """One bot on a past ladder, by its version of that time and under its present name."""

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
    """The rating of the fit, in Elo and not shrunk."""
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
    """The ladder of one game as published at some time."""

    game: str
    published: datetime | None
    """Time at which it was published; None if no ladder from before the requested time is stored."""
    through: int | None
    """Number of the last of the game's events included in the fit."""
    digest: str
    """SHA-256 of all its figures, in hex."""
    scale_error: float | None
    """Standard error, in Elo, that all ratings have in common."""
    standings: tuple[PastLadderRow, ...]
    """The standings, best first."""


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
    """A bot's results against one other bot at the same tables."""

    opponent: str
    house: bool
    """True if it is a house bot."""
    hidden: bool
    """True if the operator has hidden it from the list of bots."""
    deleted: bool
    matches: int
    """Number of matches in which both had a place."""
    score: float
    """Mean score: 1 for a better place, ½ for the same and 0 for a worse one."""
    error: float
    """Standard error, computed as if two more matches had been won and two lost."""


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One version of a bot in one game, with its own rating."""

    number: int
    """Number of the version, greater for a newer one and never repeated."""
    version: str
    """Version as stated by the bot; may be empty."""
    shown: bool
    """True if the ladder represents the bot by this version."""
    matches: int
    first: datetime | None
    """Time at which its first result was stored; None if it is unknown."""
    last: datetime | None
    """Time at which its last result was stored."""
    live: float
    """The live rating, in Elo."""
    fitted: float | None
    """The rating of the last fit, in Elo and not shrunk; None if the fit does not include the version yet."""
    fitted_deviation: float | None
    """Standard error in Elo, without that of the scale."""
    difference: float | None
    """Elo above the bot's preceding version, by the fit; None for the first version, or if the fit lacks one of the
    two."""
    difference_deviation: float | None
    """Standard error, assuming that the errors of the two ratings are independent. The two versions share opponents, so
    the true error is at most this."""
    better: float | None
    """Probability that it is better than the preceding version, given both ratings and the usual gain of versions on
    this ladder."""
    changed: float | None = None
    """Elo by which the newer half of its results exceeds the older half, if flagged as a change; otherwise None."""


@dataclass(frozen=True, slots=True)
class SeatRow:
    """One seat of a match; fields of the result are None until the match has a result."""

    bot: str
    score: int | None
    place: int | None
    """Place in the match, 1 being the best."""
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

    @property
    def interruption(self) -> Interruption | None:
        """The cause of the interruption; None if there is none, or it is unknown."""
        return Interruption.of(self.reason)

    @property
    def is_void(self) -> bool:
        """True if its result is void."""
        return bool(self.voided)

    def seats_of(self, bot: str) -> Sequence[int]:
        """Return the numbers of the seats that a bot has in the match."""
        return [number for number, seat in enumerate(self.seats) if seat.bot == bot]


class ParkCause(Enum):
    """The causes for which a bot is parked."""

    TROUBLES = "troubles"
    """In too many matches in a row it was suspended, or a house bot took its seat over."""


@dataclass(frozen=True, slots=True)
class BotRow:
    """One registered bot; fields that only a running server knows are None without one."""

    name: str = field(metadata={JSON_KEY: "bot"})
    owner: str
    house: bool
    connected: bool | None
    playing: int | None
    """Number of matches that it is playing now."""
    matches: int
    """Number of rated matches that it has finished in all games."""
    registered: datetime
    round_trip_ms: float | None
    """The shortest of the latest round trips in milliseconds; None before the first heartbeat is answered."""
    parked: str
    """Why it is parked; empty if it is not."""
    version: str
    """The version that it states while connected, otherwise its newest stored version; may be empty."""
    declined: int | None
    """Number of invitations that it declined since the server started; None if it is not connected."""
    silent: int | None
    """Number of invitations that it left unanswered for too long since the server started; None if not connected."""
    pace_ms: float | None
    """Mean time in milliseconds for which it owes a decision; None while the server does not know it."""
    banned: str = ""
    """The reason why it may not connect, if its owner is banned; otherwise empty."""

    @property
    def park_cause(self) -> ParkCause | None:
        """The cause for which it is parked; None if it is not."""
        return ParkCause.TROUBLES if self.parked else None

    @property
    def is_banned(self) -> bool:
        """True if its owner is banned."""
        return bool(self.banned)


class BotEventKind(Enum):
    """The kinds of the operator's actions on bots and owners."""

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
    """Number of the decision: 1, 2, … in order."""
    at: datetime
    kind: BotEventKind
    name: str
    """The bot's name at that time, or the owner's."""
    new_name: str | None
    """The new name of a renamed bot; None for any other event."""
    reason: str
    """The reason; may be empty."""


@dataclass(frozen=True, slots=True)
class DrainRow:
    """The progress of a drain of the server."""

    playing: int
    """Number of matches being played; once `done`, the number of those that continue after the next start."""
    done: bool


def microseconds(instant: datetime) -> int:
    """Convert a datetime with a time zone to microseconds since 1970."""
    return (instant - _EPOCH) // timedelta(microseconds=1)


def instant(microseconds: int) -> datetime:
    """Convert microseconds since 1970 to a datetime in UTC."""
    return _EPOCH + timedelta(microseconds=microseconds)
