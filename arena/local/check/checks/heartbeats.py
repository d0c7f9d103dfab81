"""Checks of heartbeats: numbers that a bot must send back at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio
from arena_client.v1 import play_pb2

from arena.local.check.check import check
from arena.local.check.stage import A_MATCH, DoubtError, FaultError

if TYPE_CHECKING:
    from arena.local.check.stage import Stage
    from arena.local.check.wire import Wire

PLAIN: Final = (1, 1 << 31, 1 << 40)
LARGE: Final = ((1 << 53) + 1, (1 << 64) - 1)
"""Numbers that a double cannot represent."""
SOON: Final = 0.25
"""Number of seconds after which a heartbeat's answer counts as delayed by the bot: the longest round trip for which a
server makes allowance.
"""


def _owes(wire: Wire, match_id: int) -> bool:
    """Return whether the bot has an unanswered decision of a match."""
    asked = {each.decision_id for said in wire.said for each in said.message.decisions if each.match_id == match_id}
    answers = (answer for said in wire.heard for answer in said.message.answers)
    return bool(asked - {answer.decision_id for answer in answers if answer.match_id == match_id})


async def _sent_back(stage: Stage, wire: Wire, number: int) -> None:
    """Wait until the bot has sent a number back."""
    what = f"the heartbeat {number} was not sent back"
    await stage.until(lambda: any(each == number for _, each in _answers(wire)), what)


def _answers(wire: Wire) -> list[tuple[float, int]]:
    return [(said.at, said.message.heartbeat) for said in wire.heard if said.message.HasField("heartbeat")]


@check(
    wants="PlayRequest.heartbeat is what PlayResponse.heartbeat was, and nothing where that is absent.",
    remedy="Ask whether the field is there (HasField); keep the number as an unsigned 64-bit integer.",
)
async def heartbeat(stage: Stage) -> None:
    """Does it send heartbeats' numbers back?"""
    wire = await stage.connected()
    await stage.idle()
    known = {said.message.heartbeat for said in wire.said if said.message.HasField("heartbeat")}
    if unasked := [number for _, number in _answers(wire) if number not in known]:
        raise FaultError(f"it sent the heartbeat {unasked[0]}, which nobody had sent to it")
    for number in PLAIN:
        await wire.inject(play_pb2.PlayResponse(heartbeat=number))
        await _sent_back(stage, wire, number)
    for number in LARGE:
        seen = len(_answers(wire))
        await wire.inject(play_pb2.PlayResponse(heartbeat=number))
        await stage.until(lambda: len(_answers(wire)) > seen, f"the heartbeat {number} was not sent back")  # noqa: B023
        if (answer := _answers(wire)[-1][1]) != number:
            raise DoubtError(f"it sent {answer} back for {number}: numbers above 2^53 are cut on their way")


@check(
    wants="A heartbeat is answered at once, whatever the bot computes.",
    remedy="Read messages in another thread or task than the one that decides, or think in short steps.",
    needs=("heartbeat", "games"),
)
async def heartbeat_thinking(stage: Stage) -> None:
    """Does it answer heartbeats while it thinks?"""
    wire = await stage.connected()
    await stage.idle()
    match = stage.invite()
    await stage.begin(match)
    waits = []
    for number in range(100, 105):
        if match.over:
            break
        await stage.until(lambda: match.over or _owes(wire, match.match_id), "no decision was due", A_MATCH)
        sent = trio.current_time()
        await wire.inject(play_pb2.PlayResponse(heartbeat=number))
        await _sent_back(stage, wire, number)
        thought = any(
            said.at > sent and said.message.answers for said in wire.heard if not said.message.HasField("heartbeat")
        )
        answered = next(at for at, each in _answers(wire) if each == number)
        if thought:
            waits.append(answered - sent)
    await stage.end(match)
    if len(waits) > 1 and (again := sorted(waits)[-2]) > SOON:  # the machine itself may cause a single delay
        raise DoubtError(f"while it thought it took {again:.2f} s to answer a heartbeat")
