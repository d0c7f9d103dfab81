"""The rows that an arena's queries return, as plain values without protobuf, database or terminal types.

The store creates the rows, and `api` packs them into protobuf messages with the same field names. `queries` unpacks
them, `cli` draws them, and `--json` prints them field by field. A new column needs a value in the store, a field here,
a field of the same name in `proto/`, and code that draws it. No other file changes.
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
"""Metadata key of a field: the name under which `--json` prints the field."""
ONLY_IF_SET: Final = "only_if_set"
"""Metadata key of a field: `--json` leaves the field out if it is empty or 0."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class MatchState(Enum):
    """The state of a match."""

    PLAYING = "playing"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"


class Interruption(Enum):
    """The cause of an interruption. The value is part of the stored reason, even in old data."""

    JOURNAL_LOST = "died and left no journal of the match"
    JOURNAL_DAMAGED = "died and the journal of the match is damaged"
    NOT_RESTORED = "died and the match cannot be restored"
    """The match's lines in the journal can be read, but the match cannot continue from them."""
    NOT_RECORDED = "could not record the result"
    """The match was played to its end, but an error in the server prevented a result."""

    @classmethod
    def of(cls, reason: str) -> Interruption | None:
        """Return the cause that a stored reason names; None if it is empty or from another version of the server."""
        return next((each for each in cls if each.value in reason), None)

    def in_words(self, subject: str = "the server") -> str:
        """Return the cause as a sentence about its subject, such as "node 2"."""
        return f"{subject} {self.value}"


@dataclass(frozen=True, slots=True)
class SeasonRow:
    """A season of a ladder."""

    number: int
    begun: datetime | None
    """Time at which the season started; None for the first season."""
    published: datetime | None
    """Time at which the season's standings were last published; None before the first fit."""
    events: int
    """Number of the season's events. Each result and each annulment is an event."""
    bots: int
    """Number of bots with a rated result in the season."""


class LadderAccess(Enum):
    """The rule by which bots may play on a ladder."""

    OPEN = "open"
    INVITED = "invited"
    LISTED = "listed"
    """Only bots of the owners listed in the server's settings may play."""


@dataclass(frozen=True, slots=True)
class LadderEntryRow:
    """One ladder. Its settings are None if no server answers, because they are not stored in a data directory."""

    name: str
    """The name of the ladder. The default ladder of a game has the game's name."""
    game: str
    seasons: tuple[SeasonRow, ...]
    """The seasons in order; the last is the current one."""
    seats: tuple[int, ...] | None = None
    """The allowed numbers of seats of a match."""
    soft_limit_ms: int | None = None
    """Time for one decision before the bank is used, in milliseconds."""
    bank_ms: int | None = None
    """Time beyond the soft limits for a whole match, in milliseconds."""
    access: LadderAccess | None = None
    house: bool | None = None
    """True if house bots fill its tables."""
    matches_per_hour: int | None = None
    """Maximum number of rated matches that one bot starts in an hour; 0 for no limit."""


@dataclass(frozen=True, slots=True)
class LadderRow:
    """One bot on a ladder, represented by the version of its latest match."""

    rank: int
    """Rank on the ladder, from 1. Equal ratings share a rank."""
    bot: str
    owner: str
    house: bool
    """True if the bot is a house bot."""
    rating: float
    """The rating that is published and ranked, in Elo: the posterior mean of the bot's strength.

    It is the fitted rating, shrunk towards the average. Between fits it changes with the live rating, scaled by the
    same factor.
    """
    deviation: float
    """Posterior standard deviation in Elo, without the scale's error. 95 % interval: `rating` ± 1.96 deviations."""
    matches: int
    wins: int
    """Number of matches won, including shared first places."""
    mean_rank: float
    """Mean relative rank: 0 for a bot that is always first, 1 for one that is always last."""
    last_change: float
    """Change of the live rating in the last match, in Elo."""
    version: str
    """The version that the bot reports; may be empty."""
    rank_low: int
    """The best rank within the 95 % interval of ranks."""
    rank_high: int
    """The worst rank within the 95 % interval of ranks."""
    best: float | None
    """Probability that the bot is the best of all; None if the last fit does not include the bot yet."""
    opponents: int
    """Number of different opponents of the bot, as of the last fit."""
    provisional: bool
    """True if the rating is still too uncertain to count as established."""
    live: float
    """The live rating, which changes after every match, in Elo."""
    live_deviation: float
    """Standard deviation of the live rating, in Elo."""
    fitted: float | None
    """The rating of the last fit, in Elo and not shrunk; None if the fit does not include the bot yet."""
    fitted_deviation: float | None
    """Standard error of `fitted` in Elo, without the scale's error. Above 40, a rating is provisional."""
    forced_share: float | None
    """Share of the bot's decisions that the server made, from 0 to 1; None if no decision is known."""
    think_95_us: int | None
    """95th percentile of the bot's think times, in microseconds, accurate to 5 %; None if no decision is known."""
    mean_points: float | None
    """Mean score of the bot's rated matches, in points; None from a server that does not report it."""
    last_match: datetime | None
    """End of the bot's last rated match; None from a server that does not report it."""
    luck: LuckRow | None
    """Luck figures. None if the last fit has no replayed match of the bot, and on ladders of one table size."""
    hidden: bool = False
    """True if the operator has hidden the bot from the list of bots. The owner is then empty."""
    deleted: bool = False
    """True if the operator has deleted the bot. The owner is then empty."""


