"""Asking a bot past decisions again, and comparing its new answers with the old ones.

The bot receives the same messages as the bot that had the seat: the start of the match, finished rounds, and questions
in order. Many matches run side by side. Each message contains one question from each match, as if the bot played them
all at once.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from statistics import fmean
from typing import Final, NamedTuple

from arena.local.errors import BotFailed
from arena.local.play.players import LocalPlayer, load
from arena.local.play.table import own_trace
from arena.match.effects import Ask, Force, Show
from arena.match.inputs import Acted
from arena.replay.replay import Replay
from arena.server.sessions.messages import MatchOver, MatchStart, Outgoing, Question, RoundOver
from engine.game import RoundReport, option_text
from engine.points import points_above


class OwnDecision(NamedTuple):
    """A decision that a bot made itself, without the referee."""

    round: int
    """Number of the round, from 0."""
    ask: Ask
    """The question: the seat, its view and its legal actions."""
    action: int


def own_decisions(replay: Replay) -> tuple[tuple[OwnDecision, ...], tuple[RoundReport, ...]]:
    """Return all seats' decisions in the order in which they were answered, and the reports of finished rounds."""
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


AT_ONCE: Final = 64
"""Maximum number of matches that are processed in parallel."""


@dataclass(slots=True)
class PastSeat:
    """One seat of a replay with its decisions."""

    replay: Replay
    seat: int
    decisions: list[OwnDecision]
    """The decisions that the seat's bot made itself, in order."""
    reports: Sequence[RoundReport]
    answers: list[list[int]] = field(default_factory=list)
    """The new answers: one list per repetition, with one answer per decision."""

    @property
    def bot(self) -> str:
        """Name of the bot in the seat."""
        return self.replay.header.bots[self.seat].name

    @property
    def above(self) -> float | None:
        """Points above the mean of the others at the table, or None for a match without a result."""
        scores = self.replay.result.scores
        return points_above(scores, self.seat) if scores else None

    @property
    def free(self) -> list[int]:
        """Indices of the decisions with several legal actions. Forced decisions reveal nothing about a bot."""
        return [at for at, each in enumerate(self.decisions) if len(each.ask.legal) > 1]

    def same(self, at: int) -> float:
        """Return the share of the new answers to a decision that equal the old one."""
        return fmean(answers[at] == self.decisions[at].action for answers in self.answers)

    def most(self, at: int) -> int:
        """Return the most frequent new answer to a decision.

        In a tie, prefer the old answer, then the lowest action.
        """
        new = [answers[at] for answers in self.answers]
        return max({*new}, key=lambda action: (new.count(action), action == self.decisions[at].action, -action))

    def differs(self, at: int) -> bool:
        """Return True if the most frequent new answer to a decision differs from the old one."""
        return self.most(at) != self.decisions[at].action


@dataclass(slots=True)
class AskingCost:
    """Totals of the questions asked of one bot."""

    decisions: int = 0
    """Number of questions to the bot, repetitions included."""
    processor: float = 0.0
    """Processor time in seconds. It includes the bot's time but not the reading of replays."""


def past_seats(replay: Replay, seats: Iterable[int]) -> Iterator[PastSeat]:
    """Yield those of `seats` in which the bot itself made at least one decision."""
    decisions, reports = own_decisions(replay)
    for seat in seats:
        own = [each for each in decisions if each.ask.seat == seat]
        if own:
            yield PastSeat(replay, seat, own, reports)


def asked_again(spec: str, past: Iterable[PastSeat], times: int, cost: AskingCost) -> Iterator[PastSeat]:
    """Ask a new bot every decision `times` times. Yield the seats with its answers, and add the cost to `cost`.

    Raises:
        BotNotLoaded: the bot cannot be created.
        BotFailed: the bot raised an exception.
    """
    players: dict[tuple[str, int], LocalPlayer] = {}
    for together in _together(past):
        for number in range(times):
            began = time.process_time()
            by_game: dict[str, list[PastSeat]] = {}
            for each in together:
                by_game.setdefault(each.replay.header.game.name, []).append(each)
            for name, seats in by_game.items():
                if (name, number) not in players:
                    players[name, number] = load(spec, seats[0].replay.header.game)
                _ask(spec, players[name, number], number, seats)
            cost.processor += time.process_time() - began
            cost.decisions += sum(len(each.decisions) for each in together)
        yield from together


