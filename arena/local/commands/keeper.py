"""The supervisor process of a command. It stores the command's output and leaves none of its processes behind.

    python -I -S keeper.py

It runs by its path and uses only the standard library, so it starts in milliseconds. The parent's orders arrive on
standard input: first the command in JSON, then one byte per order. `END` ends the command within a time limit (so does
closing the input), `TELL` only sends SIGTERM, and `KILL` kills it. On standard output the supervisor reports in JSON
that the command is running, or why it is not, and later how it ended.

The command has its own process group. Processes that leave the group, or lose their parents, become children of the
supervisor (on Linux) and end with it.

A sandbox (`arena.local.sandbox`) has its own session, and therefore no terminal to write to. SIGTERM goes to all its
processes, but bubblewrap ignores it, because its own end would kill the others. The supervisor regularly adds
up the memory of all processes in the sandbox, and kills the sandbox if they use too much. The system's own limits are
per process, and control groups need privileges. The supervisor also regularly counts the sandbox's own files.
Bubblewrap limits only their size, and even empty files need kernel memory, which no process limit counts.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

KEPT: Final = 4 << 20
"""Maximum number of bytes stored from the beginning of a command's output."""
TAIL: Final = 64 << 10
"""Maximum number of bytes stored from the end of the output."""
LAST_LINES: Final = 20
"""Maximum number of output lines in the report of a command's end."""
GRACE: Final = 2.0
"""Number of seconds from SIGTERM to SIGKILL."""
LAST_WAIT: Final = 5.0
"""Maximum number of seconds for killing processes that start new ones again and again."""
END, TELL, KILL = b".", b"t", b"!"
"""Orders to the supervisor, one byte each: end the command with a time limit, only ask it to end, or kill it."""
LOOK: Final = 0.25
"""Number of seconds between two counts of a sandbox's memory and files."""
OWN: Final = ("/tmp", "/dev/shm")  # noqa: S108 - the box's own
"""Mount points of a sandbox's own writable file systems."""
FILTER: Final = "{filter}"
"""Placeholder in a sandbox's command line for the file descriptor of the filter of system calls."""
PR_SET_PDEATHSIG: Final = 1
PR_SET_CHILD_SUBREAPER: Final = 36


class Log:
    """A file with the beginning and the end of the output, and the size of the omitted part."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._room = KEPT
        self._tail = b""
        self._missing = 0
        self.printed = 0
        """Number of bytes added so far."""
        self._last = b""

    def add(self, printed: bytes) -> None:
        """Add output."""
        self.printed += len(printed)
        self._last = (self._last + printed)[-TAIL:]
        now, later = printed[: self._room], printed[self._room :]
        self._room -= len(now)
        with suppress(OSError):  # the disk is full: the command can continue
            os.write(self._file, now)
        self._tail += later
        self._missing += max(0, len(self._tail) - TAIL)
        self._tail = self._tail[-TAIL:]

    def close(self) -> list[str]:
        """Write the end of the output to the file. Return the last lines."""
        with suppress(OSError):
            if self._missing:
                os.write(self._file, b"\n[%d bytes are left out here]\n" % self._missing)
            os.write(self._file, self._tail)
        return self._last.decode(errors="replace").splitlines()[-LAST_LINES:]


def main() -> None:
    """Run a command until it ends, or until the parent ends it or dies."""
    wanted = json.loads(_line())
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    ended, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    kept = Log(Path(wanted["log"]))
    keeper, boxed = os.getpid(), wanted["calls"] is not None
    calls = _readable(bytes.fromhex(wanted["calls"] or ""))
    try:
        command = subprocess.Popen(  # noqa: S603 - the user asked for this program
            [str(calls) if word == FILTER else word for word in wanted["words"]],
            env=wanted["environment"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[calls] if boxed else [],
            process_group=None if boxed else 0,
            start_new_session=boxed,
            preexec_fn=lambda: _begin(keeper, boxed),  # noqa: PLW1509 - there are no threads here
            bufsize=0,
        )
    except OSError as error:
        _say({"not started": error.strerror or str(error)})
        return
    os.close(calls)
    assert command.stdout is not None, "it is a pipe"
    _say({"started": command.pid})
    why = _watch(command, command.stdout.fileno(), ended, kept, (wanted["memory"], wanted["files"]) if boxed else None)
    status = command.poll()
    _kill_rest(command)
    if status is None:
        status = command.wait()
    _drain(command.stdout.fileno(), kept)
    _say({"status": status, "last": kept.close(), "why": why, "printed": kept.printed})


def _line() -> bytes:
    """Read the line with the command, and no byte beyond it."""
    line = b""
    while not line.endswith(b"\n") and (more := os.read(0, 1)):
        line += more
    return line


def _readable(content: bytes) -> int:
    """Return a file descriptor from which `content` can be read. The content must fit into a pipe."""
    descriptor, end = os.pipe()
    os.write(end, content)
    os.close(end)
    return descriptor


def _begin(keeper: int, boxed: bool) -> None:
    """Make the command end with the supervisor, even if the supervisor is killed.

    If memory runs out, the system kills a sandbox's processes first, because some of their kernel memory is not
    counted.
    """
    if boxed:
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000")
    else:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != keeper:
        os._exit(1)


def _watch(
    command: subprocess.Popen[bytes], printed: int, ended: int, kept: Log, limits: tuple[int, int] | None
) -> str:
    """Wait until the command has ended or must end. Return the reason if it exceeded one of the sandbox's `limits`."""
    poll = select.poll()
    for descriptor in (0, printed, ended):
        poll.register(descriptor, select.POLLIN)
    until, look = math.inf, math.inf if limits is None else time.monotonic() + LOOK
    while command.poll() is None:
        now = time.monotonic()
        if now >= until:
            return ""
        if limits is not None and now >= look:
            if why := _broken(*limits):
                return why
            look = time.monotonic() + LOOK
        left = min(until, look) - now
        for descriptor, _ in poll.poll(None if left == math.inf else max(0.0, left) * 1000):
            if descriptor == ended:
                os.read(ended, 4096)
            elif descriptor == printed:
                kept.add(content := os.read(printed, 1 << 16))
                if not content:
                    poll.unregister(printed)
            else:
                if not (told := os.read(0, 1)):
                    poll.unregister(0)
                if told != KILL and until == math.inf:
                    _signal(command, signal.SIGTERM)
                until = _deadline(told, until)
    return ""


