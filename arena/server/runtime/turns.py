# Compiled: every decision passes through here.
"""Turns: at the end of each, the journal is committed once, then every sender sends.

The promise to bots is that nothing leaves the server before its cause is stored. A bot must not see an answer that a
restarted server does not know. The simple way, a write before each message, costs a system call per message. A server
with hundreds of matches has many events at the same moment, so we group them. A turn is everything that happens at one
moment: messages that arrived together, a timer, the end of a match. In a turn, code changes state, adds lines to the
journal and registers senders with `due`, but nothing leaves. At its end there is one commit and then one `send` per
sender. So all of a bot's questions are in one message.

The transport and the workers wrap each delivery in a turn (`with turns: …`). Anything else that gives a sender
something to send is followed by a turn of its own. Code in a turn must not wait: turns do not nest or overlap because
nothing inside yields to the event loop.

Sending may cause new events; the matchmaker, a sender itself, announces matches. So the end of a turn repeats until
nothing is due, with a commit before each round. A sender that became due again in the same round waits for the next
round, because its newest event is not stored yet.

If the commit fails, the turn ends without sending. The senders stay due, and `run` retries after a pause. `tell` sends
bots a notice outside of this order. It is the only message that does not depend on the journal. The ugly part: by then
the state in memory has already changed. We do not roll it back. We only make sure that nobody sees it before it is
stored.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Protocol

import structlog
import trio

from arena.durations import Durations
from arena.store.base.errors import StoreError

log = structlog.get_logger(__name__)


class Sender(Protocol):
    """An object with messages to send at the end of a turn, such as a session, the matchmaker or the pool of house
    workers.
    """

    def send(self) -> None:
        """Send the waiting messages, whose causes are stored."""


class Turns:
    """Collector of the senders of a turn, which calls them at the turn's end."""

    def __init__(
        self, commit: Callable[[], None], retry: float, tell: Callable[[StoreError | None], None] | None = None
    ) -> None:
        """`commit` stores all events so far. After a StoreError, it is retried in `retry` seconds.

        `tell` is called with the error when sending has to stop, and with None when messages can leave again.
        """
        self._commit = commit
        self._retry = retry
        self._tell = tell
        self._failing = False
        self._due: dict[Sender, None] = {}
        self._in_turn = self._stuck = False
        self._wake = trio.Event()
        self._began = 0.0
        self.lengths = Durations()
        """Durations of turns."""
        self.commits = Durations()
        """Durations of the journal's commits, which are parts of turns."""

    @property
    def storing(self) -> bool:
        """True if the last commit of the journal succeeded."""
        return not self._failing

    def due(self, sender: Sender) -> None:
        """Let a sender send at the end of the current turn. If no turn is running, start one for it."""
        self._due[sender] = None
        if not self._in_turn:
            self._wake.set()

    def __enter__(self) -> None:
        """Start a turn."""
        self._in_turn = True
        self._began = perf_counter()

    def __exit__(self, *_: object) -> None:
        """End the turn: commit, then send."""
        while self._due and not self._stuck:
            self._send()
        self._in_turn = False
        self.lengths.add(perf_counter() - self._began)

    async def run(self) -> None:
        """Run a turn whenever a sender is due while no turn is running, until cancelled."""
        while True:
            await self._wake.wait()
            self._wake = trio.Event()
            if self._stuck:
                await trio.sleep(self._retry)
                self._stuck = False
            with self:
                pass

    def _say(self, error: StoreError | None) -> None:
        """Call `tell` for the first failure, and for the first success after it."""
        if self._failing is not (error is not None):
            self._failing = error is not None
            if self._tell is not None:
                self._tell(error)

    def _send(self) -> None:
        began = perf_counter()
        try:
            self._commit()
        except StoreError as error:
            log.error("journal not written yet", error=str(error), retry_in=self._retry)
            self._stuck = True
            self._wake.set()
            self._say(error)
            return
        self.commits.add(perf_counter() - began)
        if self._failing:
            self._say(None)
        due, self._due = self._due, {}
        for sender in due:
            if sender not in self._due:  # Otherwise the sender's latest event is not stored yet.
                sender.send()
