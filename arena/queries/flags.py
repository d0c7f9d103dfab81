"""The flags of a ladder as sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from arena.ladder.ladder import FlagKind
from arena.store.base.rows import FlagRow

MEANING: Final = (
    "A flag says that results stand out from what the ratings expect, by how much and how surely. It is no verdict: "
    "bots may suit or learn from each other, and of many honest ones some stand out by chance. No rating depends on "
    "it; only the operator takes results back, with a reason that everybody sees."
)


def sentence(flag: FlagRow) -> str:
    """Say what a flag is about, in one sentence without its errors."""
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
    """Return the flags that are about a bot; with `version`, of its changes only those of this version."""
    return tuple(
        flag
        for flag in flags
        if bot in {flag.bot, flag.other}
        and (flag.kind is not FlagKind.CHANGE or version is None or flag.version == version)
    )
