"""Words that the texts of several games share."""

from __future__ import annotations

from collections.abc import Sequence


def counted(count: int, thing: str) -> str:
    """Return a number of things, such as "1 card" or "3 cards"."""
    return f"{count} {thing}{'' if count == 1 else 's'}"


def standing(targets: Sequence[int], taken: int, over: bool) -> str:
    """State how many tricks a seat still needs, or that it has the right number.

    `targets`: the numbers of tricks that fulfil the seat's bid or prediction; `over`: true once the round is over.
    """
    if taken in targets:
        return "on target" if over else "needs no more"
    more = [str(each - taken) for each in targets if each > taken]
    if over:
        return "missed"
    return f"needs {' or '.join(more)} more" if more else f"{taken - max(targets)} too many"


def choices(names: Sequence[str], legal: Sequence[int]) -> list[str]:
    """Return a line for each legal action, with its number."""
    return [f"  {action}: {names[action]}" for action in legal]