@dataclass(frozen=True, slots=True)
class LuckRow:
    """The mean score of a bot, in points, over the matches whose deals were replayed by house bots."""

    matches: int
    plain: float
    plain_error: float | None
    """Standard error of `plain`; None after one match."""
    adjusted: float
    """The mean score adjusted for the luck of the deals."""
    adjusted_error: float | None


@dataclass(frozen=True, slots=True)
class FlagRow:
    """Results that differ conspicuously from the predictions of the last fit. No rating depends on them."""

    kind: FlagKind
    bot: str
    """The bot that gains or has changed. For "owners", the owner's bot that gains most."""
    version: str
    """For "change", the version that the bot reports; otherwise empty."""
    owner: str
    """The bot's owner; empty if it is not shown."""
    other: str
    """The bot from which `bot` gains. For "owners" and "lift", the other owner's bot from which `bot` gains most.

    Empty for "opponents" and "change".
    """
    other_owner: str
    matches: int
    """Number of compared results."""
    size: float
    """For "pair" and "owners": the mean score minus the expected score.

    For "opponents": the same mean, over the opponents from which the bot gains. For "lift": the Elo that its rating
    would lose without these results. For "change": the Elo by which the newer half of results exceeds the older half.
    """
    errors: float
    """`size` in standard errors. For "opponents": the number of standard errors at which a normally distributed value
    is equally rare.
    """


@dataclass(frozen=True, slots=True)
class LadderRows:
    """The ladder of one game."""

    game: str
    seats: int
    """Size of the tables whose results are included; 0 for all sizes."""
    standings: tuple[LadderRow, ...]
    """The standings, best first."""
    through: int | None
    """Number of the ladder's last event (result or annulment) that the fit includes; None before the first fit."""
    digest: str
    """SHA-256 of all figures of the ladder, in hex; empty before the first fit."""
    published: datetime | None
    """Time at which the ladder was published; None before the first fit, and for a ladder computed on demand."""
    scale_error: float | None
    """Standard error of the scale, in Elo, which all ratings share: the error of the house bots' mean, which is set to
    1500. None before the first fit.
    """
    not_fitted_since: datetime | None = None
    """Time since which fits of newer results have failed. None if they succeed, or without a server."""
    not_fitted_reason: str = field(default="", metadata={JSON_KEY: "not_fitted_why"})
    """The reason why fits of newer results fail; empty if they succeed."""
    flags: tuple[FlagRow, ...] = ()
    """The flags of the last fit, the most certain first; empty on ladders of one table size."""
    pair_quota: int = 0
    """Daily quota of the last fit: most matches per day that count between bots of two players; 0 for no limit."""
    pair_week_quota: int = 0
    """Weekly quota of the last fit: most matches per week that count between bots of two players; 0 for no limit."""
    pair_young_days: int = 0
    """Number of days after its first result for which a bot counts as young; 0 if no bot does.

    For an older bot that mostly meets older bots, all young bots together count as one under the quotas.
    """
    ladder: str = field(default="", metadata={ONLY_IF_SET: True})
    """Name of the ladder; empty in the first season of the game's default ladder."""
    season: int = field(default=0, metadata={ONLY_IF_SET: True})
    """Number of the ladder's season, from 1; 0 in the first season of the game's default ladder."""


