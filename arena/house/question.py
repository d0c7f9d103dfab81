"""Questions to house bots and their answers, as servers and workers hand them to each other.

A list is a batch of questions one way and of answers the other, in the same order; anything else is a `Replay` and its
result.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from typing import TypeAlias

from arena.house import THINKERS, HouseBot
from engine.game import SeatView

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
