# Compiled: every decision comes by here.
"""Messages between bots and the server, free of any encoding.

What comes with every decision has an `__init__` of its own: compiled, a named tuple takes eight times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, NamedTuple, Protocol

from arena.log.head import LogEntry, LogState
from arena.match.effects import Ask
from arena.match.policy import Policy
from arena.replay.header import MatchKind
from arena.transport.settings import TransportSettings
from engine.game import Game, RoundReport


class Hello(NamedTuple):
    """A bot's first message: what it plays, how many matches at once, with which library, and which version it is."""

    games: tuple[str, ...]
    capacity: int
    client: str
    version: str = ""
    playing: tuple[int, ...] = ()
    """Matches it was playing when its earlier session ended."""
    casual: bool = False
    """True if all its matches are to be casual ones."""
    challenges: bool = False
    """True if it may be sent challenges."""


class Ready(NamedTuple):
    """A bot accepts an invitation; the nonce goes into the deal."""

    invitation_id: int
    nonce: bytes


@dataclass(init=False, slots=True)
class Answer:
    """A bot's choice."""

    match_id: int
    decision: int
    action: int

    def __init__(self, match_id: int, decision: int, action: int) -> None:
        self.match_id = match_id
        self.decision = decision
        self.action = action


@dataclass(init=False, slots=True)
class BotMessage:
    """One message of a bot."""

    at: float
    """When it arrived, in seconds of the server's clock."""
    ready: Sequence[Ready]
    answers: Sequence[Answer]
    heartbeat: int | None
    capacity: int | None
    """The bot's new capacity."""
    declined: Sequence[int]
    """Invitations that it does not accept."""
    resumed: Sequence[int]
    """Matches in which it was suspended and is ready to choose again."""
    leaves: bool
    """True if it leaves in order."""
    size: int
    """Bytes of its encoding."""

    def __init__(
        self,
        at: float,
        ready: Sequence[Ready],
        answers: Sequence[Answer],
        heartbeat: int | None,
        capacity: int | None = None,
        declined: Sequence[int] = (),
        resumed: Sequence[int] = (),
        leaves: bool = False,
        size: int = 0,
    ) -> None:
        self.at = at
        self.ready = ready
        self.answers = answers
        self.heartbeat = heartbeat
        self.capacity = capacity
        self.declined = declined
        self.resumed = resumed
        self.leaves = leaves
        self.size = size


@dataclass(frozen=True, slots=True)
class Welcome:
    """The server's first message."""

    bot: str
    games: tuple[Game, ...]
    policy: Policy
    ready_limit: float
    """Seconds to accept an invitation."""
    park_after: int
    """Troubled matches in a row that park a bot."""
    capacity: int
    """The bot's capacity."""
    heartbeat: float
    """Seconds between two heartbeats."""
    transport: TransportSettings
    log: LogState | None = None
    """The log of results; None where there is none."""


@dataclass(frozen=True, slots=True)
class Invitation:
    """A seat at a match that is about to begin. But for a challenge it says nothing that two bots could compare."""

    invitation_id: int
    game: str
    kind: MatchKind
    options: Mapping[str, str]
    commitment: bytes
    """SHA-256 of a salt of this invitation and the match's commitment."""
    bots: tuple[str, ...] = ()
    """The players by seat; in a challenge only."""


@dataclass(frozen=True, slots=True)
class MatchStart:
    """A match begins, or its bot has come back to it."""

    match_id: int
    invitation_id: int
    game: str
    kind: MatchKind
    seat: int
    bots: tuple[str, ...]
    options: Mapping[str, str]
    commitment: bytes
    salt: bytes


@dataclass(init=False, slots=True)
class Question:
    """A decision and the match it belongs to."""

    match_id: int
    ask: Ask

    def __init__(self, match_id: int, ask: Ask) -> None:
        self.match_id = match_id
        self.ask = ask


@dataclass(init=False, slots=True)
class EncodedAsk:
    """A question of a match that another process plays, as the bytes that its bot is to be sent."""

    seat: int
    decision: int
    encoded: bytes

    def __init__(self, seat: int, decision: int, encoded: bytes) -> None:
        self.seat = seat
        self.decision = decision
        self.encoded = encoded


class NoticeKind(Enum):
    """The subject of a notice."""

    ILLEGAL = auto()
    STALE = auto()
    UNKNOWN = auto()
    FORCED_BY_TIME = auto()
    FORCED_BY_ILLEGALITY = auto()
    SUSPENDED = auto()
    GONE = auto()
    SUBSTITUTED = auto()
    BACK = auto()
    HELD = auto()
    RELEASED = auto()
    WITHDRAWN = auto()
    DRAINING = auto()
    PARKED = auto()
    TAKEN = auto()
    CASUAL_LIMIT = auto()


@dataclass(frozen=True, slots=True)
class Notice:
    """A message about something out of the ordinary; the stream goes on."""

    kind: NoticeKind
    text: str
    match_id: int | None = None
    seat: int | None = None
    """The seat it is about, where that is not the bot's own."""
    decision: int | None = None
    action: int | None = None
    legal: Sequence[int] = ()
    time: int | None = None
    """Microseconds."""
    invitation_id: int | None = None


