"""A table at one step as SVG: the seats around it with their hands, and the trick in the middle.

It needs no style sheet, script or font. Text has the colour of the surrounding page. Each seat and each played card is
a group around its own origin, which `transform` moves to its place. So a style sheet can move it, and in narrow windows
put one seat below another.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import accumulate
from math import cos, pi, sin
from typing import Final

from arena.replay.render.renderer import CardFace, SeatScene, TableScene

WIDTH: Final = 720
HEIGHT: Final = 480
INKS: Final = {
    "red": "#b3202c",
    "yellow": "#7a5a00",
    "green": "#1d6b34",
    "blue": "#1f4fb0",
    "purple": "#7b2a8f",
}
"""Colours that are dark enough on a white card: a contrast of at least 4.5 (WCAG 2.2 AA). Other colours become
black."""
PAPER: Final = "#ffffff"
BACK: Final = "#4a5568"
CARD: Final = (34, 46)
SMALL: Final = (22, 28)
"""Width and height of a played card, and of one in a hand."""
ROW: Final = 9
"""Maximum number of a hand's cards in one row."""
NAME: Final = 18
"""Maximum number of a name's letters, if they have the usual width."""


def table_svg(scene: TableScene, title: str) -> str:
    """Draw a table; `title` is its text for screen readers."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" class="table of-{len(scene.seats)}"'
        f' role="img" preserveAspectRatio="xMidYMin" font-family="system-ui, sans-serif">',
        f"<title>{escape(title)}</title>",
        f'<ellipse class="cloth" cx="{WIDTH / 2}" cy="{HEIGHT / 2}" rx="200" ry="105" fill="currentColor"'
        ' fill-opacity="0.06" stroke="currentColor" stroke-opacity="0.25"/>',
        *_placed("turned", WIDTH / 2, HEIGHT / 2, _turned(scene.turned)),
    ]
    for number, seat in enumerate(scene.seats):
        parts += _seat(number, seat, pi / 2 + 2 * pi * number / len(scene.seats))
    return "".join([*parts, "</svg>"])


def _placed(name: str, x: float, y: float, parts: Iterable[str]) -> Iterator[str]:
    """Draw a centred group at a place."""
    yield f'<g class="{name}" transform="translate({x:.1f} {y:.1f})">'
    yield from parts
    yield "</g>"


def _turned(card: CardFace | None) -> Iterator[str]:
    if card is None:
        yield _text(0, 5, "no trump", 13, anchor="middle", opacity=0.7)
        return
    yield _text(0, -24, "trump", 11, anchor="middle", opacity=0.7)
    yield from _card(card, 0, 6, SMALL)


def _seat(number: int, seat: SeatScene, angle: float) -> Iterator[str]:
    """Draw a seat at an angle, clockwise from the bottom in the order of play."""
    x, y = WIDTH / 2 + 268 * cos(angle), HEIGHT / 2 + 176 * sin(angle)
    rows = max(-(-len(seat.hand or ()) // ROW), 1)
    x, y = min(max(x, 106), WIDTH - 106), min(max(y, 50), HEIGHT - 30 - rows * (SMALL[1] + 2))
    yield from _placed(f"seat at-{number}", x, y, _words_and_hand(number, seat))
    if seat.card is not None:
        at = WIDTH / 2 + 138 * cos(angle), HEIGHT / 2 + 72 * sin(angle)
        yield from _placed(f"played at-{number}", *at, _card(seat.card, 0, 0, CARD, framed=seat.takes))


def _words_and_hand(number: int, seat: SeatScene) -> Iterator[str]:
    marks = "".join([" ▸" if seat.leads else "", " D" if seat.deals else ""])
    weight = 700 if seat.chose else 500
    yield _text(0, -22, f"{number} {_short(seat.name)}{marks}", 14, anchor="middle", weight=weight)
    called = f"{seat.called} · " if seat.called else ""
    points = "" if seat.points is None else f" ({seat.points:+d})"
    yield _text(0, -6, f"{called}took {seat.taken} · {seat.score}{points}", 12, anchor="middle", opacity=0.8)
    yield from _hand(seat.hand or (), 0, 14)


def _hand(cards: Sequence[CardFace], x: float, y: float) -> Iterator[str]:
    for begin in range(0, len(cards), ROW):
        row, step = cards[begin : begin + ROW], SMALL[0] + 1
        left = x - step * (len(row) - 1) / 2
        for place, card in enumerate(row):
            yield from _card(card, left + step * place, y + begin // ROW * (SMALL[1] + 2), SMALL)


def _card(card: CardFace, x: float, y: float, size: tuple[int, int], *, framed: bool = False) -> Iterator[str]:
    """Draw a card around its middle; a blocked one is crossed out."""
    width, height = size
    left, top = x - width / 2, y - height / 2
    ink = INKS.get(card.colour, "#1a1a1a") if card.colour else PAPER
    frame = f'stroke="{ink}" stroke-width="3"' if framed else f'stroke="{ink}" stroke-opacity="0.5"'
    paper = PAPER if card.colour else BACK
    yield f'<rect x="{left:.1f}" y="{top:.1f}" width="{width}" height="{height}" rx="4" fill="{paper}" {frame}/>'
    letter, big = card.colour[:1].upper(), size == CARD
    yield _text(
        x, y + (2 if big else 1), card.text + card.note, 15 if big else 11, anchor="middle", fill=ink, weight=700
    )
    yield _text(x, y + (17 if big else 11.5), letter, 10 if big else 9, anchor="middle", fill=ink)
    if card.blocked:
        yield (
            f'<path d="M{left:.1f} {top:.1f}l{width} {height}m0 {-height}l{-width} {height}"'
            f' stroke="{ink}" stroke-width="2" stroke-opacity="0.7"/>'
        )


def _text(
    x: float, y: float, words: str, size: int, *, anchor: str = "start", weight: int = 400, fill: str = "currentColor",
    opacity: float = 1,
) -> str:  # fmt: skip
    style = f'font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" fill="{fill}"'
    seen = "" if opacity == 1 else f' fill-opacity="{opacity}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}{seen}>{escape(words)}</text>'


def _short(name: str) -> str:
    """Return a name shortened to fit over a hand, since some characters are as wide as two usual letters."""
    widths = [*accumulate(2 if letter in "MWmw" or letter > "ÿ" else 1 for letter in name)]
    return name if not widths or widths[-1] <= NAME else name[: bisect_right(widths, NAME - 1)] + "…"
