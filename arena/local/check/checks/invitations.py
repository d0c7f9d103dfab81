"""Checks of a bot's answers to invitations."""

from __future__ import annotations

from typing import Final

import trio

from arena.local.check.check import CONDUCT, check
from arena.local.check.stage import DoubtError, FaultError, NotAskedError, Stage

OFFER: Final = 2.0
"""Number of seconds after which a server offers a silent bot's seat to other bots, too."""


@check(
    wants="Every Invitation is answered at once with a Ready of its number, or declined.",
    remedy="Answer invitations where messages are read, not where the bot thinks: others are asked after 2 s.",
    page=CONDUCT,
)
async def ready(stage: Stage) -> None:
    """Does it accept an invitation?"""
    wire = await stage.connected()
    invited = trio.current_time()
    await _invite_and_withdraw(stage, 1)
    accepted = [said.at for said in wire.heard if said.message.ready]
    if not accepted:
        raise FaultError("it declined an invitation while it played nothing")
    if (took := accepted[0] - invited) > OFFER:
        raise DoubtError(f"it took {took:.1f} s to say Ready; after {OFFER:g} s the seat is offered to others, too")


@check(
    wants="Ready.nonce has 16 random bytes, others each time.",
    remedy="Fill Ready.nonce from the system's random source (os.urandom(16), crypto/rand, SecureRandom).",
    needs=("ready",),
)
async def nonce(stage: Stage) -> None:
    """Does it add randomness of its own to each deal?"""
    await stage.connected()
    for _ in range(2):
        await _invite_and_withdraw(stage, 1)
    sizes = [size for wire in stage.server.wires for size in wire.bad_nonces]
    if sizes:
        raise FaultError(f"a nonce had {sizes[0]} bytes: 16 or none are allowed, and a server closes the stream for it")
    nonces = [ready.nonce for wire in stage.server.wires for said in wire.heard for ready in said.message.ready]
    if not any(nonces) or not any(any(each) for each in nonces):
        raise DoubtError("its nonces are empty or zero: the server alone then decides its deals")
    if len({*nonces}) < len(nonces):
        raise DoubtError(f"{len(nonces)} invitations had {len({*nonces})} different nonces")


@check(
    wants="Each of PlayResponse.invitations is answered.",
    remedy="Go through the whole list.",
    needs=("ready",),
)
async def invitations(stage: Stage) -> None:
    """Does it accept several invitations in one message?"""
    await stage.idle()
    if stage.capacity < 2:
        raise NotAskedError("it plays one match at a time")
    await _invite_and_withdraw(stage, min(stage.capacity, 4))


@check(
    wants="A withdrawn or taken invitation is forgotten: it takes none of the bot's room.",
    remedy="Take invitations off your list at the notices WITHDRAWN and TAKEN, which name them.",
    page=CONDUCT,
    needs=("ready",),
    disturbs=True,
)
async def withdrawn(stage: Stage) -> None:
    """Does it play on after invitations have been withdrawn?"""
    wire = await stage.idle()
    number = min(stage.capacity, 16)
    for _ in range(number):
        await _invite_and_withdraw(stage, 1)
    match = stage.invite()
    seen = len(wire.heard)
    await stage.until(
        lambda: match.begun or any(said.message.declined for said in wire.heard[seen:]),
        f"after {number} withdrawn invitations it answered no more",
    )
    if not match.begun:
        raise FaultError(f"after {number} withdrawn invitations it declines: it counts them as matches")
    await stage.end(match)


async def _invite_and_withdraw(stage: Stage, number: int) -> None:
    """Send several invitations in one message, and withdraw them when the bot has answered them all."""
    wire = stage.wire
    seen = len(wire.heard)
    matches = stage.invite_many(number)

    def answered() -> int:
        return sum(len(said.message.ready) + len(said.message.declined) for said in wire.heard[seen:])

    what = "it did not answer an invitation"
    if number > 1:
        what = f"it did not answer all of {number} invitations in one message"
    await stage.until(lambda: answered() >= number, what)
    for match in matches:
        match.ready_check.call_off("somebody did not come")
    await stage.until(lambda: all(match.settled for match in matches), "the matches were not called off")
