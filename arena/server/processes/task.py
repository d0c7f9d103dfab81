"""The task of a further process, sent when it begins."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from arena.server.sessions.limits import Limits
from trio_grpc.limits.settings import TransportSettings


class Task(NamedTuple):
    """The task of a further process, sent when it begins."""

    number: int
    """The process's number, from 2."""
    data: Path
    games: Sequence[str]
    house_workers: int
    heartbeat: float
    limits: Limits
    transport: TransportSettings
    tls_cert: Path | None
    tls_key: Path | None
