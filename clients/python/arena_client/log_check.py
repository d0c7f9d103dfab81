"""Check at each welcome that the server's log of results has only grown since the last welcome."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias

from arena_client.merkle import Keys, consistent, fields, included
from arena_client.receipts import Receipts
from arena_client.v1.log_pb2 import LogHead, LogState

_log = logging.getLogger("arena_client")

Consistency: TypeAlias = Callable[[int, int], Awaitable[Sequence[bytes] | None]]
"""Function that fetches the proof that a log of one size is the beginning of a larger one; returns None if refused."""


class LogChecker:
    """Checker that compares a server's log with the bot's record.

    It reports a fault once, and the bot continues to play.
    """

    def __init__(self, receipts: Receipts) -> None:
        self._receipts = receipts
        self._alarmed = False

    async def check(self, state: LogState | None, consistency: Consistency, one_of_several: bool = False) -> None:
        """Check the state of the log in a welcome. `state` is None if the server has no log.

        `one_of_several`: true if the server is one of several nodes. Another node may have sent a report with a newer
        head in the meantime.
        """
        receipts = self._receipts
        receipts.read()
        if state is None:
            if receipts.pin is not None:
                self._alarm("the server had a log of results and shows none now")
            return
        if (problem := _malformed(state)) is not None:
            self._alarm(problem)
        elif receipts.pin is None:
            receipts.pin_to(state)
        elif receipts.pin.head != state.head or receipts.pin.keys != [*state.keys]:
            await self._compare(state, consistency, one_of_several)

    async def _compare(self, state: LogState, consistency: Consistency, one_of_several: bool) -> None:
        """Compare a log with the bot's record. If they agree, update the record."""
        pin, known = self._receipts.pin, self._receipts.latest()
        assert pin is not None, "the caller has checked"
        assert known is not None, "the pin has a head"
        if [*state.keys][: len(pin.keys)] != pin.keys:
            return self._alarm("its key is not the one that this bot knows, and that one did not name it")
        if known.size <= state.head.size and await _begins(known, state.head, consistency):
            return self._receipts.pin_to(state)
        if one_of_several and known.size > state.head.size and await _begins(state.head, known, consistency):
            return None
        cut = _new_cut(state, pin.restores, known.size)
        if cut is None:
            return self._alarm(f"it does not begin with the {known.size} entries that this bot has seen")
        size, at = cut
        earlier = self._receipts.latest(size)
        if earlier is not None and not await _begins(earlier, state.head, consistency):
            return self._alarm(
                f"it was restored from a backup, and does not begin with the {earlier.size} entries before that"
            )
        self._tell_of_cut(size, at)
        return self._receipts.pin_to(state, size)

    def _tell_of_cut(self, size: int, at: datetime) -> None:
        beyond = sorted(match for number, match in self._receipts.matches if number > size)
        lost = f"{len(beyond)} of this bot's receipts are of results after that"
        if beyond:
            lost += f" (match {beyond[0]})" if len(beyond) == 1 else f" (matches {beyond[0]} to {beyond[-1]})"
        _log.warning(
            "the server was restored from a backup on %s, and its log goes on from entry %d: %s, which it does not know"
            " any more; they are kept in %s, and the bot plays on",
            f"{at:%Y-%m-%d %H:%M} UTC",
            size,
            lost,
            self._receipts.file or "memory",
        )

    def _alarm(self, problem: str) -> None:
        if not self._alarmed:
            self._alarmed = True
            _log.error(
                "THE SERVER'S LOG OF RESULTS IS NOT WHAT IT WAS: %s. Results may have been changed. What this bot was"
                " told is kept in %s; it plays on",
                problem,
                self._receipts.file or "memory",
            )


async def _begins(first: LogHead, second: LogHead, consistency: Consistency) -> bool:
    if first.size == second.size:
        return first.root == second.root
    proof = await consistency(first.size, second.size)
    return proof is not None and consistent(first, second, proof)


def _malformed(state: LogState) -> str | None:
    """Describe a fault within a log's state; None if there is none."""
    try:
        keys = Keys(state.keys)
    except ValueError as error:
        return f"it shows {error}"
    return None if keys.signed(state.head) else "its head is not signed by its key"


def _new_cut(state: LogState, known: Sequence[bytes], seen: int) -> tuple[int, datetime] | None:
    """Return the size and time of a new restoration that cut the log below `seen` entries; None if there is none."""
    cuts = []
    for entry in state.restores:
        if entry.leaf in known or entry.head != state.head or not included(entry):
            continue
        try:
            leaf: dict[str, Any] = fields(entry.leaf)
            size, at = int(leaf["size"]), datetime.fromtimestamp(leaf["at"] / 1e6, UTC)
        except (ValueError, KeyError, TypeError, OverflowError):
            continue
        if leaf.get("kind") == "restore" and entry.number == size + 1 and size < seen:
            cuts.append((size, at))
    return min(cuts, default=None)
