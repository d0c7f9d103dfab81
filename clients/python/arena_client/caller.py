"""Call the bot's own code for each message, and turn its answers into replies.

This module never waits and does no input or output. Exceptions raised by the bot propagate.
"""

from __future__ import annotations

import inspect
import logging
import operator
import time
from collections.abc import Callable, Container, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar, get_args

from arena_client.bot import Bot
from arena_client.decision import Catalog, Decision
from arena_client.descriptors import pool_of, unpacked
from arena_client.errors import ArgumentError, BadAnswerError, ProtocolMismatchError
from arena_client.options import OnError
from arena_client.v1 import play_pb2
from arena_client.v1.play_pb2 import NoticeKind, PlayRequest, PlayResponse

if TYPE_CHECKING:
    from arena_client.inbox import Gathered
    from arena_client.session import Session

_M = TypeVar("_M")
_log = logging.getLogger("arena_client")

HOLD = 0.01
"""Maximum time in seconds that finished answers wait for further answers before they are sent."""


class Caller:
    """Calls all methods of a bot, one at a time, in the thread that uses this object."""

    def __init__(self, bot: Bot, on_error: OnError = "raise", clock: Callable[[], float] = time.monotonic) -> None:
        if on_error not in get_args(OnError):
            raise ArgumentError(f"on_error is {on_error!r}: it is 'raise' or 'continue'")
        self.thinking = False
        """True if the bot's own code is running."""
        self.interrupted = False
        """True if `interrupt` has ended the bot's own code."""
        self._may_think = True
        self._subject: Decision | str = ""
        """The decision that the bot's own code is working on, or the name of the called method."""
        self._bot = bot
        self._on_error = on_error
        self.clock = clock
        self._out: PlayRequest | None = None
        """The message to send; None if there is none."""
        self._since = 0.0
        """Time when the pending message was created, or when its last part was sent."""
        self._now = 0.0
        """Time of the last clock reading. While the bot's own code runs, the time at which it began."""

    def react(self, message: PlayResponse, session: Session | Gathered, received: float) -> Iterator[PlayRequest]:
        """Yield the bot's replies to a message: no reply, one, or several if the bot takes long.

        `session`: the session of the message's stream. `received`: the time at which the message arrived, in
        seconds of the clock. The bot is not asked about closed decisions, nor about decisions of an ended stream.

        Raises:
            BadAnswerError: The bot's answer is invalid.
            ProtocolMismatchError: A decision's game is unknown.
            Exception: The bot's code failed, and the bot does not continue after errors.
        """
        self._since = self._read_clock()
        decisions = [] if session.over else message.decisions[:]
        # Check whether the message has any field besides decisions, which is cheaper than checking each field.
        if len(message.ListFields()) > bool(decisions):
            yield from self.news(message, session)
        if decisions:
            questions = [as_decision(each, session.games, session.open) for each in decisions]
            yield from self._answers(questions, session, received)
        del message, decisions  # Free them now: the next message can reuse their memory, which is still in the cache.
        if self._out is not None:
            yield self._take()

    def news_of(self, message: PlayResponse, session: Session | Gathered) -> None:
        """Call the bot for everything in a message except decisions, and send its replies."""
        self._since = self._read_clock()
        for request in self.news(message, session):
            session.send(request)
        if self._out is not None:
            session.send(self._take())

    def stop(self) -> None:
        """From now on, raise `KeyboardInterrupt` instead of calling the bot."""
        self._may_think = False

    def interrupt(self) -> None:
        """End the bot's own code with `KeyboardInterrupt`, now or at its next call.

        Call this from a signal handler, which runs in the bot's own thread.
        """
        self.stop()
        if self.thinking:
            self._think(self._subject)

    def long_thought(self, seconds: float) -> str:
        """Describe the current decision if it has taken longer than `seconds`; otherwise return "". Thread-safe."""
        began, subject = self._now, self._subject
        passed = self.clock() - began
        if passed < seconds or not self.thinking or self._now != began:
            return ""
        return on_what(self._bot, subject, passed)

    def _think(self, subject: Decision | str) -> None:
        """Record that the bot's own code has been running since the last clock reading."""
        self._subject = subject
        self.thinking = True
        if not self._may_think:
            self.interrupted = True
            raise KeyboardInterrupt

    def _reply(self) -> PlayRequest:
        """Return the pending reply, creating it if needed."""
        if self._out is None:
            self._out = PlayRequest()
        return self._out

    def _take(self) -> PlayRequest:
        """Return the pending reply and clear it."""
        reply, self._out, self._since = self._reply(), None, self._read_clock()
        return reply

    def _held(self) -> bool:
        """Return true if the pending reply has waited long enough to be sent."""
        return self._out is not None and self._read_clock() - self._since > HOLD

    def _read_clock(self) -> float:
        self._now = self.clock()
        return self._now

    def news(self, message: PlayResponse, session: Session | Gathered | None = None) -> Iterator[PlayRequest]:
        """Call the bot for everything in a message except decisions, and add the necessary answers to the reply."""
        for start in message.starts:
            self._bot._games_by_match[start.match_id] = start.game + (f" on {start.ladder}" if start.ladder else "")
            self._tell(self._bot.on_match_start, start)
        for round_report in message.rounds:
            self._tell(self._bot.on_round, round_report)
        for report in message.reports:
            self._tell(self._bot.on_match_end, report)
            self._bot._games_by_match.pop(report.match_id, None)
        for notice in message.notices:
            self._tell(self._bot.on_notice, notice)
            if notice.kind == NoticeKind.NOTICE_KIND_SUSPENDED and (session is None or session.plays(notice.match_id)):
                self._reply().resumed.append(notice.match_id)  # This notice arrives only if the bot has returned.
            if self._held():
                yield self._take()

    def _answers(
        self, decisions: list[Decision], session: Session | Gathered, received: float
    ) -> Iterator[PlayRequest]:
        """Add answers to the reply; yield the parts to send before all decisions are answered."""
        decisions = [each for each in decisions if not each.closed]
        left = [(each.soft_ms, each.bank_ms) for each in decisions]  # The times left on arrival.
        while decisions:
            done = 0
            waited = self._read_clock() - received
            for decision, (soft, bank) in zip(decisions, left, strict=True):
                tell_time(decision, soft, bank, waited)
            try:
                self._think(decisions[0])
                choices = iter(self._bot.decide_many(decisions))
                for decision, (soft, bank) in zip(decisions, left, strict=True):
                    tell_time(decision, soft, bank, self._now - received)
                    choice = next(choices, None)
                    self.thinking = False
                    if choice is not None or not decision.closed:
                        action = checked(decision, choice, done + 1, len(decisions))
                        self._answer(decision, action, session)
                    done += 1
                    if self._held():
                        yield self._take()
                    self._think(decisions[min(done, len(decisions) - 1)])
                if next(choices, None) is not None:
                    raise BadAnswerError(f"decide_many() gave more than {done} answers to {done} decisions")
            except Exception as error:
                self.thinking = False
                error.add_note(where(decisions[min(done, len(decisions) - 1)], len(decisions)))
                if self._on_error == "raise":
                    raise
                _log.exception("the bot failed; its first legal action is played instead")
                if done < len(decisions):
                    self._answer(decisions[done], decisions[done].legal[0], session)
                    done += 1
                    if self._held():
                        yield self._take()
            finally:
                self.thinking = False
            decisions, left = decisions[done:], left[done:]

    def _answer(self, decision: Decision, action: int, session: Session | Gathered) -> None:
        if decision.closed and not session.plays(decision.match_id):
            return  # In a running match a late answer gets a notice that says how late it is.
        answer = self._reply().answers.add()
        answer.match_id = decision.match_id
        answer.decision_id = decision.decision_id
        answer.action = action

    def _tell(self, method: Callable[[_M], None], news: _M) -> None:
        """Call a method of the bot that returns no answer."""
        self._read_clock()
        try:
            self._think(getattr(method, "__name__", repr(method)))
            method(news)
        except Exception:
            if self._on_error == "raise":
                raise
            _log.exception("the bot failed outside a decision")
        finally:
            self.thinking = False


