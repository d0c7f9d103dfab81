"""What can be looked up in an arena, as plain values: what `client` returns, and what `--json` prints key by key.

It knows no protobuf, no database and no screen.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum


class MatchState(Enum):
    """Where a match stands."""

    PLAYING = "playing"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class LadderRow:
    """One bot on a ladder."""

    rank: int
    """1 is the best; equal ratings share a rank."""
    bot: str
    owner: str
    house: bool
    """Whether it is one of the server's own."""
    rating: float
    """Elo."""
    deviation: float
    """Standard deviation of the rating, in Elo."""
    matches: int
    wins: int
    """Matches won, shared first places included."""
    mean_rank: float
    """0 is always first, 1 always last."""
    last_change: float
    """Elo won or lost in the last match."""
    version: str
    """What the bot says it is; perhaps empty."""
    rank_low: int
    """The best rank that the errors of the ratings allow, 95 % of the time."""
    rank_high: int
    """The worst."""
    best: float | None
    """The probability that it is the best; None where the last fit does not have the bot yet."""
    opponents: int
    """Bots it has met."""
    provisional: bool
    """Whether too little is known of it yet."""
    live: float
    """The rating that moves with every match."""
    live_deviation: float
    forced_share: float | None
    """The part of its decisions that others made for it; None where none is known."""
    think_95_us: int | None
    """Microseconds that 95 % of its decisions did not take longer than, to within 5 %; None where none is known."""
    luck: LuckRow | None
    """None where the last fit has no replayed match of it, and for the ladder of some tables only."""


@dataclass(frozen=True, slots=True)
class LuckRow:
    """The mean score of a bot in the matches whose deals the house has played again, in points."""

    matches: int
    plain: float
    plain_error: float | None
    """Standard error; None after one match."""
    adjusted: float
    """What it would be on average cards."""
    adjusted_error: float | None


@dataclass(frozen=True, slots=True)
class LadderRows:
    """The ladder of one game."""

    game: str
    seats: int
    """The size of the tables whose results are in it; 0 for all."""
    standings: tuple[LadderRow, ...]
    """Best first."""
    through: int
    """The number of the last of the game's events that is in the fit; 0 before the first fit."""
    digest: str
    """SHA-256 over the bits of all its figures, in hex; empty before the first fit."""
    published: datetime | None
    """When it was published; None before the first fit, and for a ladder computed on demand."""


@dataclass(frozen=True, slots=True)
class RatedRow:
    """What one match did to the live rating of a bot."""

    match: int
    ended: datetime
    version: str
    before: float
    after: float
    deviation: float
    voided: bool
    """Whether the result counts no more."""


@dataclass(frozen=True, slots=True)
class SeatRow:
    """One seat of a match; what only a result has is None before it."""

    bot: str
    score: int | None
    place: int | None
    """1 is the best."""
    rating_before: float | None
    rating_after: float | None
    forced: int
    """Decisions the server made."""
    version: str
    """What the bot said it was; perhaps empty."""


@dataclass(frozen=True, slots=True)
class MatchRow:
    """One match."""

    match: int
    game: str
    state: MatchState
    started: datetime
    ended: datetime | None
    reason: str
    """Why it was interrupted; else empty."""
    seats: tuple[SeatRow, ...]
    voided: str
    """Why its result counts no more; else empty."""


@dataclass(frozen=True, slots=True)
class BotRow:
    """One registered bot; what only a running server knows is None without one."""

    bot: str
    owner: str
    house: bool
    connected: bool | None
    playing: int | None
    """Matches being played now."""
    matches: int
    """Rated matches finished, all games together."""
    registered: datetime
    round_trip_ms: float | None
    """Of the last heartbeat; None, too, where none was answered yet."""
    parked: str
    """Why it is given no seats; empty when it is not parked."""
    version: str
    """What it says it is while it is connected, else the newest it played as; perhaps empty."""


@dataclass(frozen=True, slots=True)
class DrainRow:
    """How far a server is that drains."""

    playing: int
    """Matches being played; when it is done, those left to the next start."""
    done: bool
