"""The decisions of a replay that its bots made themselves, each with the question that the bot was asked.

Questions come from playing the recorded inputs again. Choices of the server or a stand-in are left out.
"""

from __future__ import annotations

from typing import NamedTuple

from arena.match.effects import Ask, Force, Show
from arena.match.inputs import Acted
from arena.replay.replay import Replay
from engine.game import RoundReport


class OwnDecision(NamedTuple):
    """A decision that a bot made itself."""

    round: int
    """Number of the round, from 0."""
    ask: Ask
    """The question, with the seat, its view and its legal actions."""
    action: int


def own_decisions(replay: Replay) -> tuple[tuple[OwnDecision, ...], tuple[RoundReport, ...]]:
    """Return the decisions of all seats in the order of their answers, and the reports of the rounds that ended."""
    match = replay.header.new_match()
    asked: dict[int, tuple[int, Ask]] = {}
    decisions: list[OwnDecision] = []
    reports: list[RoundReport] = []
    for event in replay.inputs:
        answers = isinstance(event, Acted) and match.open_decision(event.seat) == event.decision
        effects = match.receive(event)
        if answers and isinstance(event, Acted) and match.open_decision(event.seat) != event.decision:
            forced = any(isinstance(effect, Force) and effect.decision == event.decision for effect in effects)
            if not forced:
                round_number, ask = asked[event.decision]
                decisions.append(OwnDecision(round_number, ask, event.action))
        for effect in effects:
            if isinstance(effect, Ask):
                asked[effect.decision] = len(reports), effect
            elif isinstance(effect, Show):
                reports.append(effect.report)
    return tuple(decisions), tuple(reports)
