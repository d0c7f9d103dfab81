"""The suits as drawings: a colour and a shape for each, so that nobody needs to see colours to tell them apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

INKS: Final = {
    "red": "#b3202c",
    "yellow": "#7a5a00",
    "green": "#1d6b34",
    "blue": "#1f4fb0",
    "purple": "#7b2a8f",
}
"""Colours that are dark enough on a white card: a contrast of at least 4.5 (WCAG 2.2 AA). Other colours become
black."""
SHAPES: Final = {
    "red": "M12 21.5C4 15.5 1.5 11.5 1.5 7.6a5.4 5.4 0 0 1 10.5-1.8 5.4 5.4 0 0 1 10.5 1.8c0 3.9-2.5 7.9-10.5 13.9z",
    "yellow": "M12 1l3.2 7 7.8.8-5.8 5.2 1.7 7.6-6.9-3.9-6.9 3.9 1.7-7.6L1 8.8 8.8 8z",
    "green": "M4 20.5C.5 9.5 7 3 21.5 2.5 22 16 16 22.5 6.5 19.5L3 23l-1.5-1.5zM7 17L16 8.5",
    "blue": "M12 1c4.2 5.6 7.3 9.2 7.3 13.7a7.3 7.3 0 0 1-14.6 0C4.7 10.2 7.8 6.6 12 1z",
    "purple": "M15.5 1.5a10.7 10.7 0 1 0 7 14.8 9 9 0 0 1-7-14.8z",
}
"""Heart, star, leaf, drop and crescent, as paths in a square of 24 units."""
BLACK: Final = "#1a1a1a"


def ink(colour: str) -> str:
    """Return the colour in which a card of a suit is printed."""
    return INKS.get(colour, BLACK)


def shapes(colours: Iterable[str]) -> str:
    """Return the definitions of the shapes of these suits, for `shape`."""
    paths = (f'<path id="suit-{each}" d="{SHAPES[each]}"/>' for each in sorted({*colours} & SHAPES.keys()))
    return f"<defs>{''.join(paths)}</defs>"


def shape(colour: str, x: float, y: float, size: float) -> str:
    """Draw a suit's shape around a point; empty for a suit without one."""
    if colour not in SHAPES:
        return ""
    place = f"translate({x - size / 2:.1f} {y - size / 2:.1f}) scale({size / 24:.3f})"
    return f'<use href="#suit-{colour}" transform="{place}" fill="{ink(colour)}"/>'
