# Compiled: every decision passes through here.
"""Messages between bots and the server, independent of any encoding.

Messages used in every decision define `__init__`, because in the compiled build named tuples take eight times as long
to create.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final, NamedTuple, Protocol

from arena.log.head import LogEntry, LogState
from arena.match.effects import Ask
from arena.match.policy import Policy, ReadyLimits
from arena.replay.header import MatchKind
from engine.game import Game, RoundReport
from trio_grpc.limits.settings import TransportSettings

MAX_RESPONSE: Final = 1 << 20
"""Maximum number of bytes of a message to a bot."""


class Hello(NamedTuple):
    """A bot's first message: its games, capacity, and client library with version."""

    games: tuple[str, ...]
    capacity: int
    client: str
    version: str = ""
    reports_after: int | None = None
    """Number of the log leaf of the latest report that the bot has received; None if it wants no past reports."""
    casual: bool = False
    """True if the bot wants only casual matches."""
    challenges: bool = False
    """True if the bot accepts challenges."""
    features: tuple[str, ...] = ()
    """The protocol features that the bot's client supports."""
    ladders: tuple[str, ...] = ()
    """The ladders on which the bot plays; empty for the default ladders of its games."""
    events: tuple[tuple[str, bytes], ...] = ()
    """The events that the bot enters, each with a nonce of 16 bytes or empty bytes."""


class Ready(NamedTuple):
    """A bot's acceptance of an invitation. The nonce influences the deal."""

    invitation_id: int
    nonce: bytes


@dataclass(init=False, slots=True)
class Answer:
    """The action that a bot chose for a decision."""

    match_id: int
    decision: int
    action: int

    def __init__(self, match_id: int, decision: int, action: int) -> None:
        self.match_id = match_id
        self.decision = decision
        self.action = action


@dataclass(init=False, slots=True)
class BotMessage:
    """One message from a bot."""

    at: float
    """Time of arrival, in seconds of the server's clock."""
    ready: Sequence[Ready]
    answers: Sequence[Answer]
    heartbeat: int | None
    capacity: int | None
    """The bot's new capacity."""
    declined: Sequence[int]
    """Numbers of the invitations that the bot declines."""
    resumed: Sequence[int]
    """Numbers of the matches in which the bot was suspended and is ready to play again."""
    leaves: bool
    """True if the bot signs off."""
    size: int
    """Size of the encoded message in bytes."""

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


class LadderTerms(NamedTuple):
    """The terms of a ladder that a bot named."""

    name: str
    game: str
    seats: tuple[int, ...]
    options: Mapping[str, str]
    """Options that differ from their defaults."""
    policy: Policy
    answer_limits: ReadyLimits


class ListedNode(NamedTuple):
    """One of several nodes, as bots see it."""

    address: str
    plays_event: bool = False
    """True while the node plays an event, or soon will."""


@dataclass(frozen=True, slots=True)
class Welcome:
    """The server's first message."""

    bot: str
    games: tuple[Game, ...]
    policy: Policy
    answer_limits: ReadyLimits
    park_after: int
    """Number of consecutive matches with trouble after which a bot is parked."""
    capacity: int
    """The bot's capacity."""
    heartbeat: float
    """Seconds between heartbeats."""
    transport: TransportSettings
    log: LogState | None = None
    """The log of results, or None on a server without a log."""
    features: tuple[str, ...] = ()
    """The protocol features that this stream uses."""
    ladders: tuple[LadderTerms, ...] = ()
    """The ladders that the bot named."""
    events: tuple[str, ...] = ()
    """The events that the bot named. It has entered all of them."""
    nodes: Mapping[int, ListedNode] = field(default_factory=dict)
    """The live nodes, by number. Empty if the server is the only node."""
    node: int = 0
    """The number of this node; 0 if the server is the only node."""