def as_decision(
    message: play_pb2.Decision,
    games: Mapping[str, Catalog],
    open_ones: Container[tuple[int, int]] | None = None,
    make: type[Decision] = Decision,
) -> Decision:
    """Convert a message to a decision for the bot. `make`: the class of the decision.

    Raises `ProtocolMismatchError` if there is no catalogue for the message's game or view.
    """
    if (name := message.WhichOneof("view")) is not None:
        catalog, view, other = games.get(name), getattr(message, name), None
    else:
        other = message.other
        kind = other.TypeName()
        catalog = next((each for each in games.values() if kind and each.message.view_type == kind), None)
        view = None if catalog is None else unpacked(other, pool_of([catalog.message]))
    if catalog is None:
        raise ProtocolMismatchError(
            "the server asks for a decision in a game unknown to this client: update arena-client"
        )
    return make(
        message.match_id,
        message.decision_id,
        catalog,
        view,
        message.legal[:],
        message.soft_ms,
        message.bank_ms,
        other,
        open_ones,
    )


def on_what(bot: Bot, subject: Decision | str, passed: float) -> str:
    """Describe the decision or method on which the bot has been working for `passed` seconds."""
    who = f"{bot.name or type(bot).__name__} has been thinking for {passed:.0f} s"
    if isinstance(subject, str):
        return f"{who} in {subject}()"
    had = (subject.soft_ms + subject.bank_ms) / 1000
    return (
        f"{who} about decision {subject.decision_id} of match {subject.match_id} of {subject.game.name}, "
        f"for which it had {had:.0f} s"
    )


def where(decision: Decision, of: int) -> str:
    """Describe a decision and the bot's view; `of`: the number of decisions in the batch."""
    from google.protobuf.text_format import MessageToString

    view = MessageToString(decision.view, as_one_line=True)
    batch = "" if of == 1 else f", the first unanswered of {of}"
    number = getattr(decision.view, "round", None)
    where = "" if number is None else f"round {number + 1}, "
    return (
        f"in match {decision.match_id} of {decision.game.name}, {where}"
        f"decision {decision.decision_id}{batch}; legal: {decision.legal}; view: {view}"
    )


def tell_time(decision: Decision, soft: int, bank: int, waited: float) -> None:
    """Set the time left for a decision that arrived `waited` seconds ago with `soft` and `bank` milliseconds."""
    if waited >= 0.001:
        passed = round(waited * 1000)
        decision.soft_ms = max(0, soft - passed)
        decision.bank_ms = max(0, bank - max(0, passed - soft))


def checked(decision: Decision, choice: object, count: int, of: int) -> int:
    """Return the choice as a plain int (NumPy integers are accepted, too), or raise `BadAnswerError`."""
    try:
        action = operator.index(choice)  # type: ignore[arg-type]  # the author's code may return anything
    except TypeError:
        if inspect.iscoroutine(choice):
            choice.close()
            raise BadAnswerError(
                "decide() returns a coroutine: write it as async def decide(self, decision), without a decide_many()"
            ) from None
        raise BadAnswerError(
            f"answer {count} of {of} is {choice!r}: an answer is an action, one of decision.legal"
        ) from None
    if action not in decision.legal:
        raise BadAnswerError(
            f"answer {count} of {of} is {action}, which is not legal here; decision.legal is {decision.legal}"
        )
    return action
