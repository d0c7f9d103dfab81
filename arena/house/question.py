"""Questions to house bots, and how they travel between a server and its workers.

A frame is its length as 4 bytes, big-endian, and a pickle. A list is a batch of questions one way and of answers the
other, in the same order; anything else is a `Replay` and its result. Both ends are the same program.
"""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

from arena.house import THINKERS, HouseBot
from arena.house.selfplay import Replay, Replayed
from engine.game import SeatView

HEAD: Final = 4
"""Bytes of a frame's length."""

Question: TypeAlias = tuple[int, SeatView, Sequence[int], bytes]
"""The place of a bot in `THINKERS`, and what it is to decide from."""
Answer: TypeAlias = int | str
"""The action chosen, or in words what was wrong with the bot."""


def answer(bot: HouseBot, view: SeatView, legal: Sequence[int], chance: bytes) -> Answer:
    """What a bot chooses; a fault of its own is no exception here."""
    try:
        action = bot.decide(view, legal, chance)
    except Exception:  # noqa: BLE001 - it is told where the choice is made good
        return traceback.format_exc()
    return action if action in tuple(legal) else f"action {action} is not legal"


def answers(questions: Sequence[Question]) -> list[Answer]:
    """The same for a batch."""
    return [answer(THINKERS[bot], view, legal, chance) for bot, view, legal, chance in questions]


def packed(message: Sequence[Question] | Sequence[Answer] | Replay | Replayed) -> bytes:
    """A frame."""
    content = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(content).to_bytes(HEAD, "big") + content


class Frames:
    """What came in so far, cut into frames."""

    def __init__(self) -> None:
        self._rest = b""

    def take(self, piece: bytes) -> Iterator[Any]:
        """The messages that are complete with the next piece."""
        self._rest += piece
        while len(self._rest) >= HEAD and len(self._rest) >= (end := HEAD + int.from_bytes(self._rest[:HEAD], "big")):
            frame, self._rest = self._rest[HEAD:end], self._rest[end:]
            yield pickle.loads(frame)  # noqa: S301 - from our own process
