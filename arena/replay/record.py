"""Keeping a match while it runs, and writing it down when it is over.

While a match runs nothing is formatted: a `Recorder` only keeps references, the questions' views among them. It never
changes what it is given.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.match.effects import Effect, Over
from arena.match.inputs import Input
from arena.replay.chain import chained, pack
from arena.replay.header import Bot, ChangeLike, Entry, Header
from arena.replay.lines import objects

__all__ = ["Bot", "ChangeLike", "Entry", "Header", "Recorder", "encode", "encode_unchained"]


class Recorder:
    """Keeps what happens in a match."""

    __slots__ = ("entries",)

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def add(self, event: Input, effects: Sequence[Effect]) -> None:
        """One input and the effects it had, in the order the match took them."""
        self.entries.append((event, effects))


def encode(header: Header, entries: Sequence[Entry], ratings: Sequence[ChangeLike] | None = None) -> bytes:
    """The replay file of a match that is over; `ratings` by seat, None when it was not rated.

    Equal arguments give equal bytes. ValueError when the match is not over.
    """
    return chained(encode_unchained(header, entries, ratings))


def encode_unchained(
    header: Header,
    entries: Sequence[Entry],
    ratings: Sequence[ChangeLike] | None = None,
    inputs: Sequence[str] | None = None,
) -> bytes:
    """The same without its chain, to be stored.

    `inputs` are the lines of the inputs, where the journal has formatted them already.
    """
    if not any(isinstance(effect, Over) for _, effects in reversed(entries) for effect in effects):
        raise ValueError(f"match {header.match} is not over")
    return pack(objects(header, entries, ratings, inputs))
