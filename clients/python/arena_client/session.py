"""The conversation of one stream without any input or output: messages from the server in, messages to it out.

It calls the bot, and what the bot raises comes out here. It never waits and moves no bytes: `connection` does.
"""

from __future__ import annotations

import hashlib
import logging
import operator
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from arena_client.bot import Bot
from arena_client.decision import Catalog, Decision
from arena_client.errors import BadAnswerError, NoGameInCommonError, ProtocolMismatchError
from arena_client.v1 import play_pb2
from arena_client.v1.play_pb2 import (
    Invitation,
    MatchReport,
    MatchStart,
    Notice,
    NoticeKind,
    PlayRequest,
    PlayResponse,
    Welcome,
)

_log = logging.getLogger("arena_client")

OnError: TypeAlias = Literal["raise", "continue"]
"""What an exception in the bot does: end the run, or be logged while the first legal action is played."""

_NO_MATCH = (NoticeKind.NOTICE_KIND_WITHDRAWN, NoticeKind.NOTICE_KIND_TAKEN)
"""Notices after which an accepted invitation leads to no match."""

HOLD = 0.01
"""Seconds that finished answers wait for further ones before they are sent without them."""


@dataclass(slots=True)
class Progress:
    """The state that outlives a stream: how many matches are wanted, and which are being played."""

    wanted: int | None = None
    """How many matches to play in all; None for no end."""
    finished: int = 0
    playing: set[int] = field(default_factory=set)
    """Matches that have begun."""
    accepted: dict[int, bytes] = field(default_factory=dict)
    """Invitations accepted whose matches have yet to begin, with their commitments."""

    @property
    def more(self) -> bool:
        """Return whether another match may begin."""
        return self.wanted is None or self.finished + len(self.playing) + len(self.accepted) < self.wanted

    def room(self, capacity: int) -> int:
        """Return how many matches may be played at once, given a capacity."""
        return capacity if self.wanted is None else min(capacity, self.wanted - self.finished)

    @property
    def done(self) -> bool:
        """Whether nothing is left to play."""
        return not (self.more or self.playing or self.accepted)

    def reconnect(self) -> None:
        """Forget what the server says again at a new connection: invitations, and the matches that go on."""
        self.playing.clear()
        self.accepted.clear()


