"""The system-call filter, run by an interpreter of classic BPF according to `linux/filter.h`."""

from __future__ import annotations

import errno
import re
import struct
from pathlib import Path

import pytest

from arena.local.sandbox.system_calls import MACHINES, MISSING, REFUSED, filter_for

ALLOWED, KILLED = 0x7FFF0000, 0x80000000
OTHERS = {"read": (0, 63), "write": (1, 64), "execve": (59, 221), "setuid": (105, 146), "futex": (202, 98)}
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


def run(machine: str, number: int, *arguments: int, kind: int | None = None) -> int:
    """Return the filter's decision about a system call with up to six arguments."""
    program = filter_for(machine)
    assert program is not None
    padded = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("<IIQ6Q", number, MACHINES[machine] if kind is None else kind, 0, *padded)
    instructions = list(struct.iter_unpack("=HBBI", program))
    at = held = 0
    while True:
        code, yes, no, value = instructions[at]
        at += 1
        if code == 0x20:
            (held,) = struct.unpack_from("<I", data, value)
        elif code == 0x06:
            return int(value)
        else:
            holds = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[code]
            at += yes if holds else no


def failed(error: int) -> int:
    return 0x00050000 | error


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_that_no_bot_needs_fail_and_others_do_not(machine: str) -> None:
    column = list(MACHINES).index(machine)
    assert {run(machine, numbers[column]) for numbers in REFUSED.values()} == {failed(errno.EPERM)}
    assert {run(machine, numbers[column]) for numbers in MISSING.values()} == {failed(errno.ENOSYS)}
    assert {run(machine, numbers[column]) for numbers in OTHERS.values()} == {ALLOWED}
    clone, socket, ioctl = ((56, 220)[column], (41, 198)[column], (16, 29)[column])
    thread, process, user, process_space = 0x3D0F00, 0x1200011, 0x10000011, 0x20000011
    assert [run(machine, clone, flags) for flags in (thread, process)] == [ALLOWED] * 2
    assert [run(machine, clone, flags) for flags in (user, process_space)] == [failed(errno.EPERM)] * 2
    assert [run(machine, socket, family) for family in (1, 2, 10, 16)] == [ALLOWED] * 4
    assert {run(machine, socket, family) for family in (17, 38, 40, 31)} == {failed(errno.EAFNOSUPPORT)}
    assert [run(machine, ioctl, 1, request) for request in (0x5401, 0x5413)] == [ALLOWED] * 2
    assert [run(machine, ioctl, 1, request) for request in (0x5412, 0x541C)] == [failed(errno.EPERM)] * 2
    assert run(machine, ioctl, 0x5412, 0) == ALLOWED, "it is the second argument"
    assert run(machine, ioctl, 1, 0x5412 | 1 << 40) == failed(errno.EPERM), "the kernel takes the lower half"


def test_calls_of_another_table_are_none() -> None:
    assert run("x86_64", 0, kind=0x40000003) == KILLED
    assert run("x86_64", 0x40000000 | 101) == failed(errno.ENOSYS)
    assert filter_for("riscv64") is None


@pytest.mark.parametrize("machine", MACHINES)
def test_numbers_are_those_of_the_systems_tables(machine: str) -> None:
    if not HEADERS[machine].exists():
        pytest.skip(f"{HEADERS[machine]} is not there: libc6-dev")
    column = list(MACHINES).index(machine)
    found = dict(re.findall(r"#define __NR(?:3264)?_(\w+) (\d+)\b", HEADERS[machine].read_text()))
    ours = {**REFUSED, **MISSING, **OTHERS, "clone": (56, 220), "socket": (41, 198), "ioctl": (16, 29)}
    here = {name: numbers[column] for name, numbers in ours.items() if name in found}
    assert here == {name: int(found[name]) for name in here}
    assert len(here) > 40
