"""House bots for 6th Sense: `careful` follows simple rules, `counter` counts cards, `planner` looks ahead.

`search` plays out possible continuations of a round.
"""

from arena.house.sixth_sense.careful import CarefulBot
from arena.house.sixth_sense.counter import CounterBot
from arena.house.sixth_sense.planner import PlannerBot
from arena.house.sixth_sense.search import SearchBot

__all__ = ["CarefulBot", "CounterBot", "PlannerBot", "SearchBot"]
