"""House bots for Nullern: `careful` follows simple rules, `counter` counts cards.

`search` plays out possible continuations of a round.
"""

from arena.house.nullern.careful import CarefulBot
from arena.house.nullern.counter import CounterBot
from arena.house.nullern.search import SearchBot

__all__ = ["CarefulBot", "CounterBot", "SearchBot"]
