# Compiled: every decision passes through here.
"""Handling of calls from another process to a bot that is connected here or to a match that is played here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from arena.server.sessions.messages import Answer, EncodedAsk, Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from arena.server.processes.line import ProcessLine
    from arena.server.sessions.player import BotPlayer
    from arena.server.sessions.session import Sent, Session


class MatchHere(Protocol):
    """A match that is played in this process."""

    match_id: int

    def seats(self, bot_player: BotPlayer) -> bool:
        """True if a bot has a seat."""

    def answered(self, at: float, bot_player: BotPlayer, answer: Answer) -> None:
        """Apply a bot's answer, with its time of arrival."""

    def ready(self, now: float, bot_player: BotPlayer) -> None:
        """End the suspension of a bot that is ready again."""

    def sent(self, now: float, seat: int, decision: int, lag: int) -> None:
        """Start the clock of a question."""


def tell_bot(session: Session, sent_to: Callable[[int], Sent | None], method: str, arguments: tuple[Any, ...]) -> None:
    """Send a bot a message of a match that another process plays. `sent_to` returns callbacks for sent questions."""
    match method, arguments:
        case "say", (encoded, asks, _, _, questions):
            if encoded:
                session.say(encoded, asks)
            for match_id, seat, decision, question in questions:
                if (sent := sent_to(match_id)) is not None:
                    session.ask(match_id, EncodedAsk(seat, decision, question), sent)
        case "withdraw", (match_id, decision):
            session.withdraw(match_id, decision)
        case "close", (reason, text):
            session.close(Reason[reason], text)


def tell_match(
    match: MatchHere,
    bot: Callable[[int], BotPlayer | None],
    line: ProcessLine,
    method: str,
    arguments: tuple[Any, ...],
) -> None:
    """Report to a match what a bot did in another process, or that a question was sent. `bot` finds a bot by number."""
    match method, arguments:
        case "answered", (bot_id, at, decision, action):
            if (bot_player := bot(bot_id)) is not None and match.seats(bot_player):
                match.answered(line.heard(at), bot_player, Answer(match.match_id, decision, action))
        case "ready", (bot_id, at):
            if (bot_player := bot(bot_id)) is not None and match.seats(bot_player):
                match.ready(line.heard(at), bot_player)
        case "sent", (at, seat, decision, lag):
            match.sent(line.heard(at), seat, decision, lag)