@dataclass(frozen=True, slots=True)
class Invitation:
    """A seat in a match that is about to start.

    Except in challenges, an invitation contains nothing that two bots could compare.
    """

    invitation_id: int
    game: str
    kind: MatchKind
    options: Mapping[str, str]
    commitment: bytes
    """SHA-256 of this invitation's salt and the match's commitment."""
    bots: tuple[str, ...] = ()
    """The players by seat. Empty except in a challenge."""
    ladder: str = ""
    """The name of the ladder; empty for the default ladder of the game."""


@dataclass(frozen=True, slots=True)
class MatchStart:
    """The start of a match, or its state for a bot that has returned."""

    match_id: int
    invitation_id: int
    game: str
    kind: MatchKind
    seat: int
    bots: tuple[str, ...]
    options: Mapping[str, str]
    commitment: bytes
    salt: bytes
    ladder: str = ""
    """The name of the ladder; empty for the default ladder of the game."""


@dataclass(init=False, slots=True)
class Question:
    """A decision and the match to which it belongs."""

    match_id: int
    ask: Ask

    def __init__(self, match_id: int, ask: Ask) -> None:
        self.match_id = match_id
        self.ask = ask


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
    """A message about an unusual event. The stream continues."""

    kind: NoticeKind
    text: str
    match_id: int | None = None
    seat: int | None = None
    """The seat that the notice is about; None for the bot's own seat."""
    decision: int | None = None
    rejected_action: int | None = None
    """The action that the bot sent and that the server rejected."""
    chosen_action: int | None = None
    """The action that the server chose for the bot."""
    legal: Sequence[int] = ()
    """The legal actions of a decision that is still open after a rejected answer."""
    left: int | None = None
    """Time left for the open decision, bank included. All times here are in microseconds."""
    late: int | None = None
    """Delay of the answer after its deadline."""
    return_time: int | None = None
    """Time within which the absent bot may return before a house bot plays for it."""
    hold: int | None = None
    """Maximum time for which the clocks are stopped."""
    casual_wait: int | None = None
    """Time until a bot of this owner may play the next casual match."""
    invitation_id: int | None = None


NOT_STORING: Final = Notice(
    NoticeKind.HELD, "the server cannot store anything at the moment: nothing is sent until it can, and nothing is lost"
)
STORING: Final = Notice(NoticeKind.RELEASED, "the server can store again and goes on")


class RoundOver(NamedTuple):
    """The report of a finished round, with all cards revealed."""

    match_id: int
    report: RoundReport


class RatingMove(NamedTuple):
    """A rating before and after a match."""

    before: float
    after: float


@dataclass(frozen=True, slots=True)
class MatchOver:
    """The report of a finished match. `interrupted`: the reason why there is no result."""

    match_id: int
    seat: int
    scores: tuple[int, ...]
    places: tuple[int, ...]
    rating: RatingMove | None
    counts: tuple[bool, ...]
    """By seat, true if the result counts for the bot."""
    interrupted: str
    kind: MatchKind
    spoilt: tuple[bool, ...] = ()
    """By seat, true if house bots made too many of the bot's decisions. The result then changes no opponent's rating.
    Empty if the match was interrupted, or started under an older rule.
    """
    entry: LogEntry | None = None
    """The result's entry in the log, or None on a server without a log."""


_NO_NODES: Final[Mapping[int, ListedNode]] = {}