def _together(past: Iterable[PastSeat]) -> Iterator[list[PastSeat]]:
    """Group seats that can be asked side by side. A group has at most one seat per match."""
    left, later, there_is_more = iter(past), deque[PastSeat](), True
    while there_is_more or later:
        together: dict[int, PastSeat] = {}
        for each in [later.popleft() for _ in range(len(later))]:
            if len(together) == AT_ONCE or together.setdefault(each.replay.header.match_id, each) is not each:
                later.append(each)
        while len(together) < AT_ONCE and len(later) < AT_ONCE:
            found = next(left, None)
            if found is None:
                there_is_more = False
                break
            if together.setdefault(found.replay.header.match_id, found) is not found:
                later.append(found)
        if together:
            yield [*together.values()]


def _ask(spec: str, player: LocalPlayer, number: int, seats: Sequence[PastSeat]) -> None:
    """Let a player answer every decision of the given seats once."""
    key = sha256(f"arena replay ask {number} {seats[0].replay.header.match_id}".encode()).digest()
    random.seed(key)  # so that bots draw the same random numbers every time
    player.begin(key, 0)
    for each in seats:
        each.answers.append([])
    _hear(spec, player, [(each, None) for each in seats], _beginning(seats))
    heard = [0] * len(seats)
    for at in range(max(len(each.decisions) for each in seats)):
        message, asked = Outgoing(), []
        for index, each in enumerate(seats):
            if at >= len(each.decisions):
                continue
            decision = each.decisions[at]
            heard[index] = _tell_rounds(message, each, heard[index], decision.round)
            message.questions.append(Question(each.replay.header.match_id, decision.ask))
            asked.append((each, decision))
        _hear(spec, player, asked, message)
    message = Outgoing()
    for index, each in enumerate(seats):
        _tell_rounds(message, each, heard[index], len(each.reports))
        header, result = each.replay.header, each.replay.result
        over = MatchOver(
            header.match_id,
            each.seat,
            result.scores,
            result.places,
            None,
            result.counts,
            result.interrupted,
            header.kind,
        )
        message.reports.append(over)
    _hear(spec, player, [(each, None) for each in seats], message)


def _beginning(seats: Sequence[PastSeat]) -> Outgoing:
    message = Outgoing()
    for each in seats:
        header = each.replay.header
        texts = {name: option_text(value) for name, value in header.options.items()}
        names = tuple(bot.name for bot in header.bots)
        start = MatchStart(header.match_id, 0, header.game.name, header.kind, each.seat, names, texts, b"", b"")
        message.starts.append(start)
    return message


def _tell_rounds(message: Outgoing, past: PastSeat, heard: int, until: int) -> int:
    """Add the reports of finished rounds that the player has not received. Return the number received so far."""
    for report in past.reports[heard:until]:
        message.rounds.append(RoundOver(past.replay.header.match_id, report))
    return max(heard, until)


def _hear(
    spec: str, player: LocalPlayer, asked: Sequence[tuple[PastSeat, OwnDecision | None]], message: Outgoing
) -> None:
    """Send a player a message. Store its answers, which come in the order of the questions."""
    done = 0
    try:
        for _decision, action in player.hear(message):
            asked[done][0].answers[-1].append(action)
            done += 1
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - reported to the author, also a sys.exit()
        past, decision = asked[min(done, len(asked) - 1)]
        where = f"of {past.replay.source}" + (
            "" if decision is None else f", round {decision.round + 1}, decision {decision.ask.decision}"
        )
        raise BotFailed(spec, past.seat, where, own_trace(error)) from None
