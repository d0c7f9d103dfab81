"""Nullern for 2 to 7 seats, rulings N1–N9."""

from engine.nullern.game import NULLERN
from engine.nullern.view import NullernRound, NullernView

__all__ = ["NULLERN", "NullernRound", "NullernView"]
