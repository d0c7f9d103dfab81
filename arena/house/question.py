"""Questions to house bots and their answers, as exchanged between a server and its workers.

A list of questions is answered by a list of answers in the same order. Any other message is a `BaselineRequest` or its
`BaselineResult`.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from typing import TypeAlias

from arena.house import CHOOSERS, HouseBot
from engine.game import SeatView

Question: TypeAlias = tuple[int, SeatView, Sequence[int], bytes]
"""Index of the bot in `CHOOSERS`, view, legal actions, and 32 random bytes."""
Answer: TypeAlias = int | str
"""The action chosen, or the text of the bot's error."""


def answer(bot: HouseBot, view: SeatView, legal: Sequence[int], chance: bytes) -> Answer:
    """Let a bot choose. An exception of the bot or an illegal action is returned as text; nothing is raised."""
    try:
        action = bot.decide(view, legal, chance)
    except Exception:  # noqa: BLE001 - the server logs it and chooses instead
        return traceback.format_exc()
    return action if action in tuple(legal) else f"action {action} is not legal"


def answers(questions: Sequence[Question]) -> list[Answer]:
    """Answer a batch of questions, in order."""
    return [answer(CHOOSERS[bot], view, legal, chance) for bot, view, legal, chance in questions]
