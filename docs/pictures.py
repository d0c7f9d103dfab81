"""Draws the README's pictures from a real demo: `make pictures` plays one, then this writes ladder.svg and round.svg.

python docs/pictures.py DATA
"""

from __future__ import annotations

import re
import sys
from io import StringIO
from pathlib import Path

from rich.console import Console, RenderableType
from rich.terminal_theme import TerminalTheme

from arena.cli.ladder_table import ladder_table
from arena.client.directory import open_directory
from arena.replay.read import read
from arena.replay.render.show import show_round
from arena.replay.steps import Course

HERE = Path(__file__).parent
GAME = "sixth_sense"
WIDTH = 104
LADDER_WIDTH = 120
BRIGHT = [
    (90, 96, 110),
    (255, 107, 107),
    (110, 222, 120),
    (250, 215, 90),
    (98, 160, 255),
    (206, 140, 255),
    (95, 215, 235),
]
THEME = TerminalTheme((18, 20, 26), (222, 226, 232), [*BRIGHT, (222, 226, 232)], [*BRIGHT, (255, 255, 255)])
"""Card colours that look like what they are called."""


def draw(name: str, title: str, picture: RenderableType, width: int = WIDTH) -> None:
    """One picture, with the fonts of whoever looks at it: it loads nothing."""
    console = Console(record=True, width=width, file=StringIO(), force_terminal=True)
    console.print(picture)
    svg = console.export_svg(title=title, theme=THEME)
    (HERE / f"{name}.svg").write_text(re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL))


def main() -> None:
    """The ladder, and the last round of the newest match."""
    with open_directory(Path(sys.argv[1])) as directory:
        draw("ladder", "arena ladder", ladder_table(directory.ladder(GAME), LADDER_WIDTH), LADDER_WIDTH)
        newest = next(match.match_id for match in directory.matches(GAME) if match.ended is not None)
        course = Course(read(directory.replay(newest)))
        draw("round", f"arena replay show {newest} --round -1", show_round(course))


if __name__ == "__main__":
    main()
