"""Figures as text, for pages and terminals alike."""

from __future__ import annotations

from typing import Final

CONFIDENCE: Final = 1.96
"""Standard errors to either side of a 95 % interval."""
HOUSE_PREFIX: Final = "house-"
"""The prefix of house bots' names. No other bot's name has it."""


def share_in_words(share: float) -> str:
    """Return a share in percent, without rounding to 0 % or 100 %."""
    if 0 < share < 0.005:
        return "<1 %"
    return ">99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"


def quota_in_words(day: int, week: int, young_days: int) -> str:
    """Return how many matches of a day and of a week two guests count at most; 0 are all, of one of them at least."""
    bounds = [f"{matches} matches of a {span}" for matches, span in ((day, "day"), (week, "week")) if matches]
    young = f", and all new bots of the last {young_days} days are one of them for most others" if young_days else ""
    return f"two guests count {' and '.join(bounds)} together at most{young}"


def is_house(bot: str) -> bool:
    """True if a bot is a house bot, by its name."""
    return bot.startswith(HOUSE_PREFIX)
