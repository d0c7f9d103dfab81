# Compiled: every decision passes through here.
"""Digests of the views that each seat received in a round, so that a replay proves the views themselves.

A seat's digest is SHA-256 over its questions in the round, in order. A question consists of the decision's number, the
list of its legal actions, and the view's fields in the order of the game's proto file. A question that is repeated
unchanged counts once. The time left is not part of the digest. The banks are recorded separately.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from marshal import dumps
from struct import pack
from typing import Any, Final, NamedTuple, TypeAlias, cast

from arena.match.effects import Ask

QuestionFields: TypeAlias = tuple[Any, ...]
"""Values of a question's fields, in order."""
_LIST: Final = len(dumps([], 2))
"""Number of bytes before the first item of a marshalled list."""


class RoundDigests(NamedTuple):
    """Digests of the views of one round."""

    round: int
    """Number of the round, from 0."""
    views: tuple[str, ...]
    """Digests in hex, by seat."""
    banks: tuple[int, ...]
    """Time in the bank at the latest question, in microseconds, by seat."""


class ViewDigests:
    """Collector of the questions of a match. It computes their digests at the end of each round."""

    __slots__ = ("_banks", "_bytes", "_questions", "_round")

    def __init__(self, seats: int, bank: int, version: int) -> None:
        """Begin a match with `bank` microseconds in each bank. `version` is the version of the replay format."""
        self._round = 0
        self._banks = [bank] * seats
        self._questions: list[list[QuestionFields]] = [[] for _ in range(seats)]
        self._bytes = QUESTION_ENCODERS[version]

    def add(self, ask: Ask) -> None:
        """Add a question."""
        questions = self._questions[ask.seat]
        view = cast("QuestionFields", ask.view)
        question = (ask.decision, bytes(ask.legal)) + view  # noqa: RUF005 - unpacked, a named tuple goes field by field
        if not questions or questions[-1] != question:
            questions.append(question)
        self._banks[ask.seat] = ask.bank

    def close(self) -> RoundDigests:
        """End the round and return its digests. Later questions belong to the next round."""
        views = tuple([sha256(self._bytes(questions)).hexdigest() for questions in self._questions])
        closed = RoundDigests(self._round, views, tuple(self._banks))
        self._round += 1
        self._questions = [[] for _ in self._banks]
        return closed


def _marshalled(questions: list[QuestionFields]) -> bytes:
    """Encode the questions in Python's marshal format 2, described byte by byte in docs/replay-format.md.

    It runs for every decision, and no other encoder in C accepts bytes, tuples and None directly.
    """
    return dumps(questions, 2)[_LIST:]


def _packed(questions: list[QuestionFields]) -> bytes:
    """Encode the questions as signed big-endian 32-bit numbers: a list as length and items, True as 1, None as −1."""
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


QUESTION_ENCODERS: Final[Mapping[int, Callable[[list[QuestionFields]], bytes]]] = {
    2: _packed,
    3: _marshalled,
    4: _marshalled,
}
"""Encoders of the questions to a seat in a round, by version of the replay format."""
