"""A Dask cluster that plays sets: an existing scheduler, as a `concurrent.futures.Executor`. `distributed` is an extra.

The scheduler keeps what a task is until its result was fetched, and computes it again where a worker died before; it
names a task that ended too many workers. Results are let go as soon as they are here.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from arena.local.errors import ClusterUnusable

ADDRESS: Final = re.compile(r"([a-z]+://)?[^/]+:\d{1,5}")
PATIENCE: Final = 10.0
"""Seconds for the scheduler to answer."""


class Cluster(NamedTuple):
    """A Dask cluster that is connected."""

    executor: Executor
    workers: Callable[[], int]
    """Returns the number of worker processes now: each plays one task at a time, however many threads it has."""


@contextmanager
def dask_cluster(address: str) -> Iterator[Cluster]:
    """Connect to a scheduler, such as "tcp://10.0.0.5:8786". Raises ClusterUnusable."""
    if not ADDRESS.fullmatch(address):
        raise ClusterUnusable(address, "an address is written tcp://HOST:PORT")
    try:
        import distributed
    except ModuleNotFoundError as error:
        raise ClusterUnusable(address, "Dask is not installed: pip install distributed") from error
    for logger in (
        "distributed",
        *(name for name in logging.root.manager.loggerDict if name.startswith("distributed.")),
    ):
        logging.getLogger(logger).setLevel(logging.CRITICAL + 1)  # what matters is said by our own errors
    try:
        client: Any = distributed.Client(address, timeout=PATIENCE, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TypeError) as error:
        why = f"no scheduler answers there within {PATIENCE:.0f} s ({error})"
        raise ClusterUnusable(address, why) from error
    try:
        yield Cluster(client.get_executor(pure=True), lambda: len(client.nthreads()))
    finally:
        client.close(timeout=PATIENCE)
