"""Checks of heartbeats: numbers that are sent back at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio

from arena.local.conformance.check import check
from arena.local.conformance.verdict import Doubt, Fault
from arena.v1 import play_pb2

if TYPE_CHECKING:
    from arena.local.conformance.stage import Stage
    from arena.local.conformance.wire import Wire

PLAIN: Final = (1, 1 << 31, 1 << 40)
LARGE: Final = ((1 << 53) + 1, (1 << 64) - 1)
"""Numbers that a double does not hold."""
SOON: Final = 0.25
"""Seconds beyond which a heartbeat's answer waited for something: the most that a server allows the way."""


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
        raise Fault(f"it sent the heartbeat {unasked[0]}, which nobody had sent to it")
    for number in PLAIN:
        await wire.inject(play_pb2.PlayResponse(heartbeat=number))
        await stage.until(lambda: number in dict(_answers(wire)).values(), f"the heartbeat {number} was not sent back")  # noqa: B023
    for number in LARGE:
        seen = len(_answers(wire))
        await wire.inject(play_pb2.PlayResponse(heartbeat=number))
        await stage.until(lambda: len(_answers(wire)) > seen, f"the heartbeat {number} was not sent back")  # noqa: B023
        if (answer := _answers(wire)[-1][1]) != number:
            raise Doubt(f"it sent {answer} back for {number}: numbers above 2^53 are cut on their way")


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
    worst = 0.0
    for number in range(100, 105):
        if match.over:
            break
        seen = len(wire.said)
        await stage.until(
            lambda seen=seen: match.over or any(said.message.decisions for said in wire.said[seen:]),  # type: ignore[misc]
            "no decision was due",
        )
        await trio.lowlevel.checkpoint()
        sent = trio.current_time()
        await wire.inject(play_pb2.PlayResponse(heartbeat=number))
        await stage.until(lambda: number in dict(_answers(wire)).values(), "a heartbeat was not answered")  # noqa: B023
        thought = any(
            said.at > sent and said.message.answers for said in wire.heard if not said.message.HasField("heartbeat")
        )
        answered = next(at for at, each in _answers(wire) if each == number)
        if thought:
            worst = max(worst, answered - sent)
    await stage.end(match)
    if worst > SOON:
        raise Doubt(f"while it thought it took {worst:.2f} s to answer a heartbeat")
