"""Bots of the Python client for tests, as authors write them."""

from pathlib import Path

FIRST = """
from arena_client import GAMES, Bot

class First(Bot):
    games = GAMES

    def decide(self, decision):
        return decision.legal[0]
"""
CHANCE = """
import random
from arena_client import GAMES, Bot

class Chance(Bot):
    games = GAMES

    def decide(self, decision):
        return random.choice(decision.legal)
"""


def written(folder: Path, text: str = FIRST, name: str = "bot.py") -> str:
    """Write a bot's file. Return it in the form that the command line uses."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return str(folder / name)
