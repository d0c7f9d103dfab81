"""Checks of undisturbed matches and of the heartbeats during them."""

from __future__ import annotations

from typing import Final

import trio
from arena_client.v1 import play_pb2

from arena.local.check.check import check
from arena.local.check.stage import A_MATCH, DoubtError, FaultError, NotAskedError, Stage
from arena.local.check.wire import Wire
from engine.registry import GAMES

USUAL_SEATS: Final = 4
LARGEST_BATCH: Final = 256
SMALL_PIECE: Final = 5
"""Number of bytes that a bad network delivers at once."""
PLAIN: Final = (1, 1 << 31, 1 << 40)
LARGE: Final = ((1 << 53) + 1, (1 << 64) - 1)
"""Integers that a double cannot represent."""
SOON: Final = 0.25
"""Longest network round trip in seconds. If a heartbeat's answer takes longer, the bot has delayed it."""


@check(
    wants="Every Decision is answered by an Answer with its match_id and decision_id, until the MatchReport comes.",
    remedy="See what it printed; a decision carries all there is to know, in the view that is named after the game.",
    needs=("ready",),
)
async def games(stage: Stage) -> None:
    """Does it play a match of each of its games to the end?"""
    await stage.connected()
    for game in stage.games:
        await stage.play(game, USUAL_SEATS, seat=1)


@check(
    wants="Whatever the number of seats and its own seat, it plays on.",
    remedy="Take the number of seats from the view; lists by seat are as long as the table.",
    needs=("games",),
)
async def seats(stage: Stage) -> None:
    """Does it play at tables of every size?"""
    await stage.connected()
    for game in stage.games:
        sizes = GAMES[game].seats
        for size in sizes:
            if size != USUAL_SEATS:
                await stage.play(game, size, seat=size - 1)


@check(
    wants="Answers name the match of their decision; matches go on side by side, up to the capacity it said.",
    remedy="Keep what you keep by match_id, or answer from the decision alone; else say capacity 1.",
    needs=("games", "invitations"),
)
async def several(stage: Stage) -> None:
    """Does it play several matches at once?"""
    wire = await stage.idle()
    if (capacity := stage.capacity) < 2:
        raise NotAskedError("it plays one match at a time")
    stage.session.capacity = 1  # so that the server asks for one decision at a time
    await stage.end(*[stage.invite(stage.games[at % len(stage.games)]) for at in range(min(capacity, 4))])
    if stage.session_wire is wire:
        stage.session.capacity = capacity


@check(
    wants="All of PlayResponse.decisions are answered, in one message or in several.",
    remedy="Go through the whole list.",
    needs=("several",),
)
async def batch(stage: Stage) -> None:
    """Does it answer many decisions that come in one message?"""
    wire = await stage.idle()
    if stage.capacity < 2:
        raise NotAskedError("it plays one match at a time")
    capacity = stage.capacity
    stage.session.capacity = 2 * capacity  # a message contains at most half as many decisions as the capacity
    wire.holds = True
    matches = [stage.invite(stage.games[at % len(stage.games)]) for at in range(min(capacity, LARGEST_BATCH))]
    await stage.until(lambda: _accepted(stage) >= len(matches), "it did not accept all its invitations")
    wire.release()
    await stage.end(*matches)
    if stage.session_wire is wire:
        stage.session.capacity = capacity


def _accepted(stage: Stage) -> int:
    """Return the number of invitations accepted in the held-back messages."""
    return sum(len(message.ready) for message in stage.wire.held)


@check(
    wants="However the network cuts the bytes, the messages are the same.",
    remedy="Use a gRPC library, or read until a message is complete: its length is in its first five bytes.",
    needs=("games",),
)
async def pieces(stage: Stage) -> None:
    """Does it accept messages that arrive in pieces?"""
    await stage.connected()
    stage.relay.piece = SMALL_PIECE
    await stage.play()
    stage.relay.piece = stage.relay.usual_piece


def _owes(wire: Wire, match_id: int) -> bool:
    """Return True if the bot owes an answer in a match."""
    asked = {each.decision_id for said in wire.said for each in said.message.decisions if each.match_id == match_id}
    answers = (answer for said in wire.heard for answer in said.message.answers)
    return bool(asked - {answer.decision_id for answer in answers if answer.match_id == match_id})


async def _sent_back(stage: Stage, wire: Wire, number: int) -> None:
    """Wait until the bot has sent a heartbeat's number back."""
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
    wire = await stage.idle()
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
    wire = await stage.idle()
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
    if len(waits) > 1 and (again := sorted(waits)[-2]) > SOON:  # the machine itself may cause one delay
        raise DoubtError(f"while it thought it took {again:.2f} s to answer a heartbeat")
