"""The game Nullern for 2 to 7 seats, by the rulings N1 to N9."""

from engine.nullern.game import NULLERN
from engine.nullern.view import NullernRound, NullernView

__all__ = ["NULLERN", "NullernRound", "NullernView"]