@dataclass(frozen=True, slots=True)
class PastLadderRow:
    """One bot on a past ladder, with its version of that time and its present name."""

    rank: int
    bot: str
    owner: str
    house: bool
    version: str
    rating: float
    """The rating that was published then, in Elo."""
    deviation: float
    """Posterior standard deviation in Elo, without the scale's error."""
    fitted: float
    """The fitted rating in Elo, without shrinkage."""
    fitted_deviation: float
    """Standard error of `fitted` in Elo, without the scale's error."""
    rank_low: int
    rank_high: int
    best: float
    """Probability that the bot was the best of all."""
    matches: int
    opponents: int


@dataclass(frozen=True, slots=True)
class PastLadder:
    """The ladder of one game as published at some time."""

    game: str
    published: datetime | None
    """Time at which the ladder was published; None if no ladder from before the requested time is stored."""
    through: int | None
    """Number of the ladder's last event (result or annulment) that the fit includes."""
    digest: str
    """SHA-256 of all figures of the ladder, in hex."""
    scale_error: float | None
    """Standard error of the scale, in Elo, which all ratings share."""
    standings: tuple[PastLadderRow, ...]
    """The standings, best first."""
    ladder: str = field(default="", metadata={ONLY_IF_SET: True})
    """Name of the ladder; empty in the first season of the game's default ladder."""
    season: int = field(default=0, metadata={ONLY_IF_SET: True})
    """Number of the ladder's season, from 1; 0 in the first season of the game's default ladder."""


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
    """True if the bot is a house bot."""
    hidden: bool
    """True if the operator has hidden the bot from the list of bots."""
    deleted: bool
    matches: int
    """Number of matches in which both bots had a place."""
    score: float
    """Mean score: 1 for a better place, ½ for the same place and 0 for a worse one."""
    error: float
    """Standard error of the score, computed as if two more matches had been won and two lost."""


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One version of a bot in one game, with its own rating."""

    number: int
    """Number of the version. Newer versions have greater numbers, and no number is reused."""
    version: str
    """Version that the bot reported; may be empty."""
    shown: bool
    """True if the ladder represents the bot by this version."""
    matches: int
    first: datetime | None
    """Time at which the version's first result was stored; None if unknown."""
    last: datetime | None
    """Time at which the version's last result was stored."""
    live: float
    """The live rating, in Elo."""
    fitted: float | None
    """The rating of the last fit, in Elo and not shrunk; None if the fit does not include the version yet."""
    fitted_deviation: float | None
    """Standard error of `fitted` in Elo, without the scale's error."""
    difference: float | None
    """Fitted rating minus that of the bot's preceding version, in Elo; None unless the fit has both."""
    difference_deviation: float | None
    """Standard error of `difference`, assuming that the errors of the two ratings are independent. The true error is
    not greater, because the two versions share opponents.
    """
    better: float | None
    """Probability that the version is better than the preceding one. It follows from both ratings and the usual gains
    of new versions on this ladder.
    """
    changed: float | None = None
    """Elo by which the newer half of the version's results exceeds the older half. None unless flagged as a change."""


@dataclass(frozen=True, slots=True)
class SeatRow:
    """One seat of a match. Fields of the result are None until the match has a result."""

    bot: str
    score: int | None
    place: int | None
    """Place in the match, from 1 for the best."""
    rating_before: float | None
    rating_after: float | None
    forced: int
    """Number of decisions that the server made for the bot."""
    version: str
    """The version that the bot reported; may be empty."""
    hidden: bool = False
    """True if the operator has hidden the bot from the list of bots."""
    deleted: bool = False
    """True if the operator has deleted the bot."""
    spoilt: bool = False
    """True if house bots made too many of the seat's decisions. The result then changes no opponent's rating."""


@dataclass(frozen=True, slots=True)
class MatchRow:
    """One match."""

    match_id: int = field(metadata={JSON_KEY: "match"})
    game: str
    state: MatchState
    started: datetime
    ended: datetime | None
    reason: str
    """The reason why the match was interrupted; empty if it was not."""
    seats: tuple[SeatRow, ...]
    voided: str
    """The reason why the match's result is annulled; empty if it counts."""
    pruned: bool
    """True if the match's replay was removed to save space."""
    kind: MatchKind = MatchKind.RATED
    """The kind of match. An interrupted match of an older server counts as rated."""
    ladder: str = field(default="", metadata={ONLY_IF_SET: True})
    """Name of the ladder; empty in the first season of the game's default ladder."""
    season: int = field(default=0, metadata={ONLY_IF_SET: True})
    """Number of the ladder's season, from 1; 0 in the first season of the game's default ladder."""

    @property
    def interruption(self) -> Interruption | None:
        """The cause of the interruption. None without an interruption, or if the cause is unknown."""
        return Interruption.of(self.reason)

    @property
    def is_void(self) -> bool:
        """True if the match's result is annulled."""
        return bool(self.voided)

    def seats_of(self, bot: str) -> Sequence[int]:
        """Return the numbers of a bot's seats in the match."""
        return [number for number, seat in enumerate(self.seats) if seat.bot == bot]


