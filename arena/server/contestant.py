"""A bot as the server knows it while it is connected or has matches running, whatever its connections do."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, Final

from arena.server.messages import Answer, Notice, NoticeKind, Reason

if TYPE_CHECKING:
    from arena.ladder.scheduling import Met
    from arena.server.gathering import Gathering
    from arena.server.messages import Ready, Said
    from arena.server.session import Session
    from arena.server.table import Table

CROSSING: Final = 256
"""Withdrawn matches of a bot for which a Ready may still be on its way: as many as it plays at once."""


class Contestant:
    """One bot: its connection, its invitations and its matches."""

    def __init__(self, bot_id: int, name: str, owner: str) -> None:
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
        self.met: Met | None = None
        """The last match it has got up from."""
        self.parked = False
        """Whether it is given no seats."""
        self.gatherings: dict[int, Gathering] = {}
        self.tables: dict[int, Table] = {}
        self._withdrawn: deque[int] = deque(maxlen=CROSSING)

    @property
    def busy(self) -> int:
        """Seats it was offered or holds."""
        return len(self.gatherings) + len(self.tables)

    def room(self, limit: int) -> int:
        """How many more matches it can play now; `limit` bounds what it announced, and it is none when it is gone."""
        return 0 if self.session is None else max(0, min(self.session.capacity, limit) - self.busy)

    def seated(self, now: float, game: str) -> None:
        """It was given a seat."""
        self.waiting_since[game] = now
        self.pending[game] += 1

    def hear(self, said: Said) -> None:
        """Takes a message of the bot: one turn."""
        if said.heartbeat is not None and self.session is not None:
            self.session.beaten(said.at, said.heartbeat)
        if said.capacity is not None and self.session is not None:
            self.session.capacity = said.capacity
        for match_id in said.declined:
            if (gathering := self.gatherings.get(match_id)) is not None:
                gathering.forgo(self, "declined")
        for ready in said.ready:
            self._ready(said.at, ready)
        for answer in said.answers:
            table = self.tables.get(answer.match_id)
            if table is None:
                self._unknown(answer)
            else:
                table.answered(said.at, self, answer)

    def withdrawn(self, match_id: int, text: str) -> None:
        """A match that it was invited to does not take place. If its Ready crosses that, the Ready was no mistake."""
        self._withdrawn.append(match_id)
        if self.session is not None:
            self.session.notify(Notice(NoticeKind.WITHDRAWN, text, match_id))

    def connected(self, now: float, session: Session) -> None:
        """A session began; open decisions and invitations are put to it."""
        self.session = session
        self.version = session.hello.version
        self.waiting_since = dict.fromkeys(session.hello.games, now)
        for gathering in self.gatherings.values():
            gathering.invite(self)
        for table in self.tables.values():
            table.returned(now, self)

    def disconnected(self, now: float, session: Session) -> None:
        """A session ended; if it was the current one the bot is gone from its tables."""
        if self.session is session:
            self.session = None
            for gathering in self.gatherings.values():
                gathering.forgo(self, "left")
            for table in list(self.tables.values()):
                table.left(now, self)

    def shut_out(self, why: str) -> None:
        """Its stream is closed: it floods."""
        if self.session is not None:
            self.session.close(Reason.FLOODING, why)

    def _ready(self, at: float, ready: Ready) -> None:
        if (gathering := self.gatherings.get(ready.match_id)) is not None:
            gathering.ready(self, ready.nonce)
        elif (table := self.tables.get(ready.match_id)) is not None:
            table.ready(at, self)
        elif ready.match_id not in self._withdrawn:
            self._unknown(ready)

    def _unknown(self, said: Answer | Ready) -> None:
        if self.session is not None:
            self.session.notify(
                Notice(
                    NoticeKind.UNKNOWN,
                    f"you have no seat at match {said.match_id}: it is over, withdrawn or was never yours",
                    said.match_id,
                    decision=said.decision if isinstance(said, Answer) else 0,
                    action=said.action if isinstance(said, Answer) else None,
                )
            )
