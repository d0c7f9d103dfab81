"""What goes wrong with a match on one's own machine, in words for its author."""

from __future__ import annotations

from pathlib import Path


class LocalMatchError(Exception):
    """A match cannot be played as asked; the message says why and what to do."""


class BotNotLoaded(LocalMatchError):  # noqa: N818 - the name says what is the matter
    """There is no such bot, or it cannot be made."""

    def __init__(self, spec: str, why: str) -> None:
        super().__init__(spec, why)  # as given, since it comes from another process

    def __str__(self) -> str:
        spec, why = self.args
        return f"no bot {spec!r}: {why}"


class BotFailed(LocalMatchError):  # noqa: N818 - the name says what is the matter
    """A bot raised an exception, or gave an answer that is none."""

    def __init__(self, bot: str, seat: int, where: str, trace: str) -> None:
        """`where` names game and round; `trace` is the bot's own traceback."""
        super().__init__(bot, seat, where, trace)
        self.seat = seat
        self.where = where
        self.trace = trace

    def __str__(self) -> str:
        return f"{self.args[0]} failed in seat {self.seat} {self.where}:\n{self.trace.rstrip()}"


class CommandNotStarted(LocalMatchError):  # noqa: N818 - the name says what is the matter
    """A command cannot be started."""

    def __init__(self, command: str, why: str) -> None:
        super().__init__(command, why)

    def __str__(self) -> str:
        command, why = self.args
        return f"the command {command} cannot be started: {why}"


class CommandFailed(LocalMatchError):  # noqa: N818 - the name says what is the matter
    """A bot that is a command ended, did not come, or left a decision to the referee."""

    def __init__(self, spec: str, why: str, log: Path) -> None:
        super().__init__(spec, why, log)

    def __str__(self) -> str:
        spec, why, log = self.args
        return f"{spec} {why}\nAll that it printed is in {log}"


class WorkerDied(LocalMatchError):  # noqa: N818 - the name says what is the matter
    """A process that plays sets ended without a word."""

    def __init__(self) -> None:
        super().__init__(
            "a process that plays ended without a word: a bot crashed it, or the machine is out of memory; "
            "with --concurrency 1 the crash is this program's own"
        )


class SetsFileRefused(LocalMatchError):  # noqa: N818 - the name says what is the matter
    """A file of played sets cannot be gone on with."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path} {why}")
