"""Who sits in a seat: a bot as the server knows it while it is connected or has matches, or a house bot."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from arena.house import HouseBot  # a compiled dataclass looks its types up at run time
from arena.server.sessions.messages import Answer, Notice, NoticeKind, Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from arena.scheduling.pool import LastMatch
    from arena.server.sessions.messages import BotMessage, Ready
    from arena.server.sessions.session import Session

CROSSING: Final = 256
"""Withdrawn matches of a bot for which a Ready may still be on its way: as many as it plays at once."""


class PendingMatch(Protocol):
    """A match that waits for its bots to be ready."""

    def invite(self, bot_player: BotPlayer) -> None:
        """Send a bot its invitation, again if need be."""

    def ready(self, bot_player: BotPlayer, nonce: bytes) -> None:
        """Count a bot as ready."""

    def forgo(self, bot_player: BotPlayer, how: str) -> None:
        """Count a bot as not coming: it "left" or "declined"."""


class RunningMatch(Protocol):
    """A match that is being played. Instants are seconds of the server's clock."""

    def answered(self, at: float, bot_player: BotPlayer, answer: Answer) -> None:
        """Take a bot's answer."""

    def ready(self, now: float, bot_player: BotPlayer) -> None:
        """Let a suspended bot play again."""

    def left(self, now: float, bot_player: BotPlayer) -> None:
        """Count a bot as absent."""

    def returned(self, now: float, bot_player: BotPlayer) -> None:
        """Count a bot as present."""


class BotPlayer:
    """One bot: its session, its invitations and its matches."""

    def __init__(self, bot_id: int, name: str, owner: str, changed: Callable[[BotPlayer], None]) -> None:
        """`changed` is told when the bot has more or less room for matches."""
        self.bot_id = bot_id
        self.name = name
        self.owner = owner
        self.session: Session | None = None
        self.version = ""
        """What it said it was when it last came."""
        self.waiting_since: dict[str, float] = {}
        """By game it plays, when it last began to wait for a seat, in seconds of the server's clock."""
        self.pending: Counter[str] = Counter()
        """By game, the seats it was given whose results the ladder does not know, as far as the scheduler knows."""
        self.last_match: LastMatch | None = None
        """The last match it played."""
        self.parked = False
        """Whether it is given no seats."""
        self.invitations: dict[int, PendingMatch] = {}
        """By match, those it was invited to."""
        self.matches: dict[int, RunningMatch] = {}
        """By match, those it plays."""
        self._changed = changed
        self._withdrawn: deque[int] = deque(maxlen=CROSSING)

    @property
    def busy(self) -> int:
        """Seats it was offered or holds."""
        return len(self.invitations) + len(self.matches)

    def room(self, matches_per_bot: int) -> int:
        """How many more matches it can play now: what it announced, `matches_per_bot` at most; none when it is gone."""
        return 0 if self.session is None else max(0, min(self.session.capacity, matches_per_bot) - self.busy)

    def seated(self, now: float, game: str) -> None:
        """Record that it was given a seat."""
        self.waiting_since[game] = now
        self.pending[game] += 1

    def hear(self, message: BotMessage) -> None:
        """Take a message of the bot: one turn."""
        if message.heartbeat is not None and self.session is not None:
            self.session.beaten(message.at, message.heartbeat)
        if message.capacity is not None and self.session is not None:
            self.session.capacity = message.capacity
        for match_id in message.declined:
            if (pending := self.invitations.get(match_id)) is not None:
                pending.forgo(self, "declined")
        for ready in message.ready:
            self._ready(message.at, ready)
        for answer in message.answers:
            match = self.matches.get(answer.match_id)
            if match is None:
                self._unknown(answer)
            else:
                match.answered(message.at, self, answer)
        if message.capacity is not None:
            self._changed(self)

    def withdrawn(self, match_id: int, text: str) -> None:
        """Tell it that a match takes no place to which it was invited; a Ready that crosses this is no mistake."""
        self._withdrawn.append(match_id)
        if self.session is not None:
            self.session.notify(Notice(NoticeKind.WITHDRAWN, text, match_id))

    def connected(self, now: float, session: Session) -> None:
        """Begin a session: open decisions and invitations are put to it."""
        self.session = session
        self.version = session.hello.version
        self.waiting_since = dict.fromkeys(session.hello.games, now)
        for pending in self.invitations.values():
            pending.invite(self)
        for match in self.matches.values():
            match.returned(now, self)

    def disconnected(self, now: float, session: Session) -> None:
        """End a session; if it was the current one the bot is gone from its matches."""
        if self.session is session:
            self.session = None
            for pending in self.invitations.values():
                pending.forgo(self, "left")
            for match in list(self.matches.values()):
                match.left(now, self)

    def shut_out(self, why: str) -> None:
        """Close its stream for flooding."""
        if self.session is not None:
            self.session.close(Reason.FLOODING, why)

    def _ready(self, at: float, ready: Ready) -> None:
        if (pending := self.invitations.get(ready.match_id)) is not None:
            pending.ready(self, ready.nonce)
        elif (match := self.matches.get(ready.match_id)) is not None:
            match.ready(at, self)
        elif ready.match_id not in self._withdrawn:
            self._unknown(ready)

    def _unknown(self, about: Answer | Ready) -> None:
        if self.session is not None:
            self.session.notify(
                Notice(
                    NoticeKind.UNKNOWN,
                    f"you have no seat at match {about.match_id}: it is over, withdrawn or was never yours",
                    about.match_id,
                    decision=about.decision if isinstance(about, Answer) else 0,
                    action=about.action if isinstance(about, Answer) else None,
                )
            )


@dataclass(frozen=True, slots=True)
class HousePlayer:
    """A house bot under its number in the store."""

    bot_id: int
    bot: HouseBot

    @property
    def name(self) -> str:
        """The bot's name."""
        return self.bot.name

    @property
    def version(self) -> str:
        """The bot's version."""
        return self.bot.version


Player: TypeAlias = BotPlayer | HousePlayer
