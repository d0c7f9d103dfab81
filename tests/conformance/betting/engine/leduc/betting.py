"""One betting round, computed from the sequence of its actions (L3, L4). The opener has place 0."""

from __future__ import annotations

from engine.leduc.cards import CALL, FOLD, RAISE

MOST_RAISES = 2


def closed(bets: bytes) -> bool:
    """Return True if betting is over: a seat folded, or a seat called after the other acted."""
    return bets[-1:] == bytes([FOLD]) or (len(bets) > 1 and bets[-1] == CALL)


def open_to_pay(bets: bytes) -> bool:
    """Return True if the next player faces a raise."""
    return bets[-1:] == bytes([RAISE])


def legal(bets: bytes) -> tuple[int, ...]:
    """Return the legal actions of the next player."""
    folds = (FOLD,) if open_to_pay(bets) else ()
    raises = (RAISE,) if bets.count(RAISE) < MOST_RAISES else ()
    return (*folds, CALL, *raises)


def paid(bets: bytes, size: int) -> tuple[int, int]:
    """Return the bets of the opener and of the other player; a raise has the given size."""
    stakes = [0, 0]
    for number, action in enumerate(bets):
        place = number % 2
        if action == CALL:
            stakes[place] = max(stakes)
        elif action == RAISE:
            stakes[place] = max(stakes) + size
    return stakes[0], stakes[1]