class Session:
    """The conversation of one stream, from the welcome on."""

    def __init__(
        self,
        bot: Bot,
        welcome: Welcome,
        progress: Progress,
        on_error: OnError = "raise",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Raises `NoGameInCommonError` when the welcome has none of the bot's games."""
        self.thinking = False
        """Whether the bot's own code is running."""
        self._bot = bot
        self._progress = progress
        self._room = progress.room(bot.capacity)
        """The capacity that the server knows; below all others where it has to be said again."""
        self._on_error = on_error
        self._clock = clock
        self._out: PlayRequest | None = None
        """What is to be said; None where nothing is."""
        self._since = 0.0
        """When the message came, or the last part of what is said to it was taken."""
        self._games = {game.name: Catalog.of(game) for game in welcome.games}
        if not self._games.keys() & set(bot.games):
            raise NoGameInCommonError(
                f"the server plays none of the bot's games ({', '.join(bot.games) or 'it names none'})"
            )

    def react(self, message: PlayResponse) -> Iterator[PlayRequest]:
        """Yield the replies to a message: one, or several where the bot takes its time.

        Raises what the bot raises (unless told to go on), `BadAnswerError` and `ProtocolMismatchError`.
        """
        self._since = self._clock()
        decisions = message.decisions[:]
        if len(message.ListFields()) > bool(decisions):  # more than decisions: cheaper than to look for each kind
            yield from self._news(message)
        if decisions:
            yield from self._answers([self._decision(each) for each in decisions])
        if (room := self._progress.room(self._bot.capacity)) > self._room:
            self._room = self._reply().capacity = room
        del message, decisions  # while this one waits, another's message finds their memory still in the cache
        if self._out is not None:
            yield self._take()

    def _reply(self) -> PlayRequest:
        """Return the pending reply, made if there is none."""
        if self._out is None:
            self._out = PlayRequest()
        return self._out

    def _take(self) -> PlayRequest:
        """Return the pending reply and clear it."""
        reply, self._out, self._since = self._reply(), None, self._clock()
        return reply

    def _held(self) -> bool:
        """Return whether the pending reply has waited long enough to be sent."""
        return self._out is not None and self._clock() - self._since > HOLD

    def _news(self, message: PlayResponse) -> Iterator[PlayRequest]:
        """Answer a heartbeat at once; tell the bot the other news, and add what they call for to the reply."""
        if message.HasField("heartbeat"):
            yield PlayRequest(heartbeat=message.heartbeat)
        for invitation in message.invitations:
            self._accept(invitation)
            if self._held():
                yield self._take()
        for start in message.starts:
            self._start(start)
        for round_report in message.rounds:
            with self._bots_code():
                self._bot.on_round(round_report)
        for report in message.reports:
            self._end(report)
        for notice in message.notices:
            self._note(notice)
            if self._held():
                yield self._take()

    def _accept(self, invitation: Invitation) -> None:
        number = invitation.invitation_id
        if self._progress.more or number in self._progress.accepted:
            self._progress.accepted[number] = invitation.commitment
            self._reply().ready.add(invitation_id=number, nonce=os.urandom(16))
        else:
            self._reply().declined.append(number)
            self._room = -1

    def _start(self, start: MatchStart) -> None:
        promised = self._progress.accepted.pop(start.invitation_id, None)
        if promised not in (None, hashlib.sha256(start.salt + start.commitment).digest()):
            _log.error(
                "match %d: its commitment is not the one of the invitation: the server may have chosen the deal",
                start.match_id,
            )
        self._progress.playing.add(start.match_id)
        with self._bots_code():
            self._bot.on_match_start(start)

    def _end(self, report: MatchReport) -> None:
        self._progress.playing.discard(report.match_id)
        if not report.interrupted:
            self._progress.finished += 1
        with self._bots_code():
            self._bot.on_match_end(report)

    def _note(self, notice: Notice) -> None:
        with self._bots_code():
            self._bot.on_notice(notice)
        if notice.kind in _NO_MATCH:
            self._progress.accepted.pop(notice.invitation_id, None)
        elif notice.kind == NoticeKind.NOTICE_KIND_SUSPENDED:
            self._reply().resumed.append(notice.match_id)  # whoever reads this is back

    def _decision(self, message: play_pb2.Decision) -> Decision:
        game = message.WhichOneof("view") or ""
        if (catalog := self._games.get(game)) is None:
            raise ProtocolMismatchError(
                "the server asks for a decision in a game unknown to this client: update arena-client"
            )
        match = message.match_id
        self._progress.playing.add(match)
        return Decision(
            match,
            message.decision_id,
            catalog,
            getattr(message, game),
            message.legal[:],
            message.soft_ms,
            message.bank_ms,
        )

    def _answers(self, decisions: list[Decision]) -> Iterator[PlayRequest]:
        """Fill the reply with answers; yield the parts to be sent before everything is answered."""
        while decisions:
            done = 0
            try:
                self.thinking = True
                choices = iter(self._bot.decide_many(decisions))
                for decision in decisions:
                    choice = next(choices, None)
                    self.thinking = False
                    self._answer(decision, _checked(decision, choice, done + 1, len(decisions)))
                    done += 1
                    if self._held():
                        yield self._take()
                    self.thinking = True
                if next(choices, None) is not None:
                    raise BadAnswerError(f"decide_many() gave more than {done} answers to {done} decisions")
            except Exception:
                self.thinking = False
                if self._on_error == "raise":
                    raise
                _log.exception("the bot failed; its first legal action is played instead")
                if done < len(decisions):
                    self._answer(decisions[done], decisions[done].legal[0])
                    done += 1
                    if self._held():
                        yield self._take()
            finally:
                self.thinking = False
            decisions = decisions[done:]

    def _answer(self, decision: Decision, action: int) -> None:
        answer = self._reply().answers.add()
        answer.match_id = decision.match_id
        answer.decision_id = decision.decision_id
        answer.action = action

    @contextmanager
    def _bots_code(self) -> Iterator[None]:
        self.thinking = True
        try:
            yield
        except Exception:
            if self._on_error == "raise":
                raise
            _log.exception("the bot failed outside a decision")
        finally:
            self.thinking = False


def _checked(decision: Decision, choice: object, count: int, of: int) -> int:
    """Return the choice as a plain int (numpy's are taken too), or raise `BadAnswerError`."""
    try:
        action = operator.index(choice)  # type: ignore[arg-type]  # the author's code may give anything
    except TypeError:
        raise BadAnswerError(
            f"answer {count} of {of} is {choice!r}: an answer is an action, one of decision.legal"
        ) from None
    if action not in decision.legal:
        raise BadAnswerError(
            f"answer {count} of {of} is {action}, which is not legal here; decision.legal is {decision.legal}"
        )
    return action
