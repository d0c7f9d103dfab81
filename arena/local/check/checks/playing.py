"""Checks of undisturbed matches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from arena.local.check.check import check
from arena.local.check.stage import NotAskedError
from engine.registry import GAMES

if TYPE_CHECKING:
    from arena.local.check.stage import Stage

USUAL_SEATS: Final = 4
LARGEST_BATCH: Final = 256
SMALL_PIECE: Final = 5
"""Number of bytes that a bad network delivers at a time."""


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
    wire = await stage.connected()
    await stage.idle()
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
    wire = await stage.connected()
    await stage.idle()
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
    """Return the number of invitations that the bot accepts in messages that are held back."""
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
