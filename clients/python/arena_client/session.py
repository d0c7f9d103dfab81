"""The conversation of one stream without any input or output: messages from the server in, messages to it out.

It calls the bot, and what the bot raises comes out here. It never waits and moves no bytes: `connection` does.
"""

from __future__ import annotations

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
from arena_client.v1.play_pb2 import Answer, Invitation, Notice, NoticeKind, PlayRequest, PlayResponse, Ready, Welcome

_log = logging.getLogger("arena_client")

OnError: TypeAlias = Literal["raise", "continue"]
"""What an exception in the bot does: end the run, or be logged while the first legal action is played."""

HOLD = 0.01
"""Seconds that finished answers wait for further ones before they are sent without them."""


@dataclass(slots=True)
class Progress:
    """What outlives a stream: how many matches are wanted, and which are being played."""

    wanted: int | None = None
    """How many matches to play in all; None for no end."""
    finished: int = 0
    playing: set[int] = field(default_factory=set)

    @property
    def more(self) -> bool:
        """Whether another match may begin."""
        return self.wanted is None or self.finished + len(self.playing) < self.wanted

    def room(self, capacity: int) -> int:
        """How many matches may be played at once, of a capacity."""
        return capacity if self.wanted is None else min(capacity, self.wanted - self.finished)

    @property
    def done(self) -> bool:
        """Whether nothing is left to play."""
        return not self.more and not self.playing


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
        """The capacity that the server knows."""
        self._on_error = on_error
        self._clock = clock
        self._games = {game.name: Catalog.of(game) for game in welcome.games}
        if not self._games.keys() & set(bot.games):
            raise NoGameInCommonError(
                f"the server plays none of the bot's games ({', '.join(bot.games) or 'it names none'})"
            )

    def react(self, message: PlayResponse) -> Iterator[PlayRequest]:
        """What to send because of a message: all in one, or piece by piece where the bot takes its time.

        Raises what the bot raises (unless told to go on), `BadAnswerError` and `ProtocolMismatchError`.
        """
        if message.HasField("heartbeat"):
            yield PlayRequest(heartbeat=message.heartbeat)
        out, since = PlayRequest(), self._clock()
        for reply in self._replies(message):
            if isinstance(reply, Answer):
                out.answers.append(reply)
            elif isinstance(reply, Ready):
                out.ready.append(reply)
            else:
                out.declined.append(reply)
            if self._clock() - since > HOLD:
                yield out
                out, since = PlayRequest(), self._clock()
        room = self._progress.room(self._bot.capacity)
        if out.declined or room > self._room:
            self._room = out.capacity = room
        if out.answers or out.ready or out.declined or out.HasField("capacity"):
            yield out

    def _replies(self, message: PlayResponse) -> Iterator[Ready | Answer | int]:
        """Acceptances, answers, and the numbers of matches that are declined."""
        for invitation in message.invitations:
            yield from self._accept(invitation)
        for round_report in message.rounds:
            with self._bots_code():
                self._bot.on_round(round_report)
        for report in message.reports:
            self._progress.playing.discard(report.match_id)
            if not report.interrupted:
                self._progress.finished += 1
            with self._bots_code():
                self._bot.on_match_end(report)
        for notice in message.notices:
            yield from self._note(notice)
        if message.decisions:
            yield from self._answers([self._decision(each) for each in message.decisions])

    def _accept(self, invitation: Invitation) -> Iterator[Ready | int]:
        match = invitation.match_id
        if self._progress.more or match in self._progress.playing:
            self._progress.playing.add(match)
            with self._bots_code():
                self._bot.on_match_start(invitation)
            yield Ready(match_id=match, nonce=os.urandom(16))
        else:
            yield match

    def _note(self, notice: Notice) -> Iterator[Ready]:
        with self._bots_code():
            self._bot.on_notice(notice)
        if notice.kind == NoticeKind.NOTICE_KIND_WITHDRAWN:
            self._progress.playing.discard(notice.match_id)
        elif notice.kind == NoticeKind.NOTICE_KIND_SUSPENDED:
            yield Ready(match_id=notice.match_id)  # whoever reads this is back

    def _decision(self, message: play_pb2.Decision) -> Decision:
        game = message.WhichOneof("view")
        if game is None or game not in self._games:
            raise ProtocolMismatchError(
                "the server asks for a decision in a game unknown to this client: update arena-client"
            )
        self._progress.playing.add(message.match_id)
        return Decision(
            message.match_id,
            message.decision_id,
            self._games[game],
            getattr(message, game),
            list(message.legal),
            message.soft_ms,
            message.bank_ms,
        )

    def _answers(self, decisions: list[Decision]) -> Iterator[Answer]:
        done = 0
        while done < len(decisions):
            try:
                for action in self._actions(decisions[done:]):
                    yield _answer(decisions[done], action)
                    done += 1
            except Exception:
                if self._on_error == "raise":
                    raise
                _log.exception("the bot failed; its first legal action is played instead")
                if done < len(decisions):
                    yield _answer(decisions[done], decisions[done].legal[0])
                    done += 1

    def _actions(self, decisions: list[Decision]) -> Iterator[int]:
        """The bot's choices, checked; they may end early by an exception only."""
        self.thinking = True
        try:
            choices = iter(self._bot.decide_many(decisions))
            for count, decision in enumerate(decisions):
                choice = next(choices, None)
                self.thinking = False
                yield _checked(decision, choice, f"answer {count + 1} of {len(decisions)}")
                self.thinking = True
            if next(choices, None) is not None:
                raise BadAnswerError(
                    f"decide_many() gave more than {len(decisions)} answers to {len(decisions)} decisions"
                )
        finally:
            self.thinking = False

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


def _answer(decision: Decision, action: int) -> Answer:
    return Answer(match_id=decision.match_id, decision_id=decision.decision_id, action=action)


def _checked(decision: Decision, choice: object, which: str) -> int:
    """The choice as a plain int (numpy's are taken too), or `BadAnswerError`."""
    try:
        action = operator.index(choice)  # type: ignore[arg-type]  # the author's code may give anything
    except TypeError:
        raise BadAnswerError(f"{which} is {choice!r}: an answer is an action, one of decision.legal") from None
    if action not in decision.legal:
        raise BadAnswerError(f"{which} is {action}, which is not legal here; decision.legal is {decision.legal}")
    return action
