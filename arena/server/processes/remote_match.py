# Compiled: every decision passes through here.
"""A match that another process plays, represented in the first process and in the process of a bot's connection.

Neither process knows the match's state. They forward the bots' messages, with times of arrival, to the process that
plays it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import trio

from arena.match.effects import Cause, Over
from arena.replay.record import Draft
from arena.replay.thinking import Thinking
from arena.scheduling.candidate import LastMatch
from arena.server.matches.notices import NoticeTexts
from arena.server.matches.seated_match import SeatedMatch
from arena.server.sessions.player import BotPlayer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.replay.header import Header
    from arena.server.processes.line import ProcessLine
    from arena.server.sessions.messages import Answer
    from arena.server.sessions.player import Player


class PlayedOnHere(Exception):  # noqa: N818 - no error
    """Raised if the process that played a match has ended, so that the match continues here."""

    def __init__(self, driver: SeatedMatch) -> None:
        super().__init__()
        self.driver = driver


class SeatedPlayer(NamedTuple):
    """Description of a seat's player for another process."""

    id: int
    name: str
    owner: str
    house: bool
    session: int
    """The number of the player's session; 0 without a session."""
    lost: bool
    """The bot's `BotPlayer.lost`."""

    @classmethod
    def of(cls, player: Player) -> SeatedPlayer:
        """Describe a player of any kind."""
        if isinstance(player, BotPlayer):
            return cls(player.bot_id, player.name, player.owner, False, _session_of(player), player.lost)
        return cls(player.bot_id, player.name, "", True, 0, False)


class MatchElsewhere:
    """The destination of a bot's answers to a match that another process plays."""

    def __init__(self, match_id: int, line: ProcessLine) -> None:
        self._match_id = match_id
        self._line = line

    def answered(self, at: float, bot_player: BotPlayer, answer: Answer) -> None:
        """Forward an answer.

        Until the match rejects it, the answer counts as legal, so the bot may get its next questions.
        """
        told = self._line.told(at)
        self._line.call("match", self._match_id, "answered", bot_player.bot_id, told, answer.decision, answer.action)
        if bot_player.session is not None:
            bot_player.session.settle(self._match_id, answer.decision, at)

    def ready(self, now: float, bot_player: BotPlayer) -> None:
        """Report that a suspended bot is ready to play again."""
        self._line.call("match", self._match_id, "ready", bot_player.bot_id, self._line.told(now))

    def left(self, now: float, bot_player: BotPlayer, in_order: bool = False) -> None:
        """Do nothing, because the first process reports it."""

    def cut_off(self, now: float) -> None:
        """Do nothing, because the first process reports it."""

    def returned(self, now: float, bot_player: BotPlayer) -> None:
        """Do nothing, because the first process reports it."""

    def sent(self, now: float, seat: int, decision: int, lag: int) -> None:
        """Report that a question was handed to the transport."""
        self._line.call_soon("match", self._match_id, "sent", self._line.told(now), seat, decision, lag)


