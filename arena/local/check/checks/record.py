"""Checks of the bot's behaviour over all undisturbed checks."""

from __future__ import annotations

from collections import Counter
from typing import Final

from arena_client.v1 import play_pb2

from arena.local.check.check import CONDUCT, check
from arena.local.check.stage import DoubtError, FaultError, Stage

ILLEGAL: Final = play_pb2.NOTICE_KIND_ILLEGAL
STRAY: Final = (play_pb2.NOTICE_KIND_STALE, play_pb2.NOTICE_KIND_UNKNOWN)
LATE: Final = play_pb2.NOTICE_KIND_FORCED_BY_TIME
MUCH: Final = 1 << 20
"""Maximum number of bytes of a reasonable log."""
TOO_MUCH: Final = 64 << 20
"""Number of bytes of output above which the check fails."""
FEW_LATE: Final = 0.05
"""Maximum share of late decisions that a busy machine can explain."""


@check(
    wants="Answer.action is one of Decision.legal.",
    remedy="Choose from Decision.legal, which has numbers of actions: no places in the list, and no cards.",
    needs=("games",),
)
async def legal(stage: Stage) -> None:
    """Were its answers legal?"""
    found = [notice for notice in stage.notices if notice.kind == ILLEGAL]
    if found:
        raise FaultError(f"{len(found)} answers to {stage.asked} decisions were not legal, such as: {found[0].text}")


@check(
    wants="One answer to each decision, with its match_id and decision_id, and none to what was not asked.",
    remedy="Answer what came in the latest message, and only that; a decision that came again is put again.",
    needs=("games",),
)
async def once(stage: Stage) -> None:
    """Was every decision answered once?"""
    late = {notice.match_id for notice in stage.notices if notice.kind == LATE}
    refused = {(notice.match_id, notice.decision_id) for notice in stage.notices if notice.kind == ILLEGAL}
    strays = [notice for notice in stage.notices if notice.kind in STRAY and notice.match_id not in late]
    found = [notice for notice in strays if (notice.match_id, notice.decision_id) not in refused]
    if found:
        kinds = Counter(play_pb2.NoticeKind.Name(notice.kind).removeprefix("NOTICE_KIND_") for notice in found)
        counted = ", ".join(f"{number} {kind}" for kind, number in kinds.items())
        raise FaultError(f"to {stage.asked} decisions it had these notices: {counted}, such as: {found[0].text}")


@check(
    wants="A decision takes less than its soft_ms, or what it takes more is in bank_ms.",
    remedy="Think shorter, or say a smaller capacity: the clocks of all its matches run at once.",
    page=CONDUCT,
    needs=("games",),
)
async def in_time(stage: Stage) -> None:
    """Was it in time?"""
    illegal = {notice.match_id for notice in stage.notices if notice.kind == ILLEGAL}
    late = [notice for notice in stage.notices if notice.kind == LATE and notice.match_id not in illegal]
    if len(late) > FEW_LATE * stage.asked:
        raise DoubtError(f"{len(late)} of {stage.asked} decisions were not made in time")


@check(
    wants=f"At most {MUCH >> 20} MiB in all these checks, and a server's bot runs for weeks.",
    remedy="Print a line a match, not one a message; take out what was there for debugging.",
    page="docs/check.md",
    needs=(),
)
async def output(stage: Stage) -> None:
    """Does it print no more than a log would?"""
    await stage.end_bot()
    printed = f"it printed {stage.printed / (1 << 20):.1f} MiB"
    if stage.printed > TOO_MUCH:
        raise FaultError(printed)
    if stage.printed > MUCH:
        raise DoubtError(printed)
