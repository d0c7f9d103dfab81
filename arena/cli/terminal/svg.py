"""Pictures of what the terminal shows, as SVG files with the fonts of whoever looks at them: they load nothing."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from typing import Final

from rich.console import Console, RenderableType
from rich.terminal_theme import TerminalTheme

BRIGHT: Final = [
    (90, 96, 110),
    (255, 107, 107),
    (110, 222, 120),
    (250, 215, 90),
    (98, 160, 255),
    (206, 140, 255),
    (95, 215, 235),
]
THEME: Final = TerminalTheme((18, 20, 26), (222, 226, 232), [*BRIGHT, (222, 226, 232)], [*BRIGHT, (255, 255, 255)])
"""Card colours that look like what they are called."""


def draw_svg(file: Path, title: str, picture: RenderableType, width: int) -> None:
    """Draw a picture of a terminal with this number of columns. Raises: OSError."""
    console = Console(record=True, width=width, file=StringIO(), force_terminal=True)
    console.print(picture)
    svg = console.export_svg(title=title, theme=THEME)
    file.write_text(re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL), "utf-8")
