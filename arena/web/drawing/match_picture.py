"""Preview pictures of a match and of an event, 1200 × 630 pixels. Other sites show them beside links.

Pillow draws them with its own font: most sites accept no SVG, and a server may have no fonts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from io import BytesIO
from typing import TYPE_CHECKING, Final, NamedTuple

import anyio
from anyio.to_thread import run_sync

if TYPE_CHECKING:
    from PIL import Image, ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

SIZE: Final = (1200, 630)
"""Size in pixels that most sites expect."""
EDGE: Final = 70
"""Width of the empty margin on every side, in pixels."""
ROW: Final = 58
MARK: Final = " *"
MOST_STANDINGS: Final = 6
"""Number of bots in the picture of an event."""
PLAYED_ON: Final = "* a house bot played on"
KEPT: Final = 256
"""Number of cached pictures, of some 15 kB each."""
PAPER: Final = "#eef2f9"
INK: Final = "#1c1f23"
DIM: Final = "#5a6067"
LINE: Final = "#c3cad4"
CHART: Final = (690, EDGE + 96, SIZE[0] - EDGE, SIZE[1] - EDGE)
"""Left, top, right and bottom of the score lines, in pixels."""
SEATS: Final = ("#a31621", "#1a4ea3", "#17652f", "#7b2a8f", "#8a4b00", "#00666b", "#4a4a4a")
"""Colours of the score lines by seat, as on the pages."""
COLOURS: Final = ("#b3202c", "#7a5a00", "#1d6b34", "#1f4fb0", "#7b2a8f")
"""Colours of the cards."""


class PicturedSeat(NamedTuple):
    """One seat, drawn as one line of the picture."""

    place: int
    bot: str
    score: int
    seat: int = 0
    """Number of the seat, which determines the colour of its score line."""
    spoilt: bool = False
    """True if house bots made too many of the seat's decisions."""


class PicturedMatch(NamedTuple):
    """The content of a match's picture."""

    title: str
    game: str
    seats: tuple[PicturedSeat, ...]
    """The seats, best first."""
    scores: tuple[tuple[int, ...], ...] = ()
    """The scores after each round by seat number. Empty if unknown."""


class PicturedStanding(NamedTuple):
    """One bot of an event, which is a line of the picture."""

    place: int
    bot: str
    best: float
    """Probability that the bot is the best."""
    still_in: bool


class PicturedEvent(NamedTuple):
    """The content of an event's picture."""

    title: str
    game: str
    verdict: str
    standings: tuple[PicturedStanding, ...] = ()
    """The best bots, in order."""


class MatchPictures:
    """A cache of pictures by content. Pictures are drawn one at a time, in a separate thread."""

    def __init__(self) -> None:
        self._picture = lru_cache(KEPT)(_picture)
        self._limiter = anyio.CapacityLimiter(1)
        """A separate limiter, so that requests for pictures do not occupy threads that other pages need."""

    async def picture(self, pictured: PicturedMatch | PicturedEvent) -> bytes:
        """Return a picture as a PNG file. Drawing takes a few hundredths of a second."""
        return await run_sync(self._picture, pictured, limiter=self._limiter)


def _picture(pictured: PicturedMatch | PicturedEvent) -> bytes:
    return _drawn_event(pictured) if isinstance(pictured, PicturedEvent) else _drawn(pictured)


def _drawn_event(event: PicturedEvent) -> bytes:
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", SIZE, PAPER)
    draw = ImageDraw.Draw(image)
    large, usual, small = (ImageFont.load_default(size) for size in (64, 44, 32))
    right = SIZE[0] - EDGE
    draw.text((EDGE, EDGE - 14), _fitting(draw, event.title, large, right - EDGE - 400), INK, large)
    draw.text((right, EDGE + 14), _fitting(draw, event.game, small, 380), DIM, small, anchor="ra")
    draw.text((EDGE, EDGE + 76), _fitting(draw, event.verdict, usual, right - EDGE), INK, usual)
    top = SIZE[1] - EDGE - ROW * MOST_STANDINGS
    for number, each in enumerate(event.standings[:MOST_STANDINGS]):
        y, ink = top + ROW * number, INK if each.still_in else DIM
        draw.text((EDGE, y), f"{each.place}.", ink, usual)
        draw.text((EDGE + 80, y), _fitting(draw, each.bot, usual, CHART[0] - EDGE - 120), ink, usual)
        draw.rectangle((CHART[0], y + 14, right - 110, y + 40), LINE)
        filled = round((right - 110 - CHART[0]) * each.best)
        if filled:
            draw.rectangle((CHART[0], y + 14, CHART[0] + filled, y + 40), SEATS[1])
        draw.text((right, y), f"{each.best:.2f}", ink, usual, anchor="ra")
    return _as_png(image)


