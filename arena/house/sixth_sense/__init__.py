"""House bots for 6th Sense: `careful` goes by rules, `counter` by the cards it has not seen, `planner` looks ahead.

`search` tries out how a round goes on.
"""

from arena.house.sixth_sense.careful import CarefulBot
from arena.house.sixth_sense.counter import CounterBot
from arena.house.sixth_sense.planner import PlannerBot
from arena.house.sixth_sense.search import SearchBot

__all__ = ["CarefulBot", "CounterBot", "PlannerBot", "SearchBot"]
