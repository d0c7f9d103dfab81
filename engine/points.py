"""Comparison of a seat's points with those of the other seats at its table."""

from __future__ import annotations

from collections.abc import Sequence


def points_above(points: Sequence[int], seat: int) -> float:
    """Return a seat's points minus the mean of the other seats'."""
    return points[seat] - (sum(points) - points[seat]) / (len(points) - 1)