class RemoteMatch(SeatedMatch):
    """A match that a further process plays, represented in the first process by its players and its result."""

    def __init__(
        self, header: Header, players: Sequence[Player], charged: bool, line: ProcessLine, stand_in: str
    ) -> None:
        names = [player.name for player in players]
        super().__init__(header, players, charged, NoticeTexts(header.match_id, names, stand_in, header.game.actions))
        self.line = line
        """The connection to the process that plays the match."""
        self._over: Over | None = None
        self._draft: Draft | None = None
        self._fault = ""
        self._seconds = 0.0
        self._thinking: Sequence[Thinking] = [Thinking(0, 0, ()) for _ in players]
        self._due: Sequence[int] = [0] * len(players)
        self._frozen = False
        self._ended = trio.Event()
        self._moved: PlayedOnHere | None = None
        self.new: list[BotPlayer] = []
        """Bots that returned after the match's process had ended."""
        self.elsewhere = MatchElsewhere(self.match_id, line)
        """The destination of answers to the match."""
        for bot_player in self._seats:
            bot_player.playing.running[self.match_id] = self

    @property
    def charged(self) -> bool:
        """True if mistakes count as trouble."""
        return self._charged

    @property
    def last_match(self) -> LastMatch:
        """The scheduler's record of this match."""
        return LastMatch(self.match_id, self._seconds)

    @property
    def over(self) -> bool:
        """True if this process knows that the match has ended."""
        return self._over is not None

    @property
    def thinking(self) -> Sequence[Thinking]:
        """By seat, how the bots used their time; known once the match is over."""
        return self._thinking

    @property
    def due_so_far(self) -> Sequence[int]:
        """By seat, the number of decisions; known once the match is over."""
        return self._due

    def begin(self) -> None:
        """Have the other process begin the match."""
        if not self._frozen:
            seats = [SeatedPlayer.of(player) for player in self.players]
            self.line.call("process", self.match_id, "play", seats, self._charged)

    def freeze(self) -> None:
        """Have the other process accept no more inputs; the next server continues from here."""
        self._frozen = True
        self.line.call("process", self.match_id, "freeze")

    async def played(self) -> Over:
        """Wait for the end of the match and return its outcome. Raises: PlayedOnHere: its process has ended."""
        await self._ended.wait()
        if self._moved is not None:
            raise self._moved
        assert self._over is not None, "that is what has ended"
        return self._over

    def end(
        self,
        over: tuple[Any, ...],
        draft: tuple[Any, ...],
        fault: str,
        thinking: Sequence[tuple[Any, ...]],
        owed: tuple[list[int], dict[int, int]],
        seconds: float,
        forced: Sequence[str],
        due: Sequence[int],
    ) -> None:
        """Record the outcome reported by the process that played the match; `fault`: why the match could not be
        recorded."""
        self._over = Over(*over)
        self._draft = Draft(*draft) if draft else None
        self._fault = fault
        self._thinking = [Thinking(*each) for each in thinking]
        self.owed.decisions, self.owed.times = owed
        self._seconds = seconds
        self.forced = [Cause(each) for each in forced]
        self._due = due
        self._ended.set()

    def lost(self, why: str) -> None:
        """End without a result: the process that played the match has ended, and its course cannot be read."""
        seats = len(self.players)
        self._over = Over((), (), (0,) * seats, (False,) * seats, (), why)
        self._fault = why
        self._ended.set()

    def move(self, moved: PlayedOnHere) -> None:
        """Continue the match in this process."""
        self._moved = moved
        self._ended.set()

    def draft(self) -> Draft:
        """Return the replay of a finished match, without its ratings.

        Raises: RuntimeError: The match could not be recorded.
        """
        if self._draft is None:
            raise RuntimeError(self._fault)
        return self._draft

    def stored(self) -> None:
        """Have the other process release the match's journal."""
        self.line.call("process", self.match_id, "stored")

    def answered(self, at: float, bot_player: BotPlayer, answer: Answer) -> None:
        """Forward an answer of a bot that is connected here."""
        self.elsewhere.answered(at, bot_player, answer)

    def ready(self, now: float, bot_player: BotPlayer) -> None:
        """Report that a suspended bot is ready to play again."""
        self.elsewhere.ready(now, bot_player)

    def left(self, now: float, bot_player: BotPlayer, in_order: bool = False) -> None:
        """Report that a bot is gone."""
        self.absent(bot_player)
        self.line.call("match", self.match_id, "left", bot_player.bot_id, self.line.told(now), in_order)

    def cut_off(self, now: float) -> None:
        """Report that the server has lost bots."""
        lost = [bot_player for bot_player in self._seats if bot_player.lost]
        for bot_player in lost:
            self.absent(bot_player)
        told = self.line.told(now)
        self.line.call("match", self.match_id, "cut_off", [bot_player.bot_id for bot_player in lost], told)

    def returned(self, now: float, bot_player: BotPlayer) -> None:
        """Report that a bot has returned, with the number of its session."""
        if self.line.over:
            self.new.append(bot_player)
        told = self.line.told(now)
        self.line.call("match", self.match_id, "returned", bot_player.bot_id, told, _session_of(bot_player))


def _session_of(bot_player: BotPlayer) -> int:
    """Return the number of a bot's session; 0 if it has no session."""
    return 0 if bot_player.session is None else bot_player.session.number
