"""House bots for 6th Sense: `careful` goes by simple rules, `counter` by the cards it has not seen."""

from arena.house.sixth_sense.careful import CarefulBot
from arena.house.sixth_sense.counter import CounterBot

__all__ = ["CarefulBot", "CounterBot"]
