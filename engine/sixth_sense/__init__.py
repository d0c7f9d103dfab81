"""6th Sense for 2 to 6 seats, rulings S1–S17."""

from engine.sixth_sense.game import SIXTH_SENSE
from engine.sixth_sense.view import SixthSenseRound, SixthSenseView

__all__ = ["SIXTH_SENSE", "SixthSenseRound", "SixthSenseView"]
