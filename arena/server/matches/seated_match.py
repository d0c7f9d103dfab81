# Compiled: every decision comes by here.
"""A match and who sits at it, whichever process plays it: what its bots are told of it, and what it costs them."""

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
    """A match that began and is not stored yet."""

    def __init__(self, header: Header, players: Sequence[Player], charged: bool, notices: NoticeTexts) -> None:
        """`charged`: whether what goes wrong counts as trouble."""
        self.match_id = header.match_id
        self.players = players
        self.wakes_at = math.inf
        self.timer_id = 0
        self.owed = OwedTime(len(players))
        """The time for which each seat owed an answer."""
        self.forced: list[Cause] = []
        """Why decisions were made by this server for their seats, one by one."""
        self._header = header
        self._charged = charged
        self._notices = notices
        self.absences = [0] * len(players)
        """By seat, the number of its bot's absence from here; 0 without one."""
        self._seats = {player: seat for seat, player in enumerate(players) if isinstance(player, BotPlayer)}

    @property
    def deadline(self) -> float:
        """When the match wants to be woken here, in seconds of the server's clock."""
        return math.inf

    def on_timer(self, now: float) -> None:
        """Act on that."""

    @property
    def header(self) -> Header:
        """The match before its first input. Secret until the match is over."""
        return self._header

    @property
    def game(self) -> str:
        """The name of the game."""
        return self._header.game.name

    @property
    def kind(self) -> MatchKind:
        """Kind."""
        return self._header.kind

    @property
    def last_match(self) -> LastMatch:
        """The match as the scheduler remembers it of its players."""
        raise NotImplementedError

    @property
    def tells_paces(self) -> Sequence[bool]:
        """By seat, whether its bot made so many of its decisions itself that the match tells its pace."""
        return [2 * seat.missed < seat.decisions for seat in self.thinking]

    @property
    def over(self) -> bool:
        """True if the match has ended; its result may yet have to be stored."""
        raise NotImplementedError

    @property
    def thinking(self) -> Sequence[Thinking]:
        """By seat, how the bots used their time so far, as far as it is known here."""
        raise NotImplementedError

    @property
    def due_so_far(self) -> Sequence[int]:
        """By seat, the number of decisions so far, as far as it is known here."""
        raise NotImplementedError

    def begin(self) -> None:
        """Begin the match; bots that are gone already are absent from the start."""
        raise NotImplementedError

    def freeze(self) -> None:
        """Take no more inputs: the next server continues from here."""
        raise NotImplementedError

    async def played(self) -> Over:
        """Wait for the end of the match; how it ended."""
        raise NotImplementedError

    def draft(self) -> Draft:
        """The replay of a match that is over, without its ratings; raises what was raised in recording it."""
        raise NotImplementedError

    def report(self, over: Over, changes: Sequence[live.RatingChange], entry: LogEntry | None = None) -> None:
        """Tell the bots how the match ended, and what the log says of it; without `changes` it was not rated."""
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
        """Keep in mind that a bot is gone, for what it is charged with."""
        self.absences[self._seats[bot_player]] = bot_player.absence

    def troubles(self, over: Over) -> list[bool | None]:
        """By seat, whether the match counts as trouble for its bot; None where the absence behind it has counted."""
        if not self._charged:
            return [None] * len(over.troubled)
        troubles: list[bool | None] = list(over.troubled)
        for bot_player, seat in self._seats.items():
            absence = self.absences[seat]
            if over.troubled[seat] and absence:
                troubles[seat] = None if bot_player.counted_absence == absence else True
                bot_player.counted_absence = absence
        return troubles

    def delayed(self) -> None:
        """Tell the bots that the result cannot be stored yet."""
        for seat in self._seats.values():
            self._notify(seat, self._notices.result_delayed())

    def stored(self) -> None:
        """Release what the journal has of the match: it is over and stored."""
        raise NotImplementedError

    def seats(self, bot_player: BotPlayer) -> bool:
        """True if a bot has a seat."""
        return bot_player in self._seats

    def dissolve(self) -> None:
        """Remove the match from its players."""
        for bot_player in self._seats:
            bot_player.match_ended(self.match_id)

    def _session(self, seat: int) -> Session | None:
        player = self.players[seat]
        return player.session if isinstance(player, BotPlayer) else None

    def _notify(self, seat: int, notice: Notice) -> None:
        session = self._session(seat)
        if session is not None:
            session.notify(notice)
