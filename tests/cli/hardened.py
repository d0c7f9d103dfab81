"""Run a program that may not change priorities, as in a systemd unit with `SystemCallFilter=~@resources`.

python hardened.py COMMAND...
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys

SETPRIORITY = {"x86_64": 141, "aarch64": 140}
NO_NEW_PRIVILEGES, SECCOMP, FILTER = 38, 22, 2
"""Options of the system call `prctl`, and the type of the filter."""
LOAD, UNLESS_EQUAL, RETURN = 0x20, 0x15, 0x06
REFUSED, ALLOWED = 0x00050000 | errno.EPERM, 0x7FFF0000


class Program(ctypes.Structure):
    """The C structure `struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def refuse_setpriority() -> None:
    number = SETPRIORITY[platform.machine()]
    steps = ((LOAD, 0, 0, 0), (UNLESS_EQUAL, 0, 1, number), (RETURN, 0, 0, REFUSED), (RETURN, 0, 0, ALLOWED))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    system = ctypes.CDLL(None, use_errno=True)
    program = Program(len(steps), ctypes.addressof(code))
    if system.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) or system.prctl(SECCOMP, FILTER, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    refuse_setpriority()
    os.execvp(sys.argv[1], sys.argv[1:])
