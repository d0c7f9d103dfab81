"""House bots for Nullern: `careful` goes by simple rules, `counter` by the cards it has not seen."""

from arena.house.nullern.careful import CarefulBot
from arena.house.nullern.counter import CounterBot

__all__ = ["CarefulBot", "CounterBot"]
