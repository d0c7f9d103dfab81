"""A table at one step as SVG: the hands around a felt, and the trick in the middle.

The drawing needs no style sheet, script or font. Each seat, the hand at the bottom and each played card is a group
around its own origin, which `transform` moves to its place. So a style sheet can move the groups, and can stack the
seats in narrow windows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import accumulate
from math import cos, pi, sin
from typing import Final, NamedTuple

from arena.replay.render.renderer import CardFace, SeatScene, TableScene

INKS: Final = {
    "red": "#b3202c",
    "yellow": "#7a5a00",
    "green": "#1d6b34",
    "blue": "#1f4fb0",
    "purple": "#7b2a8f",
}
"""Colours that are dark enough on a white card: a contrast of at least 4.5 (WCAG 2.2 AA). Other colours are replaced by
black.
"""
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
    """Return the colour for the cards of a suit."""
    return INKS.get(colour, BLACK)


def shapes(colours: Iterable[str]) -> str:
    """Return the definitions of the shapes of these suits, for `shape`."""
    paths = (f'<path id="suit-{each}" d="{SHAPES[each]}"/>' for each in sorted({*colours} & SHAPES.keys()))
    return f"<defs>{''.join(paths)}</defs>"


def shape(colour: str, x: float, y: float, size: float) -> str:
    """Draw a suit's shape around a point. For a suit without a shape, return an empty text."""
    if colour not in SHAPES:
        return ""
    place = f"translate({x - size / 2:.1f} {y - size / 2:.1f}) scale({size / 24:.3f})"
    return f'<use href="#suit-{colour}" transform="{place}" fill="{ink(colour)}"/>'


WIDTH: Final = 960
HEIGHT: Final = 600
FELT: Final = "#17503a"
PAPER: Final = "#fffdf7"
BACK: Final = "#3b5b92"
BRIGHT: Final = "#ffffff"
PALE: Final = "#d9e8de"
LIT: Final = "#ffe08a"
"""Colours of the felt, cards, backs, names, other words, and highlights."""
CARD: Final = (54, 74)
SMALL: Final = (34, 46)
"""Width and height of a played card, and of a card in a hand at the side."""
LARGEST: Final = (64, 84)
"""Width and height of a card in the bottom hand, if the hand fits."""
OVERLAP: Final = 24
"""Visible width of a side card that the next card overlaps."""
FEW: Final = 8
"""Maximum number of cards in a bottom hand that a style sheet may enlarge."""
READ: Final = 27.0
"""Minimum height of the letters in the bottom hand, so that they can be read on a phone."""
NAME: Final = 20
"""Maximum number of letters of a name, for letters of the usual width."""
MIDDLE: Final = (WIDTH / 2, 296.0)
"""The middle of the trick."""


class SeatPlace(NamedTuple):
    """The position of a seat: the middle of its upper edge, and the number of cards in a row."""

    x: float
    y: float
    row: int


_LEFT: Final = 126.0
_TOP: Final = 10.0
_BELOW: Final = SeatPlace(WIDTH / 2, 466, 0)
_SIDES: Final = {
    2: ((), (480,), ()),
    3: ((210,), (), (210,)),
    4: ((210,), (480,), (210,)),
    5: ((210,), (335, 625), (210,)),
    6: ((310, 150), (480,), (150, 310)),
    7: ((310, 150), (335, 625), (150, 310)),
}
"""By number of seats: y of the seats on the left (upwards), x of the seats at the top, and y of the seats on the right
(downwards).
"""


def table_svg(scene: TableScene, title: str) -> str:
    """Draw a table. `title` is its text for screen readers."""
    count = len(scene.seats)
    faces = [face for seat in scene.seats for face in (*(seat.hand or ()), seat.card) if face is not None]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" class="table of-{count}"'
        f' role="img" preserveAspectRatio="xMidYMin" font-family="system-ui, sans-serif">',
        f"<title>{escape(title)}</title>",
        shapes(face.colour for face in (*faces, *([] if scene.turned is None else [scene.turned]))),
        f'<rect class="felt" width="{WIDTH}" height="{HEIGHT}" rx="18" fill="{FELT}"/>',
        f'<ellipse class="cloth" cx="{MIDDLE[0]}" cy="{MIDDLE[1]}" rx="226" ry="160" fill="{BRIGHT}"'
        ' fill-opacity="0.05"/>',
        *_placed("turned", *MIDDLE, _turned(scene.turned)),
    ]
    places = _places(count)
    for place in range(count):
        seat = scene.seats[number := (scene.below + place) % count]
        parts += _seat(number, place, seat, places[place], scene.called)
        if seat.card is not None:
            angle = pi / 2 + 2 * pi * place / count
            at = MIDDLE[0] + 172 * cos(angle), MIDDLE[1] + 112 * sin(angle)
            parts += _placed(f"played at-{place}", *at, _card(seat.card, CARD, framed=seat.takes))
    return "".join([*parts, "</svg>"])


def _places(count: int) -> Sequence[SeatPlace]:
    """Return the positions of the seats in the order of play, clockwise from the bottom."""
    left, top, right = _SIDES[count]
    return [
        _BELOW,
        *(SeatPlace(_LEFT, y, 8) for y in left),
        *(SeatPlace(x, _TOP, 11) for x in top),
        *(SeatPlace(WIDTH - _LEFT, y, 8) for y in right),
    ]


def _placed(name: str, x: float, y: float, parts: Iterable[str]) -> Iterator[str]:
    """Draw `parts` in coordinates relative to the point (x, y)."""
    yield f'<g class="{name}" transform="translate({x:.1f} {y:.1f})">'
    yield from parts
    yield "</g>"


