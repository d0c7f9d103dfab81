"""What every seat was shown in a round, as one digest a seat: so that a replay vouches for the views themselves.

Digest of a seat = SHA-256 over its questions of the round, one after the other; a question = the decision's number, its
legal actions as a list, and the view's fields in the order in which the game's file of the protocol declares them. A
question that is put again as it was counts once. The time left is no part of it: the banks stand beside the digests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from marshal import dumps
from struct import pack
from typing import Any, Final, NamedTuple, TypeAlias, cast

from arena.match.effects import Ask

Question: TypeAlias = tuple[Any, ...]
"""The values of a question, in their order."""
_LIST: Final = len(dumps([], 2))
"""Bytes before the first item of a list that is marshalled."""


class ShownRound(NamedTuple):
    """What was shown in one round."""

    round: int
    """From 0."""
    views: tuple[str, ...]
    """By seat, the digest in hex."""
    banks: tuple[int, ...]
    """By seat, microseconds in the bank as its latest question said."""


class Shown:
    """The questions of a match, round by round."""

    __slots__ = ("_banks", "_bytes", "_questions", "_round")

    def __init__(self, seats: int, bank: int, version: int) -> None:
        """A match about to begin, with so many microseconds in each bank, for a version of the format."""
        self._round = 0
        self._banks = [bank] * seats
        self._questions: list[list[Question]] = [[] for _ in range(seats)]
        self._bytes = QUESTIONS[version]

    def add(self, ask: Ask) -> None:
        """A question was put."""
        questions = self._questions[ask.seat]
        view = cast("Question", ask.view)
        question = (ask.decision, bytes(ask.legal)) + view  # noqa: RUF005 - unpacked, a named tuple goes field by field
        if not questions or questions[-1] != question:
            questions.append(question)
        self._banks[ask.seat] = ask.bank

    def close(self) -> ShownRound:
        """The round is over, or broken off; what comes now belongs to the next one."""
        views = tuple([sha256(self._bytes(questions)).hexdigest() for questions in self._questions])
        closed = ShownRound(self._round, views, tuple(self._banks))
        self._round += 1
        self._questions = [[] for _ in self._banks]
        return closed


def _values(questions: list[Question]) -> bytes:
    """The questions as Python marshals tuples in its format 2, which docs/replay-format.md tells byte by byte.

    Nothing else that is written in C takes bytes, tuples and None, and every decision of every match comes by here.
    """
    return dumps(questions, 2)[_LIST:]


def _numbers(questions: list[Question]) -> bytes:
    """A row of numbers of 4 bytes, signed, big-endian: of a list its length and its items; true is 1, absent is −1."""
    numbers: list[int] = []
    for question in questions:
        for value in question:
            if isinstance(value, int):
                numbers.append(value)
            elif value is None:
                numbers.append(-1)
            else:
                numbers += [len(value), *value]
    return pack(f">{len(numbers)}i", *numbers)


QUESTIONS: Final[Mapping[int, Callable[[list[Question]], bytes]]] = {2: _numbers, 3: _values}
"""The bytes of the questions of a seat in a round, by the version of the replay's format."""
