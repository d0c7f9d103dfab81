"""`connect`: an iterator over a bot's open decisions, for programs that decide themselves."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Unpack

from arena_client.bot import Bot
from arena_client.caller import Caller, as_decision, checked, tell_time
from arena_client.decision import Decision
from arena_client.errors import ArgumentError, BadAnswerError
from arena_client.inbox import Delivery, Inbox
from arena_client.loops import Loop, loop_here
from arena_client.options import Options, check_names
from arena_client.running import connected, new_connection
from arena_client.v1.play_pb2 import PlayRequest

if TYPE_CHECKING:
    from arena_client.session import Session


class OpenDecision(Decision):
    """A decision that the program answers itself."""

    __slots__ = ("_answered", "_loop", "_session")

    _answered: bool
    _loop: Loop
    _session: Session

    @property
    def closed(self) -> bool:
        """True if an answer is useless: the server has decided, the match is over, or the connection was lost.

        After a lost connection the server asks about the decision again, if it is still open.
        """
        return self._session.over or Decision.closed.__get__(self)

    async def answer(self, action: int) -> None:
        """Send the answer, one of `legal`. Nothing is sent to a match that is over.

        Raises:
            BadAnswerError: The action is not legal, or the decision has already been answered.
        """
        number = checked(self, action, 1, 1)
        if self._answered:
            raise BadAnswerError(f"decision {self.decision_id} of match {self.match_id} was answered before")
        self._answered = True
        if not self.closed or self._session.plays(self.match_id):
            request = PlayRequest()
            request.answers.add(match_id=self.match_id, decision_id=self.decision_id, action=number)
            self._session.send(request)
        await self._loop.rest()


class Decisions:
    """The open decisions of a connected bot, one after the other, until the requested matches are finished.

    Only one task may iterate. Any task may answer, in any order. The bot's methods for news, such as `on_round`, are
    called while the iterator waits.
    """

    def __init__(self, caller: Caller, inbox: Inbox, loop: Loop) -> None:
        self._caller = caller
        self._inbox = inbox
        self._loop = loop
        self._waiting: deque[tuple[OpenDecision, float]] = deque()
        """Decisions with their times of arrival."""

    def __aiter__(self) -> Decisions:
        return self

    async def __anext__(self) -> OpenDecision:
        """Return the next open decision.

        Raises:
            ArenaError: The server refuses the bot.
        """
        while True:
            while self._waiting:
                decision, received = self._waiting.popleft()
                if not decision.closed:
                    tell_time(decision, decision.soft_ms, decision.bank_ms, self._caller.clock() - received)
                    return decision
            if (delivery := await self._inbox.get()) is None:
                raise StopAsyncIteration
            self._take(delivery)

    def _take(self, delivery: Delivery) -> None:
        session = delivery.session
        self._caller.news_of(delivery.message, session)
        for each in delivery.message.decisions:
            decision: Any = as_decision(each, session.games, session.open, OpenDecision)
            decision._session, decision._loop, decision._answered = session, self._loop, False
            self._waiting.append((decision, delivery.received))


@asynccontextmanager
async def connect(bot: Bot, address: str | None = None, **options: Unpack[Options]) -> AsyncIterator[Decisions]:
    """Connect a bot whose decisions this program makes itself, under asyncio or trio.

        async with connect(Bot(name="my-bot", version="1"), "localhost:50051", matches=10) as decisions:
            async for decision in decisions:
                await decision.answer(decision.legal[0])

    The options are those of `play`. The bot's `decide` is not called; its other methods are. Set a version, and change
    it whenever you change your code, because no digest covers your loop. If the program leaves the `async with` block
    early, the bot leaves its matches with notice. An exception cuts the connection.
    """
    check_names(options, "connect")
    if bot.version is None:
        raise ArgumentError(f"name the version of this code: connect(Bot(name={bot.name or 'my-bot'!r}, version='1'))")
    caller, connection = Caller(bot, options.get("on_error", "raise")), new_connection(bot, address, options)
    loop = loop_here()
    inbox = loop.inbox()
    async with connected(connection, inbox, loop) as network:
        yield Decisions(caller, inbox, loop)
        network.soon(connection.leave)
        await inbox.ended()
