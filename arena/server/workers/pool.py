# Compiled: every decision passes through here.
"""Worker processes that choose actions for house bots and replay deals, to relieve the server's own thread.

The server's thread answers a question itself if that is cheaper than handing it over, or if no worker is available. The
questions of a turn leave at the turn's end, and a worker's answers are handled in one turn. If two workers die during a
question, the answer is the first legal action. So no failure of a worker delays a match by more than `worker.LIMIT`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from itertools import count
from time import thread_time
from typing import Any, Final

import structlog
import trio

from arena.house import CHOOSERS, THINKERS, HouseBot
from arena.house.selfplay import Answer, BaselineRequest, BaselineResult, Question, answer, replays
from arena.match.effects import Ask
from arena.processes.helper import HelperFailed, helper, keep
from arena.server.runtime.turns import Turns
from arena.server.workers.search import SearchWorker
from arena.server.workers.worker import FAILURES, LIMIT, MODULE, Errand, Thought, Worker
from engine.game import Game, Option

BATCH: Final = 64
"""Maximum number of questions in one batch."""
MOST_WAITING: Final = 512
"""Maximum number of questions in the queue. The server's thread answers any others itself."""
AWAY: Final = 100e-6
"""Maximum number of seconds that this thread may spend on a choice. A longer choice would delay everybody else. Handing
a choice over costs the thread some 30 µs. The late answer also needs an extra turn and makes messages to bots smaller.
"""
WEIGHT: Final = 1 / 64
"""Weight of the latest choice made in this thread in the moving mean of a bot's times."""
FADING: Final = 1 / 4096
"""Fraction by which this mean shrinks with each choice of a worker, so that the effect of one slow choice fades."""

log = structlog.get_logger(__name__)


class ReplayFailed(Exception):  # noqa: N818 - the name says what is the matter
    """The deals could not be replayed. The message gives the reason."""


