"""House bots for Nullern: `careful` goes by simple rules, `counter` by the cards it has not seen.

`search` tries out how a round goes on.
"""

from arena.house.nullern.careful import CarefulBot
from arena.house.nullern.counter import CounterBot
from arena.house.nullern.search import SearchBot

__all__ = ["CarefulBot", "CounterBot", "SearchBot"]
