"""The trained network as a bot: all open decisions pass through the network together.

    python examples/learner/train.py
    python examples/learner/bot.py --server 127.0.0.1:50051

The network is trained for two seats; at larger tables the bot plays by the rules of the sample.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from arena_client import Bot, Decision
from arena_client.command import main
from arena_client.engine import seat_view
from arena_client.samples.rule_bot import RuleBot
from encoding import GAME, Encoding, ObservationError
from strength import best, no_masks
from weights import WeightsError, read

from engine.nullern.observation import vector_into
from engine.nullern.view import NullernView

HERE: Final = Path(__file__).parent
NETWORK: Final = "trained/network.npz"
"""The file that train.py writes, beside this file."""
SEATS: Final = 2
"""Number of seats for which the network is trained."""
TOGETHER: Final = 64
"""Typical number of decisions in one pass: about half of the bot's matches wait for the bot at any time."""


class LearnerBot(Bot):
    """A bot that makes its network's preferred choice. Raises: weights.WeightsError: there is no network yet."""

    name, games, capacity, files = "learner", (GAME.name,), 2 * TOGETHER, (NETWORK,)

    def __init__(self, **stated: object) -> None:
        super().__init__(**stated)  # type: ignore[arg-type]
        self._encoding = Encoding(SEATS)
        self._weights = read(HERE / NETWORK, self._encoding.size)
        self._rules = RuleBot()

    def decide_many(self, decisions: Sequence[Decision]) -> list[int]:
        """Choose for all decisions at once, except that those at larger tables go to the rule sample one by one.

        Raises: ObservationError: a decision of another game.
        """
        chosen: dict[int, int] = {}
        known: dict[int, NullernView] = {}
        for row, decision in enumerate(decisions):
            view = seat_view(decision.view)
            if not isinstance(view, NullernView):
                raise ObservationError(f"a {type(view).__name__} is no view of {GAME.title}, all that this bot learned")
            if view.seats == SEATS:
                known[row] = view
        if known:
            observations = np.zeros((len(known), self._encoding.numbers), np.float32)
            masks = no_masks(len(known))
            for place, (row, view) in enumerate(known.items()):
                vector_into(view, memoryview(observations[place]))
                masks[place, list(decisions[row].legal)] = 1
            chosen = dict(zip(known, best(self._weights, self._encoding, observations, masks), strict=True))
        return [
            chosen[row] if row in chosen else self._rules.decide(decision) for row, decision in enumerate(decisions)
        ]


if __name__ == "__main__":
    try:
        main(LearnerBot, __doc__)
    except WeightsError as error:
        sys.exit(f"Error: {error}")
