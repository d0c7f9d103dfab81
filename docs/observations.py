"""Writes docs/observations.md from the games' own tables of fields: `python docs/observations.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engine.game import Game
from engine.observation import Field
from engine.registry import GAMES

PAGE = Path(__file__).with_name("observations.md")
INTRODUCTION = """\
# Observations

For authors of bots that learn. `state.vector(seat)` is everything that a seat may know, as a fixed number of small
floats. `game.observation(seats)` is the table of its fields: name, offset, shape, lowest and highest value, meaning. It
is also the source of this page (`python docs/observations.py`).

Seats are counted from the observing seat: 0 is itself, 1 its left neighbour. Cards are in the order of `game.cards`.
In a field of several dimensions the last index runs fastest: in `played`, shape 4 × 70, card 5 of seat 1 is number
1 · 70 + 5 of the field. Unknown values are 0. Nothing is lost: different views have different vectors.

`state.vector_into(seat, array)` writes the same numbers into an array of float32, such as a row of numpy's, or into one
of bytes, a quarter as large. A byte counts steps: the number is (byte − zero) × step. Bytes are exact except for
scores of Nullern far from 0, which they count in twos, and the target, which they count in fours.
"""


def page() -> str:
    """Return the page as Markdown."""
    return INTRODUCTION + "".join(f"\n{section}" for game in GAMES.values() for section in sections(game))


def sections(game: Game) -> Iterator[str]:
    """Yield a game's heading, and its fields at the largest table."""
    seats = game.seats[-1]
    sizes = ", ".join(f"{sum(field.size for field in game.observation(seats))} ({seats})" for seats in game.seats)
    yield f"## {game.title}\n"
    yield f"Length of the vector, by number of seats: {sizes}. With {seats} seats:\n"
    rows = "".join(_row(field) for field in game.observation(seats))
    yield f"| field | offset | shape | range | step of a byte | meaning |\n|---|---|---|---|---|---|\n{rows}"


def _row(field: Field) -> str:
    shape = " × ".join(map(str, field.shape)) or "1"
    step = f"{field.unit:.4g}" + (f", zero {field.zero}" if field.zero else "")
    return (
        f"| `{field.name}` | {field.offset} | {shape} | {field.low:g} … {field.high:g} | {step} | {field.meaning} |\n"
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