def _broken(memory: int, files: int) -> str:
    """Return the reason to kill the sandbox, or an empty text. `memory` (in bytes) and `files` are the limits."""
    if used_memory(memory) > memory:
        return f"was ended, as its box used more than {memory >> 20} MiB of memory"
    if own_files() > files:
        return f"was ended, as its box had more than {files} files in {' and '.join(OWN)}"
    return ""


def _deadline(told: bytes, until: float) -> float:
    """Return the time at which to kill a command after an order. Before the order, it was `until`."""
    if told == KILL:
        return -math.inf
    return until if told == TELL else min(until, time.monotonic() + GRACE)


def _drain(printed: int, kept: Log) -> None:
    """Read the remaining output after all writers have ended."""
    os.set_blocking(printed, False)
    with suppress(BlockingIOError):
        while content := os.read(printed, 1 << 16):
            kept.add(content)


def _kill_rest(command: subprocess.Popen[bytes]) -> None:
    """Kill the command's group and all its other descendants."""
    _signal(command, signal.SIGKILL)
    command.wait()
    until = time.monotonic() + LAST_WAIT
    while time.monotonic() < until:
        for child in _children():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        if not _children():
            return
        time.sleep(0.005)


def used_memory(few: int) -> int:
    """Return the memory of all descendants of this process in bytes, including swap space and page tables.

    A first quick count includes shared pages once per process. If it exceeds `few` bytes, divide shared pages among
    their processes, if the system supports it.
    """
    below = _below()
    tables = sum(_told(pid, "status", ("VmPTE:",)) or 0 for pid in below)
    most = tables + sum(_told(pid, "status", ("VmRSS:", "VmSwap:")) or 0 for pid in below)
    if most <= few:
        return most
    shares = [_told(pid, "smaps_rollup", ("Pss:", "SwapPss:")) for pid in below]
    return most if None in shares else tables + sum(each or 0 for each in shares)


def own_files() -> int:
    """Return the number of files, folders and links in the sandbox's own file systems."""
    seen, count = {Path(place).stat().st_dev for place in OWN if Path(place).exists()}, 0
    for pid in _below():
        for place in OWN:
            own = Path(f"/proc/{pid}/root{place}")
            with suppress(OSError):  # the process has ended
                if (device := own.stat().st_dev) not in seen:
                    seen.add(device)
                    system = os.statvfs(own)
                    count += system.f_files - system.f_ffree
    return count


def _told(pid: int, name: str, wanted: tuple[str, ...]) -> int | None:
    """Return the sum in bytes of the `wanted` fields in the file `name` of a process in /proc.

    Return 0 if the process has ended, and None if the system has no such file.
    """
    try:
        lines = Path(f"/proc/{pid}/{name}").read_text(errors="replace").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0 if not Path(f"/proc/{pid}/stat").exists() or name == "status" else None
    except OSError:
        return None
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(wanted))


def _below() -> list[int]:
    """Return all descendants of this process. Processes that start or end meanwhile may be missing."""
    own = os.getpid()
    told = Path(f"/proc/{own}/task/{own}/children").exists()
    parents = {} if told else _parents()
    found, todo = [], [own]
    while todo:
        above = todo.pop()
        children = [pid for pid, parent in parents.items() if parent == above]
        with suppress(OSError):  # the process is gone
            for file in Path(f"/proc/{above}/task").glob("*/children"):
                with suppress(OSError):
                    children += map(int, file.read_text().split())
        found += children
        todo += children
    return found


def _children() -> list[int]:
    """Return the children of this process, or an empty list if the system does not list them."""
    return [pid for pid, parent in _parents().items() if parent == os.getpid()]


def _parents() -> dict[int, int]:
    """Return the parent of each process."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            found[int(entry.parent.name)] = int(entry.read_text(errors="replace").rpartition(")")[2].split()[1])
    return found


def _signal(command: subprocess.Popen[bytes], number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(command.pid, number)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _say(document: object) -> None:
    with suppress(OSError):  # the parent has ended
        os.write(1, json.dumps(document).encode() + b"\n")


if __name__ == "__main__":
    main()
