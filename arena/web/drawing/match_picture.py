"""A picture of a match's players and result, 1200 × 630 pixels, which other sites show beside a link to the match.

Pillow draws it with its own font: most sites accept no SVG, and a server may have no fonts.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Final, NamedTuple

import anyio
from anyio.to_thread import run_sync

from arena.web.caches import LruCache

if TYPE_CHECKING:
    from PIL import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

SIZE: Final = (1200, 630)
"""Size in pixels, as most sites want it."""
EDGE: Final = 70
"""Width of the empty margin on every side, in pixels."""
ROW: Final = 58
KEPT: Final = 256
"""Number of cached pictures; each has some 15 kB."""
PAPER: Final = "#eef2f9"
INK: Final = "#1c1f23"
DIM: Final = "#5a6067"
COLOURS: Final = ("#b3202c", "#7a5a00", "#1d6b34", "#1f4fb0", "#7b2a8f")
"""Colours of the cards."""


class PicturedSeat(NamedTuple):
    """One seat, which is a line of the picture."""

    place: int
    bot: str
    score: int


class PicturedMatch(NamedTuple):
    """The content of a match's picture."""

    title: str
    game: str
    seats: tuple[PicturedSeat, ...]
    """The seats, best first."""


class MatchPictures:
    """A cache of pictures by content. Pictures are drawn one at a time, in a separate thread."""

    def __init__(self) -> None:
        self._kept: LruCache[PicturedMatch, bytes] = LruCache(KEPT)
        self._limiter = anyio.CapacityLimiter(1)
        """A limiter of its own, so that requests waiting for a picture take no thread from other pages."""

    async def picture(self, match: PicturedMatch) -> bytes:
        """Return the picture of a match as a PNG file. It may take some hundredths of a second."""
        return await run_sync(self._picture, match, limiter=self._limiter)

    def _picture(self, match: PicturedMatch) -> bytes:
        if match not in self._kept:
            self._kept[match] = _drawn(match)
        return self._kept[match]


def _drawn(match: PicturedMatch) -> bytes:
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", SIZE, PAPER)
    draw = ImageDraw.Draw(image)
    large, usual, small = (ImageFont.load_default(size) for size in (64, 44, 32))
    right = SIZE[0] - EDGE
    draw.text((EDGE, EDGE - 14), _fitting(draw, match.title, large, right - EDGE - 300), INK, large)
    draw.text((right, EDGE + 14), match.game, DIM, small, anchor="ra")
    _cards(draw, match.seats)
    top = SIZE[1] - EDGE - ROW * len(match.seats)
    for number, seat in enumerate(match.seats):
        y, ink = top + ROW * number, INK if seat.place == 1 else DIM
        draw.text((EDGE, y), f"{seat.place}.", ink, usual)
        draw.text((EDGE + 80, y), _fitting(draw, seat.bot, usual, right - EDGE - 280), ink, usual)
        draw.text((right, y), f"{seat.score}", ink, usual, anchor="ra")
    content = BytesIO()
    image.quantize(64).save(content, "PNG", optimize=True)
    return content.getvalue()


def _cards(draw: ImageDraw.ImageDraw, seats: Sequence[PicturedSeat]) -> None:
    """Draw a line of cards between heading and result, cut to the free height."""
    bottom = SIZE[1] - EDGE - ROW * len(seats) - 24
    for number, colour in enumerate(COLOURS):
        left, top = EDGE + 62 * number, EDGE + 76
        if bottom - top > 20:
            draw.rounded_rectangle((left, top, left + 50, min(top + 72, bottom)), 8, "#ffffff", colour, 4)


def _fitting(draw: ImageDraw.ImageDraw, words: str, font: FreeTypeFont | ImageFont, width: int) -> str:
    """Return the words, shortened to fit a width in pixels."""
    words = "".join(letter if letter.isprintable() else "?" for letter in words)
    if draw.textlength(words, font) <= width:
        return words
    while words and draw.textlength(f"{words}...", font) > width:
        words = words[:-1]
    return f"{words}..."
