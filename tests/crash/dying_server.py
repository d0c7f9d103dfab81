"""`arena serve` that kills itself with SIGKILL at a named step."""

from __future__ import annotations

import inspect
import os
import signal
from collections.abc import Callable, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import Any, NamedTuple

from arena_client.v1 import play_pb2

from arena.cli.operate.serve import command
from arena.server import arena
from arena.server.matches import driver, persistence
from arena.server.sessions import accounts, session
from arena.store import store
from arena.store.bots import bots
from arena.store.journal import journal
from arena.store.ladder import ratings
from arena.store.matches import matches


class Step(NamedTuple):
    """The moment before or after a function call."""

    when: str
    owner: Any
    name: str
    counts: Callable[..., bool] = lambda *_: True
    """Function that returns True if a call with these arguments belongs to this step."""


def _with_reports(_: object, encoded: bytes) -> bool:
    return bool(play_pb2.PlayResponse.FromString(encoded).reports)


def _with_questions(_: object, encoded: bytes) -> bool:
    return bool(play_pb2.PlayResponse.FromString(encoded).decisions)


STEPS = {
    # a registration
    "before a registration is committed": Step("after", bots, "register"),
    "a registration is stored": Step("after", accounts.Accounts, "register"),
    # the end of a match, in chronological order
    "the result is computed": Step("before", persistence.MatchPersistence, "record"),
    "before the transaction": Step("before", matches, "finish"),
    "before the ratings": Step("before", ratings, "rate"),
    "before the commit": Step("after", matches, "finish"),
    "after the commit": Step("before", journal.Journal, "forget"),
    "the journal has forgotten": Step("after", journal.Journal, "forget"),
    "before the report": Step("before", driver.MatchDriver, "report"),
    "the report waits": Step("after", driver.MatchDriver, "report"),
    "before the report leaves": Step("before", session.Session, "_hand_over", _with_reports),
    "the report has left": Step("after", session.Session, "_hand_over", _with_reports),
    "before the seats are released": Step("before", driver.MatchDriver, "dissolve"),
    # the beginning of a match
    "the match is in the journal": Step("after", journal.Journal, "begin"),
    "before the beginning is committed": Step("after", matches, "begin"),
    "the match is stored": Step("before", driver.MatchDriver, "begin"),
    "the match has begun": Step("after", driver.MatchDriver, "begin"),
    # a move
    "before the journal is written": Step("before", journal.Journal, "commit"),
    "before questions leave": Step("before", session.Session, "_hand_over", _with_questions),
    "questions have left": Step("after", session.Session, "_hand_over", _with_questions),
    # the journal's files
    "the journal is copied": Step("before", Path, "replace"),
    "a full journal": Step("before", journal.Journal, "_start_next_file"),
    "the journal has a new file": Step("before", journal, "_remove"),
    # the restart
    "before matches are restored": Step("before", persistence.MatchPersistence, "unfinished"),
    "a match is restored": Step("before", driver.MatchDriver, "resume"),
    "a match goes on": Step("after", driver.MatchDriver, "resume"),
    "before the server listens": Step("before", arena.Arena, "run"),
}
"""The steps, by name."""


def arm(step: Step, time: int) -> None:
    """Make this process die when it reaches a step for the `time`-th time."""
    original, server = getattr(step.owner, step.name), os.getpid()

    def reach(when: str, arguments: tuple[Any, ...]) -> None:
        nonlocal time
        if when == step.when and step.counts(*arguments):
            time -= 1
            if time == 0:
                os.kill(server, signal.SIGKILL)
                os.kill(os.getpid(), signal.SIGKILL)  # the writer process, if the step belongs to it

    if inspect.iscoroutinefunction(original):

        @wraps(original)
        async def reaching(*arguments: Any, **named: Any) -> Any:
            reach("before", arguments)
            result = await original(*arguments, **named)
            reach("after", arguments)
            return result
    else:

        @wraps(original)
        def reaching(*arguments: Any, **named: Any) -> Any:
            reach("before", arguments)
            result = original(*arguments, **named)
            reach("after", arguments)
            return result

    setattr(step.owner, step.name, reaching)


def serve(step: str, time: int, options: Sequence[str]) -> None:
    """Run the command, which dies when it reaches a step for the `time`-th time. The step "" never occurs."""
    if step:
        # a journal file is full within seconds
        store.open_journal = partial(journal.open_journal, full=1 << 17)  # type: ignore[attr-defined]
        arm(STEPS[step], time)
    command(list(options))
