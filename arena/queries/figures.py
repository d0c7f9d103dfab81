"""The figures of a ladder as text, for pages and terminals: shares, quotas, flags, and the bots that share rank 1.

Copies of one program are equally good, so the first of them is first by luck. Its own P(best) is too high, while the
sum over all copies is right. So the bots at the top that the results do not distinguish form one group. The group ends
before the first bot that is certainly behind another bot of the group.
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
"""Sign in all rows of the group except the first, which shows the group's P(best)."""
SHARED: Final = "rank 1 is shared by bots that the results cannot tell apart, with one P(best) for all of them"


def share_in_words(share: float) -> str:
    """Format a share in percent, without rounding it to 0 % or 100 %."""
    if 0 < share < 0.005:
        return "<1 %"
    return ">99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"


def quota_in_words(day: int, week: int, young_days: int) -> str:
    """Describe the quota: the number of matches per day and per week that count between two bots of different players.
    0 means no limit.
    """
    bounds = [f"{matches} matches of a {span}" for matches, span in ((day, "day"), (week, "week")) if matches]
    young = f", and all new bots of the last {young_days} days are one of them for most others" if young_days else ""
    return f"two guests count {' and '.join(bounds)} together at most{young}"


def ladder_in_words(game: str, ladder: str = "", season: int = 0, title: str = "") -> str:
    """Return the name of a season of a ladder for rows and menus. For a game's default ladder this is the name of the
    game.

    `title` is the game's display name, by default `game`.
    """
    name = (title or game) if ladder in ("", game) else f"{ladder} ({title or game})"
    return f"{name}, season {season}" if season > 1 else name


def is_house(bot: str) -> bool:
    """Return True if the name belongs to a house bot."""
    return bot.startswith(HOUSE_PREFIX)


def flag_in_words(flag: FlagRow) -> str:
    """Describe a flag in one sentence without its errors."""
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
    """Return the flags of a bot. With `version`, include flags of the kind "change" only if they are about it."""
    return tuple(
        flag
        for flag in flags
        if bot in {flag.bot, flag.other}
        and (flag.kind is not FlagKind.CHANGE or version is None or flag.version == version)
    )


class Leaders(NamedTuple):
    """The group of bots that share rank 1. It has at least two bots, or none if the first bot is clearly ahead."""

    names: tuple[str, ...]
    """Names of the bots, best first."""
    best: float
    """Probability that one of these bots is the best bot of the ladder."""

    def rank(self, row: LadderRow | PastLadderRow) -> int:
        """Return the rank to show for a bot: 1 if it is in the group, otherwise its own rank."""
        return 1 if row.bot in self.names else row.rank

    def chance(self, row: LadderRow | PastLadderRow) -> str:
        """Format the P(best) to show for a bot: in the group's first row the group's, in its other rows `DITTO`, and
        otherwise the bot's own. Empty for a bot that is not in the last fit.
        """
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
