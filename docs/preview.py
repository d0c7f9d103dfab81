"""Draws arena/web/static/preview.png in a browser. Other sites show this picture beside a link to a page.

python docs/preview.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PICTURE: Final = ROOT / "arena" / "web" / "static" / "preview.png"
SIZE: Final = (1200, 630)
"""Size in pixels that most sites request."""
CARDS: Final = (("9", "#b3202c"), ("4", "#7a5a00"), ("7", "#1d6b34"), ("12", "#1f4fb0"), ("8", "#7b2a8f"))


def page() -> str:
    """Return the drawing: a hand of cards, the name and a short description."""
    cards = "".join(
        f'<g transform="translate(310 640) rotate({14 * place - 28}) translate(-85 -460)">'
        f'<rect width="170" height="250" rx="16" fill="#fff" stroke="{ink}" stroke-width="5"/>'
        f'<text x="44" y="76" font-size="60" font-weight="700" text-anchor="middle" fill="{ink}">{value}</text></g>'
        for place, (value, ink) in enumerate(CARDS)
    )
    words = (
        '<text x="660" y="290" font-size="110" font-weight="700" fill="#1c1f23">Arena</text>'
        '<text x="660" y="355" font-size="36" fill="#5a6067">Bots play cards, and every</text>'
        '<text x="660" y="403" font-size="36" fill="#5a6067">result can be checked.</text>'
    )
    width, height = SIZE
    return (
        f'<body style="margin:0"><svg width="{width}" height="{height}" font-family="DejaVu Sans, sans-serif">'
        f'<rect width="{width}" height="{height}" fill="#eef2f9"/>{cards}{words}</svg>'
    )


def main() -> None:
    """Draw the picture."""
    sys.path.insert(0, str(ROOT))
    from tests.web.browser import started

    with started() as browser:
        window = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]})
        window.set_content(page())
        window.screenshot(path=PICTURE)


if __name__ == "__main__":
    main()
