"""A system call filter in the form that bubblewrap expects: a classic BPF program for the kernel.

It follows `linux/filter.h`, `linux/seccomp.h` and Linux's tables of system calls. All calls that are not listed here
are allowed. The namespaces are the real barrier. This filter closes kernel interfaces that no bot needs.
"""

from __future__ import annotations

import errno
import platform
import socket
import struct
from typing import Final

MACHINES: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""The kernel's constants (`AUDIT_ARCH_…`) for the supported machines."""
REFUSED: Final = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "syslog": (103, 116),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "personality": (135, 92),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
}
"""System calls that fail with EPERM, by name: their numbers on x86_64 and on aarch64.

The last calls allocate kernel memory that no process limit counts: semaphores up to tens of gigabytes, and file
attributes of 64 KiB each.
"""
MISSING: Final = {"clone3": (435, 435), "memfd_create": (319, 279), "memfd_secret": (447, 447)}
"""System calls that fail with ENOSYS, as on a system without them, so that programs use alternatives.

A filter cannot inspect the arguments of `clone3`. `memfd_create` allocates memory that no process limit counts.
"""
CLONE: Final = (56, 220)
NEW_NAMESPACES: Final = 0x7E020000
"""The flags of `clone` that create namespaces (`CLONE_NEW…`)."""
SOCKET: Final = (41, 198)
FAMILIES: Final = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, 16)
"""Allowed types of sockets, which reach only the sandbox's own network. 16 is AF_NETLINK."""
IOCTL: Final = (16, 29)
INTO_TERMINAL: Final = (0x5412, 0x541C)
"""Requests that insert input into a terminal (TIOCSTI, TIOCLINUX)."""
X32: Final = 0x40000000
"""Number of the first system call in x86_64's other table (x32)."""

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16


def filter_for(machine: str | None = None) -> bytes | None:
    """Return the filter for a machine, by default this machine. Return None if the machine is not supported."""
    machine = machine or platform.machine()
    if machine not in MACHINES:
        return None
    column = list(MACHINES).index(machine)
    program = [
        (_LOAD, 0, 0, _MACHINE),
        (_EQUAL, 1, 0, MACHINES[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, X32),
        (_RETURN, 0, 0, _FAIL | errno.ENOSYS),
    ]
    for calls, error in ((REFUSED, errno.EPERM), (MISSING, errno.ENOSYS)):
        for numbers in calls.values():
            program += [(_EQUAL, 0, 1, numbers[column]), (_RETURN, 0, 0, _FAIL | error)]
    program += _where(CLONE[column], 0, [(_ANY_BIT, 0, 1, NEW_NAMESPACES), (_RETURN, 0, 0, _FAIL | errno.EPERM)])
    refused = [(_EQUAL, len(FAMILIES) - at, 0, family) for at, family in enumerate(FAMILIES)]
    program += _where(SOCKET[column], 0, [*refused, (_RETURN, 0, 0, _FAIL | errno.EAFNOSUPPORT)])
    asked = [(_EQUAL, 1, 0, INTO_TERMINAL[0]), (_EQUAL, 0, 1, INTO_TERMINAL[1])]
    program += _where(IOCTL[column], 1, [*asked, (_RETURN, 0, 0, _FAIL | errno.EPERM)])
    program.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *each) for each in program)


def _where(number: int, argument: int, body: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    """Return instructions that test the lower half of an argument of one system call.

    Other calls continue after them.
    """
    return [
        (_EQUAL, 0, len(body) + 1, number),
        (_LOAD, 0, 0, _ARGUMENTS + 8 * argument),
        *body,
        (_LOAD, 0, 0, _NUMBER),
    ]
