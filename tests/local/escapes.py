"""A bot that tries to leave its sandbox before it plays, and prints for each way out whether it is closed.

python escapes.py PLACES

PLACES is JSON: objects outside the sandbox, by name. The bot runs as its author would run it: with its own interpreter,
without the tests.
"""

from __future__ import annotations

import ctypes
import errno
import json
import mmap
import os
import platform
import resource
import socket
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
COLUMN = ["x86_64", "aarch64"].index(platform.machine())
PLACES: dict[str, Any] = {}
Probe = Callable[[], str | None]
"""A way out of the sandbox. It returns what it reached, or None. An OSError or MemoryError also means that the way is
closed.
"""


def call(numbers: tuple[int, int], *arguments: object) -> int | None:
    """Make a system call by its number. Return None if it fails."""
    found: int = LIBC.syscall(numbers[COLUMN], *arguments)
    return None if found == -1 else found


def tcp() -> str | None:
    with socket.create_connection(("127.0.0.1", PLACES["tcp"]), 1) as there:
        return str(there.recv(5))


def udp() -> str | None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as there:
        there.settimeout(0.5)
        there.connect(("127.0.0.1", PLACES["udp"]))
        there.send(b"x")
        return str(there.recv(5))


def abstract_socket() -> str | None:
    with socket.socket(socket.AF_UNIX) as there:
        there.connect("\0" + PLACES["abstract"])
        return str(there.recv(5))


def write_outside() -> str | None:
    got = []
    for folder in PLACES["not writable"]:
        try:
            Path(folder, "escaped").write_text("x")
            got.append(folder)
        except OSError:
            continue
    return ", ".join(got) or None


def replace_socket() -> str | None:
    path = os.environ["ARENA_SERVER"].removeprefix("unix:")
    Path(path).rename(path + "-mine")
    return path


def read_secrets() -> str | None:
    got = [path for path in PLACES["secrets"] if _content(path)]
    return ", ".join(got) or None


def read_home() -> str | None:
    got = [path for path in ("/etc/shadow", "/root/.bashrc", "/root/.profile", PLACES["logs"]) if _content(path)]
    return ", ".join(got) or None


def _content(path: str) -> object:
    try:
        place = Path(path)
        return [*place.iterdir()] if place.is_dir() else place.read_bytes()
    except OSError:
        return None


def fork_bomb() -> str | None:
    children = []
    try:
        for _ in range(1000):
            child = os.fork()
            if child == 0:
                time.sleep(1000)
                os._exit(0)
            children.append(child)
    except OSError:
        return None
    finally:
        for child in children:
            os.kill(child, 9)
            os.waitpid(child, 0)
    return f"{len(children)} processes"


def memory() -> str | None:
    kept = []
    for kind, most in ((mmap.MAP_PRIVATE, 2), (mmap.MAP_SHARED, 8)):
        try:
            for _ in range(most * 16):
                made = mmap.mmap(-1, 64 << 20, flags=kind | mmap.MAP_ANONYMOUS)
                kept.append(made)
        except (OSError, MemoryError):
            continue
        return f"{most} GiB"
    return None


def unbound_memory() -> str | None:
    got = [
        name
        for name, made in (
            ("memfd", call((319, 279), b"x", 0)),
            ("shmget", call((29, 194), 0, 4096, 0o1600)),
            ("semget", call((64, 190), 0, 32000, 0o1600)),
            ("msgget", call((68, 186), 0, 0o1600)),
        )
        if made is not None
    ]
    return ", ".join(got) or None


def file_attributes() -> str | None:
    path = Path("/tmp/attributes")
    path.touch()
    try:
        with path.open() as file:
            for place in (path, file.fileno()):
                os.setxattr(place, "user.x", bytes(60_000))
        return "60 kB beside a file"
    finally:
        path.unlink()


def outlive_others() -> str | None:
    own = Path("/proc/self/oom_score_adj")
    if own.read_text() != "1000\n":
        return "other processes are killed first where memory is short"
    own.write_text("0")
    return "it is killed after other processes"


