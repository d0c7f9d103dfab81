"""Standard error of a process: its log, for people or as JSON, and source lines in tracebacks.

Python asks the loader of a compiled module for the text of its lines, but that loader has no sources.
"""

from __future__ import annotations

import linecache
import logging
import shutil
import sys
import traceback
from collections.abc import MutableMapping
from types import TracebackType
from typing import Any, Final, TextIO, cast

import structlog

ERASE: Final = "\x1b[K"
"""Control sequence that erases a terminal's line from the cursor on."""


class StatusLine:
    """A line at the bottom of a terminal that changes in place, below the text that is written to this object."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal
        self._shown = ""
        self._begun = False
        """True while a line above the status line is unfinished."""

    def show(self, status: str) -> None:
        """Replace the line. An empty text removes it."""
        status = status[: shutil.get_terminal_size().columns - 1]  # a wrapped line could not be replaced
        if status != self._shown:
            self._terminal.write(f"\r{ERASE}{status}")
            self._terminal.flush()
            self._shown = status

    def write(self, text: str) -> int:
        """Write to the lines above the status line."""
        before = f"\r{ERASE}" if self._shown and not self._begun else ""
        self._begun = not text.endswith("\n")
        return self._terminal.write(before + text + ("" if self._begun else self._shown))

    def flush(self) -> None:
        """Flush the written text."""
        self._terminal.flush()


def decisions_log() -> Any:
    """Return a logger for an operator's decisions, which even a quiet server logs."""
    return structlog.wrap_logger(None, wrapper_class=structlog.make_filtering_bound_logger(logging.INFO))


def log_to_stderr(log_json: bool = False, level: int = logging.INFO, status: StatusLine | None = None) -> None:
    """Log to standard error, as JSON lines if requested or if it is not a terminal. `status`: a line below the log."""
    as_json = log_json or not sys.stderr.isatty()
    # Rich tracebacks would show local variables, which may contain secrets
    console = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    renderer = structlog.processors.JSONRenderer() if as_json else console
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            with_lines,
            *((structlog.processors.format_exc_info,) if as_json else ()),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(cast("TextIO", status or sys.stderr)),
        cache_logger_on_first_use=True,
    )


def read_lines(trace: TracebackType | None) -> None:
    """Read the sources that a traceback names, as Python does without a loader, so that it can print them."""
    for frame, _ in traceback.walk_tb(trace):
        linecache.getlines(frame.f_code.co_filename)


def with_lines(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Read the sources for a logged exception. This is a structlog processor, to be run before the one that formats."""
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
