"""The text of lines in tracebacks of compiled modules: Python asks their loader for it, which has no sources."""

from __future__ import annotations

import linecache
import sys
import traceback
from collections.abc import MutableMapping
from types import TracebackType
from typing import Any


def read_lines(trace: TracebackType | None) -> None:
    """Read the sources that a traceback names, as Python does where it knows of no loader; what is kept it prints."""
    for frame, _ in traceback.walk_tb(trace):
        linecache.getlines(frame.f_code.co_filename)


def with_lines(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Read the sources of the exception that is logged; a processor of structlog, before the one that formats it."""
    error = event.get("exc_info")
    if isinstance(error, tuple):
        error = error[1]
    elif not isinstance(error, BaseException):
        error = sys.exc_info()[1] if error else None
    seen = set[int]()  # errors may be each other's cause
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        read_lines(error.__traceback__)
        error = error.__cause__ or error.__context__
    return event
