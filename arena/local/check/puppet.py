"""A scripted bot, played by the check itself: on demand it chooses the first legal action."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from arena.server.sessions.messages import Answer, BotMessage, Hello, MessageCodec, Outgoing
from arena.server.sessions.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from arena.server.runtime.turns import Turns
    from arena.server.sessions.messages import Question
    from arena.server.sessions.player import BotPlayer


class Puppet:
    """A bot that is its session's link, too: messages end here."""

    peer = "the check"
    busy = False

    def __init__(self, player: BotPlayer, turns: Turns) -> None:
        self.player = player
        self._turns = turns
        self._questions: list[Question] = []
        codec = MessageCodec(self._hear, self._take)
        player.session = Session(self, codec, Hello((), 1, ""), turns)

    @property
    def received_at(self) -> float:
        """The current instant: messages take no time."""
        return trio.current_time()

    def shortest_round_trip(self) -> float | None:
        """Return None: there is no measurement."""
        return None

    def hand_over(self, message: bytes) -> None:
        """Do nothing: encoding has delivered it."""

    async def deliver(self, _: Callable[[bytes], None], __: Callable[[], None]) -> None:
        """Send nothing."""
        await trio.sleep_forever()

    def answer(self) -> bool:
        """Answer open questions; return False, so that it can be used as a condition."""
        questions, self._questions = self._questions, []
        for question in questions:
            if (match := self.player.playing.running.get(question.match_id)) is not None:
                chosen = Answer(question.match_id, question.ask.decision, question.ask.legal[0])
                with self._turns:
                    match.answered(trio.current_time(), self.player, chosen)
        return False

    def _take(self, message: Outgoing) -> bytes:
        self._questions += message.questions
        return b""

    @staticmethod
    def _hear(_: bytes, __: float) -> BotMessage:
        raise AssertionError("nobody speaks")
