"""Drawings as text, for comparison with expected pictures in tests."""

from collections.abc import Iterable, Sequence

from rich.console import Console, RenderableType

SGR = {"red": 31, "yellow": 33, "green": 32, "blue": 94, "purple": 35}
"""The terminal's colour numbers by name."""


def drawn(what: RenderableType, *, colour: bool = False, width: int = 80) -> str:
    console = Console(width=width, force_terminal=colour, color_system="standard" if colour else None, no_color=False)
    with console.capture() as capture:
        console.print(what)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def lines(text: str) -> str:
    """Return the lines of a picture in a test, without the first newline and the indentation."""
    return "\n".join(line[4:] for line in text.strip("\n").splitlines()).rstrip()


def nothing_is_lost(pictures: Iterable[RenderableType], signs: Sequence[str]) -> None:
    """Check that each drawing fits into 80 columns, without losing a character that a wide window shows."""
    for each in pictures:
        narrow, wide = drawn(each), drawn(each, width=200)
        assert max(map(len, narrow.splitlines())) <= 80
        for sign in signs:
            assert narrow.count(sign) == wide.count(sign)