def temporary() -> str | None:
    got = []
    for folder, most in (("/tmp", 70), ("/dev/shm", 20)):
        made = [Path(folder, f"fill-{at}") for at in range(most // 10)]
        try:
            for path in made:
                path.write_bytes(bytes(10 << 20))
            got.append(f"{most} MB in {folder}")
        except OSError:
            continue
        finally:
            for path in made:
                path.unlink(missing_ok=True)
    return ", ".join(got) or None


def signal_runner() -> str | None:
    os.kill(PLACES["runner"], 0)
    return "it could be killed"


def others_processes() -> str | None:
    text = Path(f"/proc/{PLACES['runner']}/cmdline").read_bytes()
    return str(text) if PLACES["word"].encode() in text else None


def others_environment() -> str | None:
    names = set(os.environ)
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            names |= {each.partition(b"=")[0].decode() for each in path.read_bytes().split(b"\0")}
        except OSError:
            continue
    return ", ".join(names - {"", "ARENA_SERVER", "ARENA_TOKEN", "HOME", "PATH", "PWD", "LC_CTYPE"}) or None


def ptrace() -> str | None:
    child = os.fork()
    if child == 0:
        time.sleep(1000)
        os._exit(0)
    try:
        return "a child" if LIBC.ptrace(0x4206, child, 0, 0) == 0 else None  # PTRACE_SEIZE
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)


def mount() -> str | None:
    return "/tmp" if LIBC.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0 else None


def keyring() -> str | None:
    found = call((250, 219), 0, -4, 1)  # KEYCTL_GET_KEYRING_ID of the user's keyring
    return None if found is None else f"keyring {found}"


def namespaces() -> str | None:
    got = []
    for flags in (0x10000000, 0x20000000, 0x40000000):
        child = os.fork()
        if child == 0:
            os._exit(0 if LIBC.unshare(flags) == 0 else 1)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
            got.append(f"unshare {flags:#x}")
    made = call((56, 220), 0x10000000 | 17, 0, 0, 0, 0)
    if made == 0:
        os._exit(0)
    if made is not None:
        os.waitpid(made, 0)
        got.append("clone")
    if call((435, 435), 0, 0) is not None or ctypes.get_errno() != errno.ENOSYS:
        got.append("clone3")
    return ", ".join(got) or None


def set_user_id_bit() -> str | None:
    status = Path("/proc/self/status").read_text()
    if "NoNewPrivs:\t1" not in status:
        return "programs with the bit get its rights"
    Path(sys.executable).chmod(0o4755)
    return sys.executable


def make_device() -> str | None:
    os.mknod("/tmp/memory", stat.S_IFCHR | 0o600, os.makedev(1, 1))
    return "/dev/mem"


def raw_sockets() -> str | None:
    got = []
    for family, kind in ((socket.AF_INET, socket.SOCK_RAW), (17, socket.SOCK_RAW), (40, socket.SOCK_STREAM), (38, 5)):
        try:
            socket.socket(family, kind).close()
            got.append(f"family {family}")
        except OSError:
            continue
    return ", ".join(got) or None


def become_root() -> str | None:
    status = Path("/proc/self/status").read_text()
    rights = [line for line in status.splitlines() if line.startswith(("CapEff", "CapPrm", "CapAmb"))]
    if any(int(line.split()[1], 16) for line in rights):
        return ", ".join(rights)
    if PLACES["own user"] and (os.getuid() == PLACES["uid"] or os.getgroups()):
        return "the runner's user, or groups"
    os.setuid(0)
    return "user 0"


def kernel() -> str | None:
    calls = {
        "bpf": call((321, 280), 0, 0, 0),
        "userfaultfd": call((323, 282), 1),
        "perf_event_open": call((298, 241), 0, 0, -1, -1, 0),
        "io_uring": call((425, 425), 1, ctypes.create_string_buffer(120)),
        "personality": call((135, 92), 0xFFFFFFFF),
        "syslog": call((103, 116), 10, 0, 0),
    }
    return ", ".join(name for name, made in calls.items() if made is not None) or None


def terminal() -> str | None:
    import pty

    _, here = pty.openpty()
    return "words for a terminal" if LIBC.ioctl(here, 0x5412, b"x") == 0 else None


def controlling_terminal() -> str | None:
    os.close(os.open("/dev/tty", os.O_RDWR))
    return "/dev/tty"


def raise_limits() -> str | None:
    got = []
    for name in ("NPROC", "AS", "DATA", "FSIZE", "NOFILE", "CPU", "CORE"):
        kind = getattr(resource, f"RLIMIT_{name}")
        try:
            resource.setrlimit(kind, (resource.getrlimit(kind)[1] + 1,) * 2)
            got.append(name)
        except (OSError, ValueError):
            continue
    return ", ".join(got) or None


PROBES: tuple[Probe, ...] = (
    tcp,
    udp,
    abstract_socket,
    write_outside,
    replace_socket,
    read_secrets,
    read_home,
    fork_bomb,
    memory,
    unbound_memory,
    file_attributes,
    outlive_others,
    temporary,
    signal_runner,
    others_processes,
    others_environment,
    ptrace,
    mount,
    keyring,
    namespaces,
    set_user_id_bit,
    make_device,
    raw_sockets,
    become_root,
    kernel,
    terminal,
    controlling_terminal,
    raise_limits,
)


def tried(probe: Probe) -> str | None:
    try:
        return probe()
    except (OSError, MemoryError):
        return None


if __name__ == "__main__":
    PLACES |= json.loads(sys.argv[1])
    for each in PROBES:
        if not sys.argv[2:] or each.__name__ in sys.argv[2:]:
            print("probe", json.dumps([each.__name__, tried(each)]), flush=True)
    if not sys.argv[2:]:
        from arena_client import Bot, Decision, run

        class First(Bot):
            games = ("nullern", "sixth_sense")

            def decide(self, decision: Decision) -> int:
                return decision.legal[0]

        run(First(), "localhost:1", verbose=False)
