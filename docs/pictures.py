"""Draws the README's pictures from a real demo: `make pictures` plays one, then this writes ladder.svg and round.svg.

python docs/pictures.py DATA
"""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import RenderableType

from arena.cli.ladder.table import ladder_table
from arena.cli.terminal.svg import draw_svg
from arena.queries.directory import open_directory
from arena.replay.read import read
from arena.replay.render.show import show_round
from arena.replay.steps import Course

HERE = Path(__file__).parent
GAME = "sixth_sense"
WIDTH = 104
LADDER_WIDTH = 120


def draw(name: str, title: str, picture: RenderableType, width: int = WIDTH) -> None:
    """One picture."""
    draw_svg(HERE / f"{name}.svg", title, picture, width)


def main() -> None:
    """The ladder, and the last round of the newest match."""
    with open_directory(Path(sys.argv[1])) as directory:
        draw("ladder", "arena ladder", ladder_table(directory.ladder(GAME), LADDER_WIDTH), LADDER_WIDTH)
        newest = next(match.match_id for match in directory.matches(GAME) if match.ended is not None)
        course = Course(read(directory.replay(newest)))
        draw("round", f"arena replay show {newest} --round -1", show_round(course))


if __name__ == "__main__":
    main()