NOT_STORING: Final = Notice(
    NoticeKind.HELD, "the server cannot store anything at the moment: nothing is sent until it can, and nothing is lost"
)
STORING: Final = Notice(NoticeKind.RELEASED, "the server can store again and goes on")


class RoundOver(NamedTuple):
    """The report of a finished round, all cards up."""

    match_id: int
    report: RoundReport


class RatingMove(NamedTuple):
    """A rating before and after a match."""

    before: float
    after: float


@dataclass(frozen=True, slots=True)
class MatchOver:
    """The report of a finished match; `interrupted` says why it has no result."""

    match_id: int
    seat: int
    scores: tuple[int, ...]
    places: tuple[int, ...]
    rating: RatingMove | None
    counts: tuple[bool, ...]
    """By seat, whether the result counts for its bot."""
    interrupted: str
    kind: MatchKind
    spoilt: tuple[bool, ...] = ()
    """By seat, whether house bots played too much of it for the result to move its opponents' ratings; empty where
    the match was interrupted, or begun under an older rule."""
    entry: LogEntry | None = None
    """The result's entry in the log; None on a server without a log."""


@dataclass(init=False, slots=True)
class Outgoing:
    """One message to a bot: everything that was waiting for it."""

    welcome: Welcome | None
    invitations: list[Invitation]
    starts: list[MatchStart]
    questions: list[Question]
    notices: list[Notice]
    rounds: list[RoundOver]
    reports: list[MatchOver]
    heartbeat: int | None
    encoded: bytes
    """A message from another process, as the bytes for the bot."""
    encoded_asks: int
    """The number of things that it asks the bot for."""

    def __init__(self, questions: Sequence[Question] = ()) -> None:
        self.welcome = None
        self.invitations = []
        self.starts = []
        self.questions = [*questions]
        self.notices = []
        self.rounds = []
        self.reports = []
        self.heartbeat = None
        self.encoded = b""
        self.encoded_asks = 0

    @property
    def asks(self) -> int:
        """The number of things it asks a bot for; a suspended bot is asked to say that it is back."""
        asks = len(self.questions) + len(self.invitations) + (self.heartbeat is not None) + self.encoded_asks
        if self.notices:
            asks += sum(notice.kind is NoticeKind.SUSPENDED for notice in self.notices)
        return asks

    @property
    def routine(self) -> bool:
        """True if it holds questions and rounds only, as nearly all messages do."""
        return (
            not (self.notices or self.reports or self.invitations or self.starts)
            and self.heartbeat is None
            and self.welcome is None
        )


class Link(Protocol):
    """The transport's stream of one connected bot: encoded messages in and out."""

    @property
    def peer(self) -> str:
        """Where the bot is, for the log."""

    @property
    def busy(self) -> bool:
        """True if the last message has yet to leave: the bot may not be reading."""

    @property
    def received_at(self) -> float:
        """When the message that was delivered last arrived, in seconds of the server's clock."""

    def shortest_round_trip(self) -> float | None:
        """Return the fewest seconds in which the bot's system acknowledged bytes of late; None if that is not known."""

    def hand_over(self, message: bytes) -> None:
        """Send a message; the link must not be busy. Raises `trio.BrokenResourceError` where the bot is gone."""

    async def deliver(self, take: Callable[[bytes], None], left: Callable[[], None]) -> None:
        """Have `take` called with each message where it arrives, until the bot has said its last.

        `left` is called whenever a message has left. Raises `trio.BrokenResourceError` when the bot vanished, and what
        `take` raises.
        """


class MessageCodec(NamedTuple):
    """An encoding of messages; a session has none of its own."""

    decode: Callable[[bytes, float], BotMessage]
    """Read a message that arrived at an instant; raises `Closed` where the protocol does not allow it."""
    encode: Callable[[Outgoing], bytes]


class Closed(Exception):  # noqa: N818 - a decision, not an error
    """Raised to end a bot's stream; the reason is told to the bot."""

    def __init__(self, reason: Reason, text: str, wait: float | None = None) -> None:
        super().__init__(text)
        self.reason = reason
        self.wait = wait
        """Seconds after which the bot may come back, where that is known."""


class Reason(Enum):
    """Why the server ends a stream."""

    TAKEN_OVER = auto()
    """A newer connection of the same bot took over."""
    STOPPING = auto()
    """The server stops."""
    NOT_READING = auto()
    """The bot did not read for too long."""
    BAD_MESSAGE = auto()
    """The bot said what the protocol does not allow."""
    NO_SUCH_GAME = auto()
    """The server plays none of the bot's games."""
    FLOODING = auto()
    """The bot said too much or came too often, or the bots of its owner have too many streams."""
    NO_CASUAL = auto()
    """The bot wants casual matches, and the server gives none."""
    NO_HELLO = auto()
    """The bot opened a stream and said nothing."""
    TOKEN_REVOKED = auto()
    """The bot's token was replaced or revoked, or the bot deleted."""
    OWNER_BANNED = auto()
    """The operator banned the bot's owner."""
