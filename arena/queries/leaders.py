"""The bots at the top of a ladder that its results cannot tell apart: they share a rank and one P(best).

Copies of one program are as good as each other, and one of them is first by luck: its own P(best) would promise too
much, while that of all of them together holds. The group is formed from the top, as being alike is not transitive: it
ends before the first bot that another one is surely ahead of.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import Final, NamedTuple

from arena.queries.figures import share_in_words
from arena.store.base.rows import LadderRow, PastLadderRow

DITTO: Final = "″"
"""In place of the P(best) that is said in the first row of the group."""
SHARED: Final = "rank 1 is shared by bots that the results cannot tell apart, with one P(best) for all of them"


class Leaders(NamedTuple):
    """A group of at least two bots, or of none where the results tell the first bot from the others."""

    names: tuple[str, ...]
    """Best first."""
    best: float
    """Probability that one of them is the best bot of the ladder."""

    def rank(self, row: LadderRow | PastLadderRow) -> int:
        """Return the rank to show: that of the group, or the bot's own."""
        return 1 if row.bot in self.names else row.rank

    def chance(self, row: LadderRow | PastLadderRow) -> str:
        """Return P(best) in words, for the group in its first row; empty if the last fit does not include the bot."""
        if row.bot in self.names:
            first = row.bot == self.names[0]
            return f"one of {len(self.names)}: {share_in_words(self.best)}" if first else DITTO
        return "" if row.best is None else share_in_words(row.best)


def leaders(rows: Sequence[LadderRow] | Sequence[PastLadderRow]) -> Leaders:
    """Find the group at the top of a whole ladder; bots that are not in the fit belong to none."""
    names, chances = list[str](), list[float]()
    for row in rows:
        if row.best is None:
            continue
        if row.rank_low > 1:
            break
        names.append(row.bot)
        chances.append(row.best)
    return Leaders(tuple(names), min(1.0, fsum(chances))) if len(names) > 1 else Leaders((), 0.0)
