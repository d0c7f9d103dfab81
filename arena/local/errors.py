"""Errors of a local match, with messages for the bot's author."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final


class LocalMatchError(Exception):
    """Error of a match that cannot be played as requested. The message states the reason and a remedy."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Support unpickling, which must not call `__init__`, because its parameters are not `args`."""
        return type(self).__new__, (type(self), *self.args), self.__dict__


class BotNotLoaded(LocalMatchError):  # noqa: N818 - the name says what is the matter
    """A bot that does not exist or cannot be created."""

    def __init__(self, spec: str, why: str) -> None:
        super().__init__(f"no bot {spec!r}: {why}")


class BotFailed(LocalMatchError):  # noqa: N818 - the name says what is the matter
    """A bot that raised an exception or returned an invalid answer."""

    def __init__(self, bot: str, seat: int, where: str, trace: str) -> None:
        """`where` is the game and round. `trace` is the bot's own traceback."""
        super().__init__(f"{bot} failed in seat {seat} {where}:\n{trace.rstrip()}")
        self.seat = seat
        self.where = where
        self.trace = trace


class CommandNotStarted(LocalMatchError):  # noqa: N818 - the name says what is the matter
    """A command that cannot be started."""

    def __init__(self, command: str, why: str) -> None:
        super().__init__(f"the command {command} cannot be started: {why}")


class SandboxRefused(LocalMatchError):  # noqa: N818 - the name says what is the matter
    """A command that cannot run in a sandbox, or a system that cannot create one."""


class CommandFailed(LocalMatchError):  # noqa: N818 - the name says what is the matter
    """A command whose bot ended, did not connect, or left a decision to the referee."""

    def __init__(self, spec: str, why: str, log: Path) -> None:
        super().__init__(f"{spec} {why}\nAll that it printed is in {log}")


class WorkerDied(LocalMatchError):  # noqa: N818 - the name says what is the matter
    """A worker process that ended before the match was over."""

    def __init__(self, status: int, who: str) -> None:
        """`status` is the exit status, negative for a signal. `who` is the bot whose turn it was, if known."""
        why = "the bot ended it or crashed, or the machine is out of memory"
        super().__init__(f"the worker process{who} {end_in_words(status)}: {why}")


class SetsFileRefused(LocalMatchError):  # noqa: N818 - the name says what is the matter
    """A file of played deal pairs that cannot be continued."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path} {why}")


class EventFileDiffersError(LocalMatchError):
    """An event file whose content differs from the event computed from it."""


class PackageMissing(LocalMatchError):  # noqa: N818 - the name says what is the matter
    """A distribution of this repository that is not installed. It is in no registry."""

    DISTRIBUTIONS: Final = {
        "arena_client": ("Python client", "arena-client", "./clients/python"),
        "engine": ("engine", "arena-engine", "./engine"),
        "trio_grpc": ("gRPC server for trio", "trio-grpc", "./trio_grpc"),
    }
    """For each package, a description of its distribution, the distribution's name, and its folder in a checkout."""

    def __init__(self, package: str) -> None:
        what, distribution, folder = self.DISTRIBUTIONS[package]
        super().__init__(
            f"the {what} is not installed: run pip install {folder} in a checkout of the Arena, "
            f"or with the file {distribution.replace('-', '_')}-*.whl of this release"
        )


class ClusterUnusable(LocalMatchError):  # noqa: N818 - the name says what is the matter
    """A Dask cluster that cannot play or has stopped playing."""

    def __init__(self, address: str, why: str) -> None:
        super().__init__(f"Dask at {address}: {why}")


def end_in_words(status: int) -> str:
    """Describe how a process ended from its exit status, which is negative for a signal."""
    return f"was ended by signal {-status}" if status < 0 else f"ended with exit status {status}"
