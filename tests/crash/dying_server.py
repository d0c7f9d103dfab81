"""`arena serve` that kills itself with SIGKILL at a named step."""

from __future__ import annotations

import inspect
import os
import signal
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

from arena.cli.serve import command
from arena.server import arena, roster, scribe, table
from arena.store import bots, journal, ladder, matches
from arena.wire import play


class Step(NamedTuple):
    """The moment before or after a call."""

    when: str
    owner: Any
    name: str
    counts: Callable[..., bool] = lambda *_: True
    """Whether a call with these arguments is one that is meant."""


def _with_reports(_: object, message: Any) -> bool:
    return bool(message.reports)


def _with_questions(_: object, message: Any) -> bool:
    return bool(message.questions)


STEPS = {
    # a registration
    "before a registration is committed": Step("after", bots, "register"),
    "a registration is stored": Step("after", roster.Roster, "register"),
    # the finish, in its order
    "the result is computed": Step("before", scribe.Scribe, "record"),
    "before the transaction": Step("before", matches, "finish"),
    "before the ratings": Step("before", ladder, "rate"),
    "before the commit": Step("after", matches, "finish"),
    "after the commit": Step("before", journal.Journal, "forget"),
    "the journal has forgotten": Step("after", journal.Journal, "forget"),
    "before the report": Step("before", table.Table, "report"),
    "the report waits": Step("after", table.Table, "report"),
    "before the report leaves": Step("before", play.PlayLink, "send", _with_reports),
    "the report has left": Step("after", play.PlayLink, "send", _with_reports),
    "before everybody gets up": Step("before", table.Table, "dissolve"),
    # the beginning
    "the match is in the journal": Step("after", journal.Journal, "begin"),
    "before the beginning is committed": Step("after", matches, "begin"),
    "the match is stored": Step("before", table.Table, "begin"),
    "the match has begun": Step("after", table.Table, "begin"),
    # a move
    "before the journal is written": Step("before", journal.Journal, "commit"),
    "before questions leave": Step("before", play.PlayLink, "send", _with_questions),
    "questions have left": Step("after", play.PlayLink, "send", _with_questions),
    # the journal's files
    "the journal is copied": Step("before", Path, "replace"),
    "a full journal": Step("before", journal.Journal, "_turn_over"),
    "the journal has a new file": Step("before", journal, "_remove"),
    # the restart
    "before matches are restored": Step("before", scribe.Scribe, "restore"),
    "a match is restored": Step("before", table.Table, "resume"),
    "a match goes on": Step("after", table.Table, "resume"),
    "before the doors open": Step("before", arena.Arena, "run"),
}
"""The steps by name."""


def arm(step: Step, time: int) -> None:
    """Has this process die the so-many-th time it comes to a step."""
    original, server = getattr(step.owner, step.name), os.getpid()

    def reach(when: str, arguments: tuple[Any, ...]) -> None:
        nonlocal time
        if when == step.when and step.counts(*arguments):
            time -= 1
            if time == 0:
                os.kill(server, signal.SIGKILL)
                os.kill(os.getpid(), signal.SIGKILL)  # its clerk, where that came to the step

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
    """The command, which dies the so-many-th time it comes to a step; "" is none."""
    if step:
        journal._FULL = 1 << 17  # type: ignore[misc]  # a file of the journal is full in seconds
        arm(STEPS[step], time)
    command(list(options))
