"""The sandboxes of a match's commands, as complete as this system allows."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from arena.local.commands.command import Fence, RunningCommand
from arena.local.errors import CommandNotStarted, SandboxRefused
from arena.local.sandbox.box import MEMORY, OWN_FILES, Ability, Box, Identity
from arena.local.sandbox.system_calls import filter_for

PATIENCE: Final = 60.0
"""Maximum number of seconds for one probe."""
FIRST_IDENTITY: Final = 0x70000000
"""The first user and group id for commands. According to systemd's UIDS-GIDS.md, ids up to 0x7FFFFFFF are unused."""


class Lack(NamedTuple):
    """A feature that this system lacks."""

    ability: Ability
    why: str
    """The reason that the probe reported."""

    def __str__(self) -> str:
        return f"{self.ability.value}: {self.why}"


class Sandbox(NamedTuple):
    """The sandboxes for the commands of a match."""

    bubblewrap: str
    able: frozenset[Ability]
    lacks: tuple[Lack, ...]
    """Features that sandboxes lack on this system."""
    group: int | None
    """The group of all sandboxed commands, if each command has its own user. Only this group may use the socket."""

    def box(self) -> Box:
        """Return a new sandbox for one command."""
        identity = None if self.group is None else Identity(_nobodys(), self.group)
        return Box(self.bubblewrap, self.able, identity)

    @property
    def fence(self) -> Fence:
        """The limits of every sandbox that are not part of its command line."""
        return Fence((filter_for() or b"") if Ability.CALLS in self.able else b"", MEMORY, OWN_FILES)

    def admit(self, folder: Path, unix_socket: Path) -> None:
        """Allow only the sandboxed commands to use a socket in a folder."""
        if self.group is not None:
            os.chown(unix_socket, -1, self.group)
            unix_socket.chmod(0o660)
            os.chown(folder, -1, self.group)
            folder.chmod(0o710)


def run_command(
    words: Sequence[str], environment: Mapping[str, str], log: Path, shared: Path, sandbox: Sandbox | None
) -> RunningCommand:
    """Start a command. With a sandbox, the command runs in it and can read the socket's folder, but no logs.

    Raises:
        CommandNotStarted: the command cannot be started.
        SandboxRefused: the sandbox cannot be created.
    """
    if sandbox is None:
        return RunningCommand(words, environment, log)
    boxed = sandbox.box().words(words, shared, [log.parent.resolve()])
    return RunningCommand(boxed, environment, log, fence=sandbox.fence)


def probed(weak: bool) -> Sandbox:
    """Return the best sandbox that this system supports.

    Raises:
        SandboxRefused: the sandbox is incomplete, and `weak` is false.
    """
    program = shutil.which("bwrap")
    wanted = [ability for ability in Ability if ability is not Ability.USER or os.geteuid() == 0]
    if (program is None or _fails(program, wanted) is not None) and (lacks := _lacks(program, wanted)):
        if not weak:
            raise SandboxRefused(_said(lacks))
        able = frozenset(wanted) - {lack.ability for lack in lacks}
        if (why := _fails(program or "", able)) is not None:
            raise SandboxRefused(f"this system cannot combine its sandbox abilities: {why}")
    else:
        able, lacks = frozenset(wanted), ()
    return Sandbox(program or "", able, lacks, _nobodys() if Ability.USER in able else None)


def _lacks(program: str | None, wanted: Iterable[Ability]) -> tuple[Lack, ...]:
    """Probe each of the wanted features separately. Return those that this system lacks."""
    missing = "there is no program bwrap; apt-get install bubblewrap"
    if (first := missing if program is None else _fails(program, [Ability.BUBBLEWRAP])) is not None:
        return tuple(Lack(each, first if each is Ability.BUBBLEWRAP else "needs bubblewrap") for each in wanted)
    lacks = []
    for each in wanted:
        # Another user can read this process's Python only if the sandbox creates the folders above it.
        beside = {Ability.FILES} if each is Ability.USER else set()
        if (why := _fails(program or "", {Ability.BUBBLEWRAP, each} | beside)) is not None:
            lacks.append(Lack(each, why))
    return tuple(lacks)


def _fails(program: str, abilities: Iterable[Ability]) -> str | None:
    """Return the reason why a sandbox with these features cannot be created, or None if it can."""
    able = frozenset(abilities)
    calls = filter_for() if Ability.CALLS in able else b""
    if calls is None:
        return f"not for a machine of this kind ({os.uname().machine})"
    box = Box(program, able, Identity(_nobodys(), _nobodys()) if Ability.USER in able else None)
    with tempfile.TemporaryDirectory(prefix="arena-probe-") as folder:
        try:
            words = box.words([sys.executable, "-I", "-S", "-c", "print('in the box')"])
            command = RunningCommand(words, {}, Path(folder) / "log", fence=Fence(calls, MEMORY, OWN_FILES))
        except (CommandNotStarted, SandboxRefused) as error:
            return str(error)
        end = command.ended(PATIENCE)
        command.end()
    if end is not None and end.status == 0:
        return None
    return "it took too long" if end is None else " ".join(end.last[-1:]) or f"exit status {end.status}"


def _nobodys() -> int:
    return FIRST_IDENTITY + secrets.randbelow(0x0FFFFFFF)


def _said(lacks: Iterable[Lack]) -> str:
    lines = [f"  {lack}" for lack in lacks]
    advice = "--sandbox=weak goes on without what is missing."
    return "\n".join(["this system cannot make a whole sandbox; these probes failed:", *lines, advice])