@dataclass(init=False, slots=True)
class Outgoing:
    """One message to a bot, with everything that is due for sending."""

    welcome: Welcome | None
    invitations: list[Invitation]
    starts: list[MatchStart]
    questions: list[Question]
    notices: list[Notice]
    rounds: list[RoundOver]
    reports: list[MatchOver]
    closed: list[tuple[int, int]]
    """Questions that the bot received but that were decided without it, as pairs of match and decision numbers."""
    heartbeat: int | None
    nodes: Mapping[int, ListedNode]
    """The live nodes if the list has changed; otherwise empty."""

    def __init__(self, questions: Sequence[Question] = ()) -> None:
        self.welcome = None
        self.invitations = []
        self.starts = []
        self.questions = [*questions]
        self.notices = []
        self.rounds = []
        self.reports = []
        self.closed = []
        self.heartbeat = None
        self.nodes = _NO_NODES

    @property
    def asks(self) -> int:
        """Number of answers that the message requests, including answers for suspended seats."""
        asks = len(self.questions) + len(self.invitations) + (self.heartbeat is not None)
        if self.notices:
            asks += sum(notice.kind is NoticeKind.SUSPENDED for notice in self.notices)
        return asks

    @property
    def routine(self) -> bool:
        """True if the message contains only questions and rounds. Nearly all messages do."""
        return (
            not (self.notices or self.reports or self.invitations or self.starts or self.closed)
            and self.heartbeat is None
            and self.welcome is None
            and not self.nodes
        )


class Link(Protocol):
    """The transport's stream of one connected bot: encoded messages in and out."""

    @property
    def peer(self) -> str:
        """The bot's address, for the log."""

    @property
    def busy(self) -> bool:
        """True if the last message has not left yet, perhaps because the bot is not reading."""

    @property
    def received_at(self) -> float:
        """Time of arrival of the latest delivered message, in seconds of the server's clock."""

    def shortest_round_trip(self) -> float | None:
        """Return the shortest recent time in which the bot's operating system acknowledged data, in seconds; None if
        unknown.
        """

    def hand_over(self, message: bytes) -> None:
        """Send a message. The link must not be busy. Raises: trio.BrokenResourceError: The bot is gone."""

    async def deliver(self, take: Callable[[bytes], None], left: Callable[[], None]) -> None:
        """Call `take` with each message on arrival, until the bot's last.

        `left` is called whenever a message has left. Raises `trio.BrokenResourceError` if the bot vanished, and what
        `take` raises.
        """


class MessageCodec(NamedTuple):
    """The encoding of messages, on which sessions do not depend."""

    decode: Callable[[bytes, float], BotMessage]
    """Decode a message, given its time of arrival.

    Raises: Closed: The protocol does not allow the message.
    """
    encode: Callable[[Outgoing], bytes]
    split: Callable[[bytes, int], list[bytes]] = lambda encoded, _: [encoded]
    """Divide an encoded message into messages of at most the given number of bytes. A single part that exceeds this
    size becomes one larger message. The parts stay in the order in which a bot handles them.
    """


class Closed(Exception):  # noqa: N818 - a decision, not an error
    """Ends a bot's stream. The bot receives the reason."""

    def __init__(self, reason: Reason, text: str, wait: float | None = None) -> None:
        super().__init__(text)
        self.reason = reason
        self.wait = wait
        """Seconds after which the bot may reconnect, or None if unknown."""


class Reason(Enum):
    """The reason why the server ends a stream."""

    TAKEN_OVER = auto()
    """A newer connection of the same bot replaces this one."""
    STOPPING = auto()
    """The server is stopping."""
    NOT_READING = auto()
    """The bot has not read its stream for too long."""
    BAD_MESSAGE = auto()
    """The bot sent a message that the protocol does not allow."""
    NO_SUCH_GAME = auto()
    """The server plays none of the bot's games."""
    NO_SUCH_LADDER = auto()
    """The bot named a ladder that its games do not have on this server."""
    ENTRY_REFUSED = auto()
    """The bot may not play on one of its ladders."""
    FLOODING = auto()
    """The bot sent too much or connected too often, or its owner's bots have too many streams."""
    NO_CASUAL = auto()
    """The bot wants casual matches, but the server offers none."""
    NO_HELLO = auto()
    """The bot opened a stream but sent nothing."""
    TOKEN_REVOKED = auto()
    """The bot's token was replaced or revoked, or the bot was deleted."""
    OWNER_BANNED = auto()
    """The operator banned the bot's owner."""