def _turned(card: CardFace | None) -> Iterator[str]:
    if card is None:
        yield _text(0, 5, "no trump", 16, fill=PALE)
        return
    yield _text(0, -36, "trump", 15, fill=PALE)
    yield from _card(card, (42, 60))


def _seat(number: int, place: int, seat: SeatScene, at: SeatPlace, called: str) -> Iterator[str]:
    """Draw a seat's words and its hand. The bottom hand is a separate group, because it is wider."""
    words = _words(number, seat, called)
    if place:
        yield from _placed(f"seat at-{place}", at.x, at.y, [*words, *_small_hand(seat, at.row)])
    else:
        yield from _placed("seat at-0", at.x, at.y, words)
        few = " few" if len(_cards(seat)) <= FEW else ""
        yield from _placed(f"hand{few}", WIDTH / 2, HEIGHT - LARGEST[1] / 2 - 8, _large_hand(seat))


def _words(number: int, seat: SeatScene, called: str) -> Iterator[str]:
    """Draw a seat's name, bid, tricks and points in two lines."""
    marks = "".join([" ▸" if seat.leads else "", " D" if seat.deals else ""])
    if seat.turn or seat.chose:
        edge = f'stroke="{LIT}" stroke-width="2"' if seat.turn else 'stroke="none"'
        yield f'<rect x="-121" y="0" width="242" height="42" rx="8" fill="{BRIGHT}" fill-opacity="0.12" {edge}/>'
    yield _text(0, 17, f"{number} {_short(seat.name)}{marks}", 16, weight=700, fill=LIT if seat.turn else BRIGHT)
    aim = "/".join(map(str, seat.target)) or ("?" if seat.called or seat.card else "–")
    points = "" if seat.points is None else f" ({seat.points:+d})"
    yield _text(0, 36, f"{called} {aim} · took {seat.taken} · {seat.score}{points}", 14, fill=PALE)


def _cards(seat: SeatScene) -> Sequence[CardFace | None]:
    """Return the cards of a hand, with None for each hidden card."""
    return (None,) * seat.held if seat.hand is None else seat.hand


def _small_hand(seat: SeatScene, row: int) -> Iterator[str]:
    cards = _cards(seat)
    lines = max(-(-len(cards) // row), 1)
    size = -(-len(cards) // lines)
    for line in range(lines):
        shown = cards[line * size : (line + 1) * size]
        left = -OVERLAP * (len(shown) - 1) / 2
        for place, card in enumerate(shown):
            yield from _card(card, SMALL, left + OVERLAP * place, 69 + 34 * line, corner=True)


def _large_hand(seat: SeatScene) -> Iterator[str]:
    cards = _cards(seat)
    step = min(LARGEST[0] + 6, (WIDTH - 40) / max(len(cards), 1))
    size = (min(LARGEST[0], step - 2), LARGEST[1])
    for place, card in enumerate(cards):
        yield from _card(card, size, step * (place - (len(cards) - 1) / 2), 0, least=READ)


def _card(
    card: CardFace | None, size: tuple[float, float], x: float = 0, y: float = 0, *, framed: bool = False,
    corner: bool = False, least: float = 0,
) -> Iterator[str]:  # fmt: skip
    """Draw a card centred on a point, or its back if it is hidden. A blocked card is crossed out.

    With `corner`, only the card's left edge is visible, because the next card covers the rest.
    """
    width, height = size
    left, top = x - width / 2, y - height / 2
    frame = f'stroke="{LIT}" stroke-width="5"' if framed else 'stroke="#000" stroke-opacity="0.45"'
    back = card is None or not card.colour
    box = f'x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" rx="5"'
    yield f'<rect class="card" {box} fill="{BACK if back else PAPER}" {frame}/>'
    if card is None:
        inner = f'x="{left + 4:.1f}" y="{top + 4:.1f}" width="{width - 8:.1f}" height="{height - 8:.1f}" rx="3"'
        yield f'<rect {inner} fill="none" stroke="{BRIGHT}" stroke-opacity="0.6" stroke-dasharray="3 3"/>'
        return
    printed, words = BRIGHT if back else ink(card.colour), card.text + card.note
    if corner:
        yield _text(left + 3, top + 16, words, 14 if len(words) < 3 else 12.5, weight=700, fill=printed, anchor="start")
        yield shape(card.colour, left + 11, top + 29, 15)
    else:
        letters = min(28.0, max(1.5 * width / max(len(words), 2), least))
        yield _text(x, top + 0.45 * height, words, letters, weight=700, fill=printed)
        yield shape(card.colour, x, top + 0.72 * height, min(26.0, 0.55 * width))
    if card.blocked:
        yield (
            f'<path d="M{left:.1f} {top:.1f}l{width:.1f} {height:.1f}m0 {-height:.1f}l{-width:.1f} {height:.1f}"'
            f' stroke="{printed}" stroke-width="3" stroke-opacity="0.8"/>'
        )


def _text(
    x: float, y: float, words: str, size: float, *, weight: int = 400, fill: str = BRIGHT, anchor: str = "middle"
) -> str:
    style = f'font-size="{size:g}" font-weight="{weight}" text-anchor="{anchor}" fill="{fill}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(words)}</text>'


def _short(name: str) -> str:
    """Return a name shortened to fit above a hand. Some characters are as wide as two usual letters."""
    widths = [*accumulate(2 if letter in "MWmw" or letter > "ÿ" else 1 for letter in name)]
    return name if not widths or widths[-1] <= NAME else name[: bisect_right(widths, NAME - 1)] + "…"