class WorkerPool:
    """The pool of worker processes. They start when they are first needed.

    Without workers, this thread does everything.
    """

    def __init__(self, house_workers: int, turns: Turns, away: float = AWAY) -> None:
        """`turns` calls `send` when questions are queued. Choices that take longer than `away` seconds go to
        workers.
        """
        self._house_workers = house_workers
        self._turns = turns
        self._away = away
        self._takes = [0.0] * len(THINKERS)
        """Moving mean of the seconds that this thread needs for a choice, by house bot."""
        self._latest: dict[tuple[HouseBot, str, int, int, int], Ask] = {}
        """The latest question with several legal actions, by `_kind`."""
        self._places = {bot: place for place, bot in enumerate(CHOOSERS)}
        self._workers: list[Worker] = []  # The running workers.
        self._idle: list[Worker] = []  # The workers without a batch of questions.
        self._thoughts: deque[Thought] = deque()
        self._errands: deque[Errand] = deque()
        self._numbers = count()
        self._wanted = trio.Event()
        self._nursery: trio.Nursery | None = None
        self.search = SearchWorker(turns, _tell)
        """The process in which house bots search."""

    @property
    def up(self) -> int:
        """Number of running worker processes, including the search process."""
        return len(self._workers) + self.search.up

    async def run(self) -> None:
        """Run the workers until cancelled."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            nursery.start_soon(self.search.run)
            for _ in range(self._house_workers):
                nursery.start_soon(keep, self._run_one)

    def choose(
        self, bot: HouseBot, match_id: int, ask: Ask, kind: str, chance: bytes, later: Callable[[Ask, int], None]
    ) -> int | None:
        """Return a house bot's action, or None if `later` will be called with it.

        `kind`: the kind of the legal actions.

        If the bot fails, the action is the first legal one, so that the match continues. With only one legal action,
        the bot repeats its latest choice of that kind, and the result is discarded. Otherwise its speed would reveal to
        opponents that it had no choice. This is unnecessary for kinds that never offer a choice.
        """
        alike, thought_over = _kind(bot, kind, ask), ask
        if len(ask.legal) > 1:
            self._latest[alike] = ask
        elif alike in self._latest:
            thought_over = self._latest[alike]
        else:
            return ask.legal[0]
        place = self._places.get(bot) if self._house_workers else None
        if place is None:
            return _settled(bot, match_id, ask, answer(bot, thought_over.view, thought_over.legal, chance))
        question = place, thought_over.view, thought_over.legal, chance
        if place >= len(THINKERS):
            if self.search.down:
                return _settled(bot, match_id, ask, "no worker can be started for it")
            self.search.think(Thought(bot, match_id, ask, question, later))
            return None
        if self._takes[place] > self._away:
            if self._workers and len(self._thoughts) < MOST_WAITING:
                self._takes[place] *= 1 - FADING
                self._thoughts.append(Thought(bot, match_id, ask, question, later))
                self._turns.due(self)
                return None
            self._wanted.set()
        return self._think(match_id, ask, question)

    def send(self) -> None:
        """Send queued questions to idle workers. Called by `Turns` at the end of a turn."""
        thoughts = self._thoughts
        while thoughts and self._idle:
            batch = [thoughts.popleft()]
            while not batch[0].failures and len(batch) < BATCH and thoughts and not thoughts[0].failures:
                batch.append(thoughts.popleft())  # A question during which a worker died is sent alone.
            self._idle.pop().think(batch)

    async def baseline(
        self,
        game: Game,
        seats: int,
        options: Mapping[str, Option],
        key: bytes,
        rounds: int | None,
        repetitions: int,
        bot: HouseBot,
    ) -> tuple[float, ...]:
        """Run `arena.house.selfplay.baseline` in an idle worker. Raises: ReplayFailed."""
        place = self._places.get(bot) if self._house_workers else None
        if place is None:
            return await _replayed_here(replays(game, seats, options, key, rounds, repetitions, bot))
        setting = game.name, seats, dict(options), key, rounds, repetitions
        scores = (await self._replay(BaselineRequest(next(self._numbers), *setting, place))).scores
        if isinstance(scores, str):
            raise ReplayFailed(scores)
        return scores

    async def _replay(self, request: BaselineRequest) -> BaselineResult:
        done = trio.Event()
        results: list[BaselineResult] = []

        def take(result: BaselineResult) -> None:
            results.append(result)
            done.set()

        self._errands.append(Errand(request, take))
        self._wanted.set()
        self._send_out()
        await done.wait()
        return results[0]

    async def _run_one(self) -> bool:
        """Start a worker when one is needed, and run it until it ends. Return whether it was ever ready."""
        await self._wanted.wait()
        try:
            async with helper(MODULE) as process:
                worker = Worker(process)
                self._workers.append(worker)
                self._idle.append(worker)
                with self._turns:
                    self._send_out()
                    self._turns.due(self)
                try:
                    wrong = await process.channel.run(partial(self._heard, worker), worker.patience)
                finally:
                    for workers in (self._workers, self._idle):
                        if worker in workers:
                            workers.remove(worker)
                if wrong:
                    process.kill()
        except HelperFailed as error:
            log.error("a worker cannot be started", error=str(error))
            self._give_up()
            return False
        log.error("a worker ended", worker=worker.pid, status=process.status, owed=len(worker.thoughts), wrong=wrong)
        if worker.errand is not None:
            self._again(worker.errand)
        self._lost(worker.thoughts)
        return True

    def _heard(self, worker: Worker, messages: list[Any]) -> None:
        """Handle messages from a worker."""
        with self._turns:
            for message in messages:
                if isinstance(message, BaselineResult):
                    assert worker.errand is not None, "it was asked"
                    errand, worker.errand = worker.errand, None
                    errand.done(message)
                else:
                    self._answered(worker, message)
            self._send_out()

    def _answered(self, worker: Worker, answers: Sequence[Answer]) -> None:
        """Handle a batch of answers."""
        thoughts, worker.thoughts = worker.thoughts, ()
        for thought, given in zip(thoughts, answers, strict=True):
            _tell(thought, given)
        self._idle.append(worker)
        if self._thoughts:
            self._turns.due(self)

    def _send_out(self) -> None:
        """Send queued replays to workers without a replay."""
        for worker in self._workers:
            if self._errands and worker.errand is None:
                worker.run(self._errands.popleft())

    def _again(self, errand: Errand) -> None:
        """Repeat a replay during which a worker died, or let the replay fail."""
        failures = errand.failures + 1
        if failures < FAILURES:
            self._errands.appendleft(errand._replace(failures=failures))
        else:
            errand.done(BaselineResult(errand.request.number, f"{failures} workers ended over it"))

    def _lost(self, owed: Sequence[Thought]) -> None:
        """Repeat or answer the questions that a dead worker owed."""
        waiting = [*(thought._replace(failures=thought.failures + 1) for thought in owed), *self._thoughts]
        self._thoughts.clear()
        # Otherwise a question during which a worker died could be repeated just to hide that a bot has no choice.
        self._latest.clear()
        for thought in waiting:
            if thought.failures >= FAILURES:
                _tell(thought, f"{thought.failures} workers ended over it")
            elif thought.failures or self._workers:
                self._thoughts.append(thought)
            else:
                thought.later(thought.ask, self._think(thought.match_id, thought.ask, thought.question))
        if self._thoughts and not self._workers and self._nursery is not None:
            self._nursery.start_soon(self._give_up_later)
        self._send_out()
        self._turns.due(self)

    async def _give_up_later(self) -> None:
        """Wait for a new worker, but no longer than an answer may take."""
        await trio.sleep(LIMIT)
        self._give_up()

    def _give_up(self) -> None:
        """Answer the queued questions in this thread if a worker has died and no new worker has started."""
        if self._thoughts and not self._workers:
            waiting = list(self._thoughts)
            self._thoughts.clear()
            self._lost(waiting)

    def _think(self, match_id: int, ask: Ask, question: Question) -> int:
        """Make a choice in this thread."""
        place, view, legal, chance = question
        bot, began = THINKERS[place], thread_time()
        action = _settled(bot, match_id, ask, answer(bot, view, legal, chance))
        self._takes[place] += WEIGHT * (thread_time() - began - self._takes[place])
        return action


def _kind(bot: HouseBot, kind: str, ask: Ask) -> tuple[HouseBot, str, int, int, int]:
    """Return the public properties of a question that influence the time of an answer.

    They are: bid or play, number of cards in hand, number of seats, and position in the trick.
    """
    seats = getattr(ask.view, "seats", 1)
    return bot, kind, len(getattr(ask.view, "hand", b"")), seats, len(getattr(ask.view, "plays", b"")) % seats


def _settled(bot: HouseBot, match_id: int, ask: Ask, given: Answer) -> int:
    if isinstance(given, str):
        log.error("a house bot failed", bot=bot.name, match_id=match_id, decision=ask.decision, fault=given)
        return ask.legal[0]
    return given if len(ask.legal) > 1 else ask.legal[0]


def _tell(thought: Thought, given: Answer) -> None:
    thought.later(thought.ask, _settled(thought.bot, thought.match_id, thought.ask, given))


async def _replayed_here(course: Generator[None, None, tuple[float, ...]]) -> tuple[float, ...]:
    """Run a replay in this thread, yielding to other tasks after every choice."""
    while True:
        await trio.lowlevel.checkpoint()
        try:
            next(course)
        except StopIteration as end:
            scores: tuple[float, ...] = end.value
            return scores
        except Exception as error:
            raise ReplayFailed(str(error)) from error
