"""A budget of processor time per address for calls without a valid token.

Work is measured where it is done and charged afterwards. When the budget is used up, the server stops reading from the
address's connections and refuses its calls until the budget has recovered. A valid token refunds the charges of its
call and connection.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Coroutine, Generator, Mapping
from contextvars import ContextVar
from hashlib import sha256
from time import thread_time
from typing import Any, Final, TypeVar

from trio_grpc.limits.connection_limits import Origin

T = TypeVar("T")

SAVED: Final = 10.0
"""Number of seconds for which an unused budget accumulates."""
MAX_DEBT: Final = 20.0
"""Maximum number of seconds for which an address without budget must wait, so that one expensive call does not shut it
out for long.
"""
MAX_KNOWN_TOKENS: Final = 10_000
"""Maximum number of tokens remembered as valid. The oldest are removed first."""

_meter: ContextVar[Callable[[float], None] | None] = ContextVar("meter", default=None)


class WorkBudget:
    """Each origin's remaining budget, stored as the time at which it will be full again."""

    def __init__(self, work_untrusted: float) -> None:
        """`work_untrusted` is the percentage of a core that one origin may use."""
        self._share = work_untrusted / 100
        self._full_at: dict[Origin, float] = {}
        self._known_tokens: dict[bytes, None] = {}

    def charge(self, origin: Origin, seconds: float, now: float) -> None:
        """Subtract `seconds` of processor time from an origin's budget. A negative number adds time."""
        full_at = max(self._full_at.get(origin, now), now) + seconds / self._share
        self._full_at[origin] = min(full_at, now + SAVED + MAX_DEBT)

    def wait(self, origin: Origin, now: float) -> float:
        """Return the number of seconds until the origin has budget again; 0 or less if it has budget now."""
        return self._full_at.get(origin, now) - now - SAVED

    def forget_full(self, now: float) -> None:
        """Remove origins with a full budget."""
        self._full_at = {origin: full_at for origin, full_at in self._full_at.items() if full_at > now}

    def remember(self, metadata: Mapping[str, str]) -> None:
        """Remember the token of a call, if it has one, as valid."""
        if "authorization" not in metadata:
            return
        self._known_tokens[_fingerprint(metadata)] = None
        if len(self._known_tokens) > MAX_KNOWN_TOKENS:
            del self._known_tokens[next(iter(self._known_tokens))]

    def forget(self, metadata: Mapping[str, str]) -> None:
        """Remove the token of a refused call, because it may have been revoked."""
        self._known_tokens.pop(_fingerprint(metadata), None)

    def origin_of(self, metadata: Mapping[str, str], address: Origin) -> Origin:
        """Return the origin that is charged for a call: its token if it was valid when last used, otherwise the
        address.
        """
        fingerprint = _fingerprint(metadata)
        return Origin(fingerprint.hex()) if fingerprint in self._known_tokens else address


def charge_caller(seconds: float) -> None:
    """Charge processor time of work in other threads to the call that this task handles, unless it is trusted."""
    if (meter := _meter.get()) is not None:
        meter(seconds)


@types.coroutine
def metered(handler: Coroutine[Any, Any, T], meter: Callable[[float], None]) -> Generator[Any, Any, T]:
    """Run a handler. Pass to `meter` the processor time of each step and the time that `charge_caller` adds."""
    _meter.set(meter)
    step: Callable[[Any], Any] = handler.send
    value: Any = None
    while True:
        start = thread_time()
        try:
            wanted = step(value)
        except StopIteration as done:
            result: T = done.value
            return result
        finally:
            meter(thread_time() - start)
        try:
            value = yield wanted
            step = handler.send
        except BaseException as error:  # noqa: BLE001 - thrown into the handler
            value, step = error, handler.throw


def _fingerprint(metadata: Mapping[str, str]) -> bytes:
    return sha256(metadata.get("authorization", "").encode(errors="replace")).digest()
