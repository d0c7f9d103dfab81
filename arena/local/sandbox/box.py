"""A sandbox: the command line with which bubblewrap isolates a command as far as this system supports it."""

from __future__ import annotations

import enum
import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from arena.local.commands.keeper import FILTER
from arena.local.sandbox.readable import SYSTEM, SYSTEM_FILES, found_programs, readable_folders, servers_within

TEMPORARY: Final = 64 << 20
"""Maximum number of bytes that a command may store in /tmp."""
SHARED: Final = 16 << 20
"""Maximum number of bytes that a command may store in /dev/shm."""
LIMITS: Final = MappingProxyType(
    {
        "RLIMIT_DATA": 1 << 30,
        "RLIMIT_AS": 4 << 30,
        "RLIMIT_CPU": 24 * 3600,
        "RLIMIT_NOFILE": 256,
        "RLIMIT_FSIZE": TEMPORARY,
        "RLIMIT_CORE": 0,
        "RLIMIT_MEMLOCK": 1 << 16,
        "RLIMIT_MSGQUEUE": 0,
    }
)
"""Limits for each process of a command: bytes, seconds of processor time, open files."""
MEMORY: Final = 2 << 30
"""Maximum memory of all processes of a command together, in bytes."""
OWN_FILES: Final = 1 << 16
"""Maximum number of files, folders and links that a command may create in /tmp and /dev/shm together."""
PROCESSES: Final = 128
"""Maximum number of processes and threads that a command may have at once."""
TOLD: Final = ("ARENA_SERVER", "ARENA_TOKEN")
"""Environment variables that a sandboxed command inherits."""
SET: Final = MappingProxyType({"HOME": "/tmp", "PATH": "/usr/local/bin:/usr/bin:/bin"})  # noqa: S108 - the box's own
"""Further environment variables of a sandboxed command. For example, programs expect a home folder."""


class Ability(enum.Enum):
    """A feature of the system that a complete sandbox needs."""

    BUBBLEWRAP = "bubblewrap"
    """Permission to start bubblewrap, with a user namespace if the runner is not root."""
    PROCESSES = "processes of its own"
    NETWORK = "a network of its own"
    MESSAGES = "messages of its own (System V IPC, host name)"
    FILES = "a file system of its own"
    CALLS = "a filter of system calls"
    USER = "a user of its own"


class Identity(NamedTuple):
    """A user and a group that belong to only one command."""

    user: int
    group: int


class Box(NamedTuple):
    """The sandbox of one command."""

    bubblewrap: str
    """Path of bubblewrap."""
    able: frozenset[Ability]
    identity: Identity | None
    """The command's user and group if the runner is root. None if the command runs as the runner's user."""

    def words(self, words: Sequence[str], shared: Path | None = None, hidden: Iterable[Path] = ()) -> list[str]:
        """Return the command line of a sandboxed command.

        `shared` is a further folder that the command may read, for the server's socket. `hidden` are folders that
        appear empty. Raises: SandboxRefused.
        """
        entry = self._entry(words)
        if Ability.BUBBLEWRAP not in self.able:
            return entry
        options = ["--die-with-parent"]
        if os.geteuid() != 0:
            options.append("--unshare-user")
        else:
            options += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        if Ability.PROCESSES in self.able:
            options.append("--unshare-pid")
        if Ability.NETWORK in self.able:
            options.append("--unshare-net")
        if Ability.MESSAGES in self.able:
            options += ["--unshare-ipc", "--unshare-uts", "--hostname", "box"]
        if Ability.FILES in self.able:
            options += self._files(words, shared, hidden)
        else:
            options += ["--ro-bind", "/", "/"]
        if Ability.CALLS in self.able:
            options += ["--seccomp", FILTER]
        return [self.bubblewrap, *options, "--", *entry]

    def _entry(self, words: Sequence[str]) -> list[str]:
        """Return the words that start the entry program, which sets limits and user, and then becomes the command."""
        identity = self.identity if Ability.USER in self.able else None
        limits = dict(LIMITS)
        # without a user namespace, the limit would count all processes of the user
        if Ability.BUBBLEWRAP in self.able or identity is not None:
            limits["RLIMIT_NPROC"] = PROCESSES
        given = {
            "user": None if identity is None else identity.user,
            "group": None if identity is None else identity.group,
            "limits": limits,
            "told": TOLD,
            "set": dict(SET),
            "folder": str(Path.cwd()),
        }
        text = Path(__file__).with_name("entry.py").read_text()
        return [sys.executable, "-I", "-S", "-c", text, json.dumps(given), *found_programs(words)]

    def _files(self, words: Sequence[str], shared: Path | None, hidden: Iterable[Path]) -> list[str]:
        options = []
        for place in SYSTEM:
            if place.is_symlink():
                options += ["--symlink", str(place.readlink()), str(place)]
            else:
                options += ["--ro-bind-try", str(place), str(place)]
        options += _folders({place.parent for place in SYSTEM_FILES})
        for place in SYSTEM_FILES:
            options += ["--ro-bind-try", str(place), str(place)]
        options += ["--dev", "/dev", *_temporary("/dev/shm", SHARED), "--remount-ro", "/dev"]  # noqa: S108 - a box's
        options += _temporary("/tmp", TEMPORARY)  # noqa: S108 - the box's own
        if Ability.PROCESSES in self.able:
            # a command that can write there could choose which process is killed when memory runs out
            options += ["--proc", "/proc", "--remount-ro", "/proc"]
        else:
            options += ["--dir", "/proc"]
        folders = readable_folders(words, Ability.USER in self.able)
        mounted = [*folders] if shared is None else [*folders, shared]
        above = {each for place in (*mounted, Path.cwd()) for each in (place, *place.parents)}
        options += _folders(each for each in above if not any(map(each.is_relative_to, (*mounted, *SYSTEM))))
        for place in mounted:
            options += ["--ro-bind", str(place), str(place)]
        within = {place for folder in folders for place in servers_within(folder)}
        within |= {place for place in hidden if any(place.is_relative_to(folder) for folder in folders)}
        for place in sorted(within):
            options += ["--tmpfs", str(place), "--remount-ro", str(place)]
        return [*options, "--remount-ro", "/"]


def _temporary(place: str, size: int) -> list[str]:
    return ["--perms", "1777", "--size", str(size), "--tmpfs", place]


def _folders(places: Iterable[Path]) -> list[str]:
    """Return the options that create folders readable by everyone.

    By default, bubblewrap makes them readable only by root.
    """
    return [word for place in sorted(places) for word in ("--perms", "0755", "--dir", str(place))]
