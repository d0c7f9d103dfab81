"""Estimates of a bot's rating from the results of all its versions, for the scheduler but not for the ladder.

The ladder rates versions separately, but matchmaking must not depend on the version that a bot reports. Therefore the
results of all versions count together: error⁻² = prior⁻² + Σ_v (error_v⁻² − prior⁻²), because the fit of each version
includes the prior. The measured error of a version with few results is mostly chance. So each of its matches counts
with the median information of a match of well-known versions instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Final, TypeVar

from arena.ladder.events import Node
from arena.ladder.fit import PRIOR_DEVIATION
from arena.ladder.ladder import Figure, Ladder, established
from arena.ladder.live import Rating
from arena.ladder.shrinkage import MIN_ERROR

BotT = TypeVar("BotT")

PRIOR: Final = PRIOR_DEVIATION**-2


def estimates(ladder: Ladder, bots: Mapping[Node, BotT]) -> dict[BotT, Rating]:
    """Return each bot's published rating, with the error computed from all its results, in Elo.

    `bots` maps each node of the ladder to its bot. Raises KeyError for a node without a bot.
    """
    played = [figure for figure in ladder.figures if figure.matches]
    known = [figure for figure in played if established(figure.error)] or played
    of_a_match = median([_told(figure) / figure.matches for figure in known]) if known else 0.0
    precisions = {bots[line.node]: PRIOR for line in ladder.lines}
    for figure in played:
        if (bot := bots[figure.node]) in precisions:
            precisions[bot] += _told(figure) if established(figure.error) else figure.matches * of_a_match
    return {bots[line.node]: Rating(line.shrunk, precisions[bots[line.node]] ** -0.5) for line in ladder.lines}


def _told(figure: Figure) -> float:
    """Return the information in a version's results, as a precision in 1/Elo²."""
    return max(0.0, max(figure.error, MIN_ERROR) ** -2 - PRIOR)
