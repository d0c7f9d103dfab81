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

`state.vector(seat)` is what a seat may know, as a fixed number of small floats for learning code;
`game.observation(seats)` is the table of its fields: name, offset, shape, lowest and highest value, meaning. Both come
from the seat's view and from one table, and so does this page (`python docs/observations.py`).

Seats are counted from the seat that looks: 0 is itself, 1 its left neighbour. Cards are in the order of `game.cards`.
In a field of several dimensions the last one runs fastest: in `played`, shape 4 × 70, the card 5 of seat 1 is number
1 · 70 + 5 of the field. What is not known yet is 0. Nothing is lost: two views that differ have vectors that differ.

`state.vector_into(seat, array)` writes the same numbers into an array of float32, as a row of numpy's, or into one of
bytes, which takes a quarter of the room. A byte counts in steps: the number is (byte − zero) × step. Nothing is lost
there either, but of scores far from 0, those of Nullern, which bytes have in twos, and the target, in fours.
"""


def page() -> str:
    """The whole page."""
    return INTRODUCTION + "".join(f"\n{section}" for game in GAMES.values() for section in sections(game))


def sections(game: Game) -> Iterator[str]:
    """A game's heading, and its fields at the largest table."""
    seats = game.seats[-1]
    sizes = ", ".join(f"{sum(field.size for field in game.observation(seats))} ({seats})" for seats in game.seats)
    yield f"## {game.title}\n"
    yield f"Numbers in all, by seats: {sizes}. With {seats} seats:\n"
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
