"""Figures of a ladder as text, for pages and terminals alike: shares, quotas, flags, and the bots that share rank 1.

Copies of one program are equally good, and one of them is first by luck. Its own P(best) would promise too much, while
that of all of them together holds. Being alike is not transitive, so the group is formed from the top. It ends before
the first bot that another one is certainly ahead of.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import Final, NamedTuple

from arena.ladder.ladder import FlagKind
from arena.store.base.rows import FlagRow, LadderRow, PastLadderRow

CONFIDENCE: Final = 1.96
"""Number of standard errors to either side in a 95 % interval."""
HOUSE_PREFIX: Final = "house-"
"""The prefix of house bots' names. No other bot's name begins with it."""
FLAG_MEANING: Final = (
    "A flag says that results stand out from what the ratings expect, by how much and how surely. It is no verdict: "
    "bots may suit or learn from each other, and of many honest ones some stand out by chance. No rating depends on "
    "it; only the operator takes results back, with a reason that everybody sees."
)
DITTO: Final = "″"
"""Sign shown in place of the P(best) that is in the first row of the group."""
SHARED: Final = "rank 1 is shared by bots that the results cannot tell apart, with one P(best) for all of them"


def share_in_words(share: float) -> str:
    """Format a share in percent, without rounding it to 0 % or 100 %."""
    if 0 < share < 0.005:
        return "<1 %"
    return ">99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"


def quota_in_words(day: int, week: int, young_days: int) -> str:
    """Describe the quota: how many matches between two guests count per day and per week; 0 for no limit."""
    bounds = [f"{matches} matches of a {span}" for matches, span in ((day, "day"), (week, "week")) if matches]
    young = f", and all new bots of the last {young_days} days are one of them for most others" if young_days else ""
    return f"two guests count {' and '.join(bounds)} together at most{young}"


def is_house(bot: str) -> bool:
    """Return whether a bot is a house bot, judging by its name."""
    return bot.startswith(HOUSE_PREFIX)


def flag_in_words(flag: FlagRow) -> str:
    """Describe a flag in one sentence, without its errors."""
    bot = flag.bot + (f" of {flag.owner}" if flag.owner not in {"", flag.bot} else "")
    other = flag.other + (f" of {flag.other_owner}" if flag.other_owner not in {"", flag.other} else "")
    match flag.kind:
        case FlagKind.PAIR:
            return f"{bot} scores {100 * flag.size:.0f} points in 100 more against {other} than their ratings say"
        case FlagKind.OWNERS:
            who = f"{flag.owner or flag.bot} score {100 * flag.size:.0f} points in 100 more against those of"
            return f"The bots of {who} {flag.other_owner or flag.other} than their ratings say, most of all {flag.bot}"
        case FlagKind.LIFT:
            alone = flag.other_owner in {"", flag.other}
            whom = flag.other if alone else f"the bots of {flag.other_owner}, such as {flag.other}"
            return f"{bot} would stand {flag.size:.0f} Elo lower without its results against {whom}"
        case FlagKind.OPPONENTS:
            score = f"{100 * flag.size:.0f} points in 100 more than their ratings say"
            return f"{bot} scores {score} against most of its opponents, little of it against any one"
        case FlagKind.CHANGE:
            version = f" as {flag.version}" if flag.version else ""
            how = "better" if flag.size > 0 else "worse"
            return (
                f"{bot}{version} was {abs(flag.size):.0f} Elo {how} in the newer half of its results than in the older"
            )


def flagged(flags: Sequence[FlagRow], bot: str, version: str | None = None) -> tuple[FlagRow, ...]:
    """Return the flags of a bot; with `version`, only the changes of this version."""
    return tuple(
        flag
        for flag in flags
        if bot in {flag.bot, flag.other}
        and (flag.kind is not FlagKind.CHANGE or version is None or flag.version == version)
    )


class Leaders(NamedTuple):
    """A group of at least two bots; empty if the results distinguish the first bot from the others."""

    names: tuple[str, ...]
    """Names of the bots, best first."""
    best: float
    """Probability that one of them is the best bot of the ladder."""

    def rank(self, row: LadderRow | PastLadderRow) -> int:
        """Return the rank to show: the group's, or the bot's own."""
        return 1 if row.bot in self.names else row.rank

    def chance(self, row: LadderRow | PastLadderRow) -> str:
        """Format P(best): that of the group in its first row, or the bot's own; empty if the last fit lacks the bot."""
        if row.bot in self.names:
            first = row.bot == self.names[0]
            return f"one of {len(self.names)}: {share_in_words(self.best)}" if first else DITTO
        return "" if row.best is None else share_in_words(row.best)


def leaders(rows: Sequence[LadderRow] | Sequence[PastLadderRow]) -> Leaders:
    """Find the group at the top of a whole ladder. Bots that are not in the fit belong to no group."""
    names, chances = list[str](), list[float]()
    for row in rows:
        if row.best is None:
            continue
        if row.rank_low > 1:
            break
        names.append(row.bot)
        chances.append(row.best)
    return Leaders(tuple(names), min(1.0, fsum(chances))) if len(names) > 1 else Leaders((), 0.0)
