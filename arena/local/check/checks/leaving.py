"""Checks that a bot leaves in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio

from arena.local.check.check import CONDUCT, check
from arena.local.check.verdict import Doubt, Fault

if TYPE_CHECKING:
    from arena.local.check.stage import Stage

STOP: Final = 10.0
"""Maximum number of seconds for a program to end after SIGTERM."""


@check(
    wants="It ends within 10 s: after PlayRequest.leave, or after a capacity of 0 and the end of its matches.",
    remedy="At SIGTERM and SIGINT send PlayRequest(leave=True), wait until the stream ends, and exit.",
    page=CONDUCT,
    needs=("games",),
    disturbs=True,
)
async def sigterm(stage: Stage) -> None:
    """Does it leave in order at SIGTERM?"""
    wire = await stage.connected()
    await stage.idle()
    match = stage.invite()
    await stage.begin(match)
    program = stage.program
    assert program is not None, "it is connected"
    wire.holds = True
    await stage.until(lambda: any(message.answers for message in wire.held), "it answered no decision")
    program.tell_to_end()
    wire.release()
    with trio.move_on_after(STOP):
        while not program.ended:
            await trio.sleep(0.02)
    ended = program.ended
    in_order = match.over or any(
        said.message.leave or (said.message.capacity == 0 and said.message.HasField("capacity")) for said in wire.heard
    )
    await stage.end_bot()
    if not ended:
        raise Fault(f"SIGTERM did not end it within {STOP:g} s: it was killed")
    if not in_order:
        raise Doubt(f"it {ended} without taking leave: its seat waits for it, and that counts as trouble")