class ParkCause(Enum):
    """The causes for which a bot is parked."""

    TROUBLES = "troubles"
    """In too many consecutive matches, the bot was suspended or a house bot took over its seat."""


@dataclass(frozen=True, slots=True)
class BotRow:
    """One registered bot. Fields that only a running server knows are None without a server."""

    name: str = field(metadata={JSON_KEY: "bot"})
    owner: str
    house: bool
    connected: bool | None
    playing: int | None
    """Number of matches that the bot is playing now."""
    matches: int
    """Number of finished rated matches of the bot, over all games."""
    registered: datetime
    round_trip_ms: float | None
    """The shortest of the bot's latest round-trip times, in milliseconds; None before the first answered heartbeat."""
    parked: str
    """The reason why the bot is parked; empty if it is not."""
    version: str
    """The version that the bot reports while connected, otherwise its newest stored version; may be empty."""
    declined: int | None
    """Number of invitations that the bot has declined since the server started; None if it is not connected."""
    silent: int | None
    """Number of invitations not answered in time since the server started; None if the bot is not connected."""
    pace_ms: float | None
    """Mean number of milliseconds for which the bot owes a decision; None if the server does not know it yet."""
    banned: str = ""
    """The reason for the ban if the bot's owner is banned; otherwise empty."""

    @property
    def park_cause(self) -> ParkCause | None:
        """The cause for which the bot is parked, or None if it is not parked."""
        return ParkCause.TROUBLES if self.parked else None

    @property
    def is_banned(self) -> bool:
        """True if the bot's owner is banned."""
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
    """The name of the bot or owner at that time."""
    new_name: str | None
    """The new name of a renamed bot; None for any other event."""
    reason: str
    """The reason, which may be empty."""


@dataclass(frozen=True, slots=True)
class InvitationRow:
    """An invitation, without its code."""

    number: int
    """Number of the invitation: 1, 2, … in order."""
    owner: str
    """The owner of the bot that the invitation registers; empty once the bot is deleted."""
    ladder: str
    """The name of the ladder that the invitation opens; empty if it is only for registration."""
    created: datetime
    expires: datetime | None
    """Time from which the invitation is refused; None if it does not expire."""
    revoked: datetime | None
    """Time at which the operator revoked the invitation; None if it is not revoked."""
    used_by: str
    """The name of the bot that used the invitation; empty if it is unused."""


@dataclass(frozen=True, slots=True)
class DrainRow:
    """The progress of a drain of the server."""

    playing: int
    """Number of running matches. Once `done` is true, they continue after the next start."""
    done: bool


def microseconds(instant: datetime) -> int:
    """Convert a datetime with a time zone to microseconds since 1970."""
    return (instant - _EPOCH) // timedelta(microseconds=1)


def instant(microseconds: int) -> datetime:
    """Convert microseconds since 1970 to a datetime in UTC."""
    return _EPOCH + timedelta(microseconds=microseconds)


class EventState(Enum):
    """The state of an event."""

    ANNOUNCED = "announced"
    PLAYING = "playing"
    FINISHED = "finished"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event."""

    number: int
    """Number of the event. Later events have greater numbers."""
    name: str
    ladder: str
    seats: int
    format: str
    """`race`, or `all` if every bot plays the same number of matches."""
    matches: int | None
    """The budget in matches."""
    seconds: int | None
    """The budget in seconds."""
    entry: str
    """`open` or `invited`."""
    start: datetime
    """The planned start or, once the event has started, the actual start."""
    state: str
    """`announced`, `playing`, `finished` or `cancelled`."""
    entrants: int
    commitment: str
    """SHA-256 of the seed, in hex."""
    changed: datetime
    """Time at which the event reached its current state."""
    winner: str
    """The winner of a finished event with a decision, otherwise empty."""
