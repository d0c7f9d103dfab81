"""Points compared between the seats of a table."""

from __future__ import annotations

from collections.abc import Sequence


def points_above(points: Sequence[int], seat: int) -> float:
    """Return the points of a seat above the mean of the others at its table."""
    return points[seat] - (sum(points) - points[seat]) / (len(points) - 1)
