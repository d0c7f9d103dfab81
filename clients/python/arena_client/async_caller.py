"""Call an `async def decide` for several decisions at once, in the event loop that runs `play`."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import logging
import time
from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from arena_client.bot import Bot
from arena_client.caller import Caller, as_decision, checked, on_what, tell_time, where
from arena_client.decision import Decision
from arena_client.errors import ArgumentError, BadAnswerError
from arena_client.inbox import Delivery, Inbox
from arena_client.loops import Loop, Tasks
from arena_client.options import OnError
from arena_client.v1.play_pb2 import PlayRequest, PlayResponse

if TYPE_CHECKING:
    from arena_client.session import Session

_log = logging.getLogger("arena_client")


def is_async(bot: Bot) -> bool:
    """Return true if the bot has an `async def decide` and does not override `decide_many`.

    Raises: ArgumentError: Another method is an async function.
    """
    for name in ("decide_many", "on_match_start", "on_round", "on_match_end", "on_notice"):
        method = getattr(bot, name)
        if inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method):
            raise ArgumentError(f"{name}() is an async function, which only decide() may be: make it a plain one")
    return inspect.iscoroutinefunction(bot.decide) and type(bot).decide_many is Bot.decide_many


@dataclass(slots=True, eq=False)
class _Question:
    """A decision that the bot has not answered yet."""

    decision: Decision
    session: Session
    received: float
    since: float = 0.0
    """Time at which the bot was asked."""
    cancelled: bool = False

    @property
    def closed(self) -> bool:
        """True if an answer would have no effect any more."""
        return self.session.over or self.decision.closed


class AsyncCaller:
    """Caller of an `async def decide`, which runs at most as many calls at once as the bot's capacity.

    A call is cancelled when its decision is closed or its stream ends.
    """

    def __init__(self, caller: Caller, bot: Bot, on_error: OnError) -> None:
        """`caller`: calls the bot's other methods."""
        self._caller = caller
        self._bot = bot
        self._on_error = on_error
        self._interrupted = False
        self._numbers = itertools.count()
        self._running: dict[int, _Question] = {}
        """The questions that the bot is working on, by the numbers of their tasks."""
        self._waiting: deque[_Question] = deque()
        self._failure: BaseException | None = None
        self._over = False
        self._replies: dict[Session, PlayRequest] = {}
        """Answers to send in the next turn of the event loop, by session."""
        self._loop: Loop
        self._inbox: Inbox
        self._tasks: Tasks | None = None

    @property
    def interrupted(self) -> bool:
        """True if `interrupt` has ended the bot's own code."""
        return self._interrupted or self._caller.interrupted

    def interrupt(self) -> None:
        """End the bot's own code with `KeyboardInterrupt` if it is running.

        Call this from a signal handler, which runs in the thread of the event loop.
        """
        if self._tasks is not None and self._tasks.runs_now():
            self._interrupted = True
            raise KeyboardInterrupt
        self._caller.interrupt()

    def long_thought(self, seconds: float) -> str:
        """Describe the oldest decision that has taken longer than `seconds`; return "" if there is none.

        May be called from any thread.
        """
        oldest = min([*self._running.values()], key=lambda question: question.since, default=None)
        if oldest is not None and (passed := time.monotonic() - oldest.since) >= seconds:
            return on_what(self._bot, oldest.decision, passed)
        return self._caller.long_thought(seconds)

    async def answer(self, inbox: Inbox, loop: Loop) -> None:
        """Call the bot for each message in its inbox and send its answers, until the inbox ends.

        Raises the errors of the bot and of the connection.
        """
        self._inbox, self._loop = inbox, loop
        async with loop.tasks() as self._tasks:
            try:
                while (delivery := await inbox.get()) is not None:
                    if self._failure is not None:
                        raise self._failure
                    self._take(delivery)
            finally:
                self._over = True

    def _take(self, delivery: Delivery) -> None:
        assert self._tasks is not None, "it answers"
        session = delivery.session
        self._caller.news_of(delivery.message, session)
        for number, question in self._running.items():
            if question.closed:
                question.cancelled = True
                self._tasks.cancel(number)
        for each in delivery.message.decisions:
            decision = as_decision(each, session.games, session.open)
            self._waiting.append(_Question(decision, session, delivery.received))
        self._ask()

    def _ask(self) -> None:
        """Ask the bot about waiting decisions, until it is working on as many as its capacity."""
        assert self._tasks is not None, "it answers"
        while self._waiting and len(self._running) < self._bot.capacity and not self._over:
            question = self._waiting.popleft()
            if not question.closed:
                number = next(self._numbers)
                question.since = time.monotonic()
                self._running[number] = question
                self._tasks.start(number, partial(self._decide, question), partial(self._ended, number))

    def _ended(self, number: int) -> None:
        del self._running[number]
        self._ask()

    async def _decide(self, question: _Question) -> None:
        decision = question.decision
        tell_time(decision, decision.soft_ms, decision.bank_ms, time.monotonic() - question.received)
        try:
            try:
                choice: Any = await self._bot.decide(decision)  # type: ignore[misc]  # it is async
            except asyncio.CancelledError:
                if question.cancelled or self._over:
                    raise
                raise BadAnswerError("decide() ended as cancelled, but nobody has cancelled it") from None
            action = checked(decision, choice, 1, 1)
        except Exception as error:  # noqa: BLE001 - of the author's code
            error.add_note(where(decision, 1))
            if self._on_error == "raise":
                self._fail(question, error)
                return
            _log.exception("the bot failed; its first legal action is played instead")
            action = decision.legal[0]
        except (KeyboardInterrupt, SystemExit) as error:
            self._fail(question, error)
            return
        session = question.session
        if question.closed and not session.plays(decision.match_id):
            return  # While a match is running, late answers are sent too: the server's notice says how late they were.
        if session not in self._replies:
            self._replies[session] = PlayRequest()
            self._loop.soon(self._send)
        self._replies[session].answers.add(match_id=decision.match_id, decision_id=decision.decision_id, action=action)

    def _send(self) -> None:
        for session, reply in self._replies.items():
            session.send(reply)
        self._replies.clear()

    def _fail(self, question: _Question, error: BaseException) -> None:
        """Let `answer` raise the error."""
        self._failure = self._failure or error
        self._inbox.put(Delivery(question.session, PlayResponse(), 0.0))
