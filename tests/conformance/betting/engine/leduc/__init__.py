"""Leduc poker for two, rulings L1–L6: the smallest game with hidden cards, betting and folding."""

from engine.leduc.game import LEDUC
from engine.leduc.view import LeducRound, LeducView

__all__ = ["LEDUC", "LeducRound", "LeducView"]
