"""Runs all checks of a bot one after the other and returns the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import trio

from arena.local.check.check import Check
from arena.local.check.stage import DoubtError, FaultError, NotAskedError, Stage, Verdict, open_stage
from arena.local.sandbox.sandbox import Sandbox

LIMIT: Final = 90.0
"""Maximum number of seconds for one check."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check."""

    name: str
    verdict: Verdict
    asks: str
    text: str
    """The bot's behaviour, or the reason why the check was skipped. Empty if the bot behaves correctly."""
    wants: str
    remedy: str
    page: str
    seconds: float
    output: tuple[str, ...]
    """The last lines of the bot's output, if the bot failed."""


@dataclass(frozen=True, slots=True)
class CheckedBot:
    """The bot's description of itself. Fields that the bot did not send are empty or 0."""

    name: str
    version: str
    client: str
    games: tuple[str, ...]
    capacity: int


async def run_checks(
    command: Sequence[str],
    folder: Path,
    chosen: Sequence[Check],
    began: Callable[[Check], None] = lambda _: None,
    ended: Callable[[CheckResult], None] = lambda _: None,
    sandbox: Sandbox | None = None,
    ladders: Sequence[str] = (),
) -> tuple[CheckedBot, list[CheckResult]]:
    """Check the bot that a command starts. Call `began` and `ended` for each check.

    `ladders` are the names that the bot gets in ARENA_LADDERS and must send in its hello.

    Raises:
        CommandNotStarted: the command cannot be started.
        SandboxRefused: the sandbox cannot be created.
    """
    results: dict[str, CheckResult] = {}
    async with open_stage(command, folder, sandbox, ladders) as stage:
        for each in chosen:
            began(each)
            results[each.name] = await _asked(each, stage, results)
            ended(results[each.name])
        said = stage.server.wires[-1] if stage.server.wires else None
        if said is None:
            return CheckedBot("", "", "", (), 0), [*results.values()]
        hello = said.hello
        name = next(reversed(stage.server.names.values()))
        return CheckedBot(name, hello.version, hello.client, hello.games, hello.capacity), [*results.values()]


async def _asked(each: Check, stage: Stage, results: dict[str, CheckResult]) -> CheckResult:
    """Run one check."""
    began = trio.current_time()
    verdict, text = Verdict.PASS, ""
    missing = [name for name in each.needs if results[name].verdict in (Verdict.FAIL, Verdict.SKIP)]
    since = {id(wire): len(wire.said) for wire in stage.server.wires}
    try:
        if missing:
            raise NotAskedError(f"needs {', '.join(missing)}")
        with trio.fail_after(LIMIT):
            await each.ask(stage)
    except FaultError as fault:
        verdict, text = Verdict.FAIL, str(fault)
    except DoubtError as doubt:
        verdict, text = Verdict.WARN, str(doubt)
    except NotAskedError as reason:
        verdict, text = Verdict.SKIP, str(reason)
    except trio.TooSlowError:
        verdict, text = Verdict.FAIL, f"it was not finished after {LIMIT:g} s"
    output: tuple[str, ...] = ()
    if verdict is Verdict.FAIL:
        await trio.sleep(0.1)  # messages about the bot's end may still be in transit
        await stage.end_bot()
        await stage.relay.restored()
        stage.server.restored()
        output = stage.last_lines
    elif not each.disturbs:
        _collect(stage, since)
    seconds = trio.current_time() - began
    return CheckResult(each.name, verdict, each.asks, text, each.wants, each.remedy, each.page, seconds, output)


def _collect(stage: Stage, since: dict[int, int]) -> None:
    """Collect notices for the checks that evaluate all notices together."""
    for wire in stage.server.wires:
        for said in wire.said[since.get(id(wire), 0) :]:
            stage.notices += said.message.notices
            stage.asked += len(said.message.decisions)
