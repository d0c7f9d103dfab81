"""Progress of a copy on standard error: a bar in a terminal, a line a second in a pipe."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from arena.cli.terminal.screen import screen


@contextmanager
def copy_progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that shows how much of how much is done; in a pipe what takes no second shows nothing."""
    console, shown = screen(stderr=True), time.monotonic()
    if console.is_terminal:
        from rich.progress import Progress

        with Progress(console=console, transient=True) as progress:
            task = progress.add_task(what)
            yield lambda done, whole: progress.update(task, completed=done, total=whole)
        return

    def show(done: int, whole: int) -> None:
        nonlocal shown
        if time.monotonic() - shown >= 1:
            shown = time.monotonic()
            console.print(f"{what}: {100 * done // max(whole, 1)} %", soft_wrap=True)

    yield show