def _as_png(image: Image.Image) -> bytes:
    from PIL import Image

    content = BytesIO()
    image.quantize(palette=_palette(), dither=Image.Dither.NONE).save(content, "PNG", compress_level=6)
    return content.getvalue()


def _drawn(match: PicturedMatch) -> bytes:
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", SIZE, PAPER)
    draw = ImageDraw.Draw(image)
    large, usual, small = (ImageFont.load_default(size) for size in (64, 44, 32))
    right = SIZE[0] - EDGE
    draw.text((EDGE, EDGE - 14), _fitting(draw, match.title, large, right - EDGE - 300), INK, large)
    draw.text((right, EDGE + 14), match.game, DIM, small, anchor="ra")
    if any(seat.spoilt for seat in match.seats):
        draw.text((right, EDGE + 46), PLAYED_ON, DIM, small, anchor="ra")
    _cards(draw, match.seats)
    if match.scores:
        _score_lines(draw, match)
    ends = CHART[0] - 40 if match.scores else right
    top = SIZE[1] - EDGE - ROW * len(match.seats)
    for number, seat in enumerate(match.seats):
        y, ink = top + ROW * number, INK if seat.place == 1 else DIM
        name = EDGE + 80
        draw.text((EDGE, y), f"{seat.place}.", ink, usual)
        if match.scores:
            draw.rectangle((name, y + 24, name + 30, y + 30), SEATS[seat.seat % len(SEATS)])
            name += 46
        score = f"{seat.score}"
        mark = MARK if seat.spoilt else ""
        room = ends - name - draw.textlength(score, usual) - draw.textlength(mark, usual) - 20
        draw.text((name, y), _fitting(draw, seat.bot, usual, room) + mark, ink, usual)
        draw.text((ends, y), score, ink, usual, anchor="ra")
    return _as_png(image)


@cache
def _palette() -> Image.Image:
    """Return an image with all colours of a picture, which saves a search for colours in each picture."""
    from PIL import Image, ImageColor

    def rgb(name: str) -> tuple[int, ...]:
        return tuple(ImageColor.getrgb(name))

    steps = 16
    edges = [
        tuple(round(a + (b - a) * step / steps) for a, b in zip(rgb(ink), rgb(below), strict=True))
        for ink, below in ((INK, PAPER), (DIM, PAPER), *((each, "#ffffff") for each in COLOURS))
        for step in range(steps + 1)
    ]
    found = Image.new("P", (1, 1))
    found.putpalette([value for each in (*edges, *map(rgb, (PAPER, LINE, *SEATS))) for value in each])
    return found


def _score_lines(draw: ImageDraw.ImageDraw, match: PicturedMatch) -> None:
    """Draw each seat's score by round. The winner's line comes last, above the others."""
    left, top, right, bottom = CHART
    flat = [0, *(score for row in match.scores for score in row)]
    low, high = min(flat), max(*flat, min(flat) + 1)

    def y(score: int) -> int:
        return round(bottom - (bottom - top) * (score - low) / (high - low))

    draw.line((left, y(0), right, y(0)), LINE, 2)
    for each in reversed(match.seats):
        x, before = left, y(0)
        for number, row in enumerate(match.scores, 1):
            following, after = round(left + (right - left) * (number - 0.5) / len(match.scores)), y(row[each.seat])
            draw.line((x, before, following, before, following, after), SEATS[each.seat % len(SEATS)], 5)
            x, before = following, after
        draw.line((x, before, right, before), SEATS[each.seat % len(SEATS)], 5)


def _cards(draw: ImageDraw.ImageDraw, seats: Sequence[PicturedSeat]) -> None:
    """Draw a line of cards between heading and result, cut to the free height."""
    bottom = SIZE[1] - EDGE - ROW * len(seats) - 24
    for number, colour in enumerate(COLOURS):
        left, top = EDGE + 62 * number, EDGE + 76
        if bottom - top > 20:
            draw.rounded_rectangle((left, top, left + 50, min(top + 72, bottom)), 8, "#ffffff", colour, 4)


def _fitting(draw: ImageDraw.ImageDraw, words: str, font: FreeTypeFont | ImageFont, width: float) -> str:
    """Return the words, shortened to fit a width in pixels."""
    words = "".join(letter if letter.isprintable() else "?" for letter in words)
    if draw.textlength(words, font) <= width:
        return words
    while words and draw.textlength(f"{words}...", font) > width:
        words = words[:-1]
    return f"{words}..."
