"""The log output of long-running processes: to standard error, as lines for people or as JSON."""

from __future__ import annotations

import logging
import sys

import structlog

from arena.tracebacks import with_lines


def log_to_stderr(log_json: bool = False, level: int = logging.INFO) -> None:
    """Log to standard error; as JSON lines if requested or if it is no terminal."""
    as_json = log_json or not sys.stderr.isatty()
    # Rich tracebacks would show local variables, which may hold secrets.
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
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
