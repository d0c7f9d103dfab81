"""Messages to systemd about the server's state, as sd_notify(3) describes them."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Final

import trio

if TYPE_CHECKING:
    from arena.server.arena import Arena

LEAST_OFTEN: Final = 10.0
"""Number of seconds between two messages if no watchdog waits for them."""
MORE_TIME: Final = 30.0
"""Number of additional seconds that each message about long work requests."""


def notify(**state: object) -> None:
    """Send variables such as `READY=1` to the service manager. Do nothing if there is none, or if it does not read."""
    if path := os.environ.get("NOTIFY_SOCKET"):
        message = "\n".join(f"{name}={value}" for name, value in state.items())
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sending:
            sending.setblocking(False)
            try:
                sending.connect(f"\0{path[1:]}" if path.startswith("@") else path)
                sending.send(message.encode())
            except OSError:
                return


def long_work(status: str) -> None:
    """Report the long work of a start or a stop to the service manager, and request more time than the unit's limit."""
    notify(STATUS=status, EXTEND_TIMEOUT_USEC=round(MORE_TIME * 1e6))


def state_of(arena: Arena) -> str:
    """Return the numbers of bots and matches as a phrase."""
    return f"{len(arena.players.sessions())} bots connected, {arena.playing} matches running"


async def keep_informed(arena: Arena) -> None:
    """Declare the server ready, then answer the watchdog and show the server's state until cancelled.

    The messages come from the loop that plays the matches. If the loop stands still, they stop and the watchdog
    restarts the server.
    """
    notify(READY=1)
    every = LEAST_OFTEN
    if os.environ.get("WATCHDOG_PID") in (None, str(os.getpid())):
        every = min(every, int(os.environ.get("WATCHDOG_USEC", "0")) / 2e6 or every)
    try:
        while True:
            stopping = arena.stopping.is_set()
            state = state_of(arena)
            if stopping:
                long_work(f"stops after its matches: {state}")
            else:
                notify(STATUS=state)
            notify(WATCHDOG=1)
            with trio.move_on_after(every):
                await (trio.sleep_forever() if stopping else arena.stopping.wait())
    finally:
        notify(STOPPING=1)
