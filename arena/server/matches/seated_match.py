# Compiled: every decision passes through here.
"""A match with its players, played in this process or another: its messages to bots, and the troubles it counts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from arena.scheduling.pace import OwedTime
from arena.server.sessions.messages import MatchOver, RatingMove
from arena.server.sessions.player import BotPlayer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.ladder import live
    from arena.log.head import LogEntry
    from arena.match.effects import Cause, Over
    from arena.replay.header import Header, MatchKind
    from arena.replay.record import Draft
    from arena.replay.thinking import Thinking
    from arena.scheduling.candidate import LastMatch
    from arena.server.matches.notices import NoticeTexts
    from arena.server.sessions.messages import Notice
    from arena.server.sessions.player import Player
    from arena.server.sessions.session import Session


class SeatedMatch:
    """A match that has begun and whose result is not stored yet."""

    def __init__(self, header: Header, players: Sequence[Player], charged: bool, notices: NoticeTexts) -> None:
        """`charged`: whether mistakes count as trouble."""
        self.match_id = header.match_id
        self.players = players
        self.wakes_at = math.inf
        self.timer_id = 0
        self.owed = OwedTime(len(players))
        """The time for which each seat owed an answer."""
        self.forced: list[Cause] = []
        """The reason for each decision that this server made for a seat."""
        self._header = header
        self._charged = charged
        self._notices = notices
        self.absences = [0] * len(players)
        """By seat, the number of its bot's current absence; 0 if the bot is present."""
        self._seats = {player: seat for seat, player in enumerate(players) if isinstance(player, BotPlayer)}

    @property
    def deadline(self) -> float:
        """Next deadline of the match in this process, in seconds of the server's clock."""
        return math.inf

    def on_timer(self, now: float) -> None:
        """Act on the deadline."""

    @property
    def header(self) -> Header:
        """The match before its first input. Secret until the match is over."""
        return self._header

    @property
    def ladder_id(self) -> str:
        """The id of the ladder."""
        return self._header.ladder_id

    @property
    def kind(self) -> MatchKind:
        """The kind of match."""
        return self._header.kind

    @property
    def last_match(self) -> LastMatch:
        """The scheduler's record of this match."""
        raise NotImplementedError

    @property
    def tells_paces(self) -> Sequence[bool]:
        """By seat, true if its bot made enough decisions to measure its pace."""
        return [2 * seat.missed < seat.decisions for seat in self.thinking]

    @property
    def over(self) -> bool:
        """True if the match has ended; its result may not be stored yet."""
        raise NotImplementedError

    @property
    def thinking(self) -> Sequence[Thinking]:
        """By seat, how the bot has used its time so far, as far as this process knows."""
        raise NotImplementedError

    @property
    def due_so_far(self) -> Sequence[int]:
        """By seat, the number of decisions so far, as far as this process knows."""
        raise NotImplementedError

    def begin(self) -> None:
        """Begin the match; bots that have already left are absent from the start."""
        raise NotImplementedError

    def freeze(self) -> None:
        """Accept no more inputs: the next server continues from here."""
        raise NotImplementedError

    async def played(self) -> Over:
        """Wait for the end of the match and return its outcome."""
        raise NotImplementedError

    def draft(self) -> Draft:
        """The replay of a finished match, without its ratings. Raises the exception that recording raised, if any."""
        raise NotImplementedError

    def report(self, over: Over, changes: Sequence[live.RatingChange], entry: LogEntry | None = None) -> None:
        """Send the bots the result and its log entry. `changes` is empty if the match was not rated."""
        for bot_player, seat in self._seats.items():
            if bot_player.session is not None:
                rating = RatingMove(changes[seat].before.value, changes[seat].after.value) if changes else None
                bot_player.session.report(
                    MatchOver(
                        self.match_id,
                        seat,
                        over.scores,
                        over.places,
                        rating,
                        over.counts,
                        over.interrupted,
                        self._header.kind,
                        over.spoilt,
                        entry,
                    )
                )

    def absent(self, bot_player: BotPlayer) -> None:
        """Record the number of a bot's absence, which may count as trouble."""
        self.absences[self._seats[bot_player]] = bot_player.playing.absence

    def troubles(self, over: Over) -> list[bool | None]:
        """By seat, whether the match counts as trouble for its bot; None if the absence has already counted in another
        match.
        """
        if not self._charged:
            return [None] * len(over.troubled)
        troubles: list[bool | None] = list(over.troubled)
        for bot_player, seat in self._seats.items():
            absence = self.absences[seat]
            if over.troubled[seat] and absence:
                troubles[seat] = bot_player.playing.count_absence(absence, self._header.further_ladder) or None
        return troubles

    def delayed(self) -> None:
        """Notify the bots that the result cannot be stored yet."""
        for seat in self._seats.values():
            self._notify(seat, self._notices.result_delayed())

    def stored(self) -> None:
        """Release the match's part of the journal, because its result is stored."""
        raise NotImplementedError

    def seats(self, bot_player: BotPlayer) -> bool:
        """True if a bot has a seat."""
        return bot_player in self._seats

    def dissolve(self) -> None:
        """Remove the match from its players."""
        for bot_player in self._seats:
            bot_player.playing.end(self.match_id)

    def _session(self, seat: int) -> Session | None:
        player = self.players[seat]
        return player.session if isinstance(player, BotPlayer) else None

    def _notify(self, seat: int, notice: Notice) -> None:
        session = self._session(seat)
        if session is not None:
            session.notify(notice)
