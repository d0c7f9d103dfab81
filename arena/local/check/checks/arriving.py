"""Checks of a bot's first messages: registration, token, hello and welcome."""

from __future__ import annotations

from typing import Final

import trio

from arena.local.check.check import BOTS, check
from arena.local.check.stage import START, DoubtError, FaultError, NotAskedError, Stage

SLOW_WELCOME: Final = 2.0
"""Seconds until the slow server of a check sends its welcome."""


@check(
    wants="In 30 s PlayService.Play with 'authorization: Bearer TOKEN', after a registration where it has no token.",
    remedy="Have the command take the address and the token's file that it is given, and look at what it printed.",
    page=BOTS,
    needs=(),
)
async def start(stage: Stage) -> None:
    """Does it start, and open a stream with a token?"""
    await stage.start_bot()
    server = stage.server
    await stage.until(
        lambda: bool(server.wires or server.hello_fault or len(server.tried_at) > 1), _unheard(stage), START
    )
    if not (server.wires or server.hello_fault):
        raise FaultError("it opened a stream with a token that no bot has, and another")


def _unheard(stage: Stage) -> str:
    """Describe the step that the bot did not reach."""
    if stage.token_given:
        return "no stream was opened with the token that it was given"
    return "no stream was opened at {server} or ARENA_SERVER"


@check(
    wants="Hello: games, by name; a capacity of 1 or more; a version of at most 40 printable characters, and a client.",
    remedy="Send one PlayRequest with nothing but hello as soon as the stream is open.",
    needs=("start",),
)
async def hello(stage: Stage) -> None:
    """Is its first message a hello that a server accepts?"""
    if stage.server.hello_fault:
        raise FaultError(stage.server.hello_fault)
    said = (await stage.connected()).hello
    if unnamed := [name for name in stage.ladders if name not in said.ladders]:
        raise FaultError(f"hello.ladders lacks {unnamed[0]}, which ARENA_LADDERS has: update the SDK, or read it")
    if not said.capacity:
        raise FaultError("hello.capacity is 0: a server gives it no matches")
    if not said.version:
        raise DoubtError("hello.version is empty: all versions of the bot share one rating")
    if not said.client:
        raise DoubtError("hello.client is empty: nobody will know which library it was when something goes wrong")


@check(
    wants="The token of the first start is kept in a file and used from then on; the name is given to no other token.",
    remedy="Write the token where ARENA_TOKEN_FILE or {token_file} says, and register only where that file is missing.",
    page=BOTS,
)
async def token(stage: Stage) -> None:
    """When started again, does it use the token it has?"""
    before = len(stage.server.registrations)
    if stage.token_given and not before:
        raise NotAskedError("it was given its token")
    stage.server.lenient = True
    await stage.start_bot()
    await stage.connected()
    again = len(stage.server.registrations) - before
    if again:
        raise FaultError(
            f"it registered {stage.server.registrations[-1].name!r} again, which a server refuses: the name is taken"
        )


@check(
    wants="After the hello nothing is said and no other stream opened until the welcome comes; 20 s are a good limit.",
    remedy="Wait for the first PlayResponse, which holds the welcome, before anything else; a server may be busy.",
)
async def slow_welcome(stage: Stage) -> None:
    """Does it wait for a welcome that takes 2 s?"""
    server = stage.server
    await stage.end_bot()
    server.welcome_delay, tried, early = SLOW_WELCOME, len(server.tried_at), server.early
    try:
        await stage.start_bot()
        await stage.until(lambda: len(server.tried_at) > tried, "it opened no stream", START)
        await trio.sleep(SLOW_WELCOME)
        await stage.until(lambda: stage.session_wire is not None, "it did not wait for the welcome")
    finally:
        server.welcome_delay = 0.0
    if len(server.tried_at) > tried + 1:
        raise FaultError(f"it opened {len(server.tried_at) - tried} streams while it waited for one welcome")
    if server.early > early:
        raise DoubtError("it said something else before the welcome came")
