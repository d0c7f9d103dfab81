"""The command that runs a Python bot in a match in which other bots are commands.

python -m arena.local.server.bot_program FILE.py:CLASS GAME CAPACITY
"""

from __future__ import annotations

import os
import sys

from arena_client import ArenaError, run

from arena.local.errors import LocalMatchError
from arena.local.play.players import LocalClientPlayer, load
from engine.registry import GAMES


def main() -> None:
    """Play until SIGTERM."""
    spec, game, capacity = sys.argv[1:]
    try:
        player = load(spec, GAMES[game])
        assert isinstance(player, LocalClientPlayer), "the house plays in the runner's process"
        player.bot.capacity = int(capacity)
        player.bot.games = (game,)
        run(player.bot, os.environ["ARENA_SERVER"], token=os.environ["ARENA_TOKEN"], receipts=False)
    except (ArenaError, LocalMatchError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
