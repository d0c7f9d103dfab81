"""Checks of broken connections, of servers that stop, die and restart, and of bots that leave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import trio

from arena.local.check.check import CONDUCT, PLAY, PROTOCOL, check
from arena.local.check.match import CONFIG, CheckedMatch
from arena.local.check.stage import DoubtError, FaultError, Stage
from arena.local.check.wire import Wire
from arena.match.policy import Policy
from arena.server.sessions.messages import Closed, Notice, NoticeKind, Reason

NEWCOMER: Final = Policy().newcomer_grace / 1e6
"""Maximum number of seconds until a bot without a finished match returns."""
GRACE: Final = Policy().grace / 1e6
"""Maximum number of seconds until any other bot returns."""
NOTICED: Final = CONFIG.transport.ping_after + CONFIG.transport.ping_timeout
"""Number of seconds after which a server considers a silent bot lost."""
OUTAGE: Final = 2.0
REFUSING: Final = 3.0
"""Number of seconds for which a stopping server refuses streams."""
OFTEN: Final = 8
"""Maximum number of connection attempts in the last second of `REFUSING`. By then a bot's pauses should be longer."""
AWAY: Final = 0.3
"""Minimum number of seconds of a bot's absence while its match ends."""
WATCHED: Final = 2.0
"""Number of seconds for which a bot that should not return must stay away."""
AGAIN: Final = 5.0
"""Maximum number of seconds until the answer to a repeated decision."""


async def _open_decision(stage: Stage) -> CheckedMatch:
    """Begin a match and hold back the bot's answer to a decision."""
    wire = stage.wire
    match = stage.invite()
    await stage.begin(match)
    wire.holds = True
    await stage.until(lambda: any(message.answers for message in wire.held), "it answered no decision")
    return match


@check(
    wants="It connects again by itself, within 5 s, and goes on with the same token.",
    remedy="Open a new stream when one breaks (UNAVAILABLE, UNKNOWN), at once and then waiting longer each time.",
    page=CONDUCT,
    needs=("games",),
    disturbs=True,
)
async def reconnect(stage: Stage) -> None:
    """Does it come back when the connection breaks?"""
    await stage.idle()
    await stage.lose_connection()
    cut = trio.current_time()
    await stage.until(lambda: stage.session_wire is not None, "the connection broke, and it did not come back", GRACE)
    if (took := trio.current_time() - cut) > NEWCOMER:
        raise DoubtError(f"it came back after {took:.1f} s; a newcomer's seat is then played on by a house bot")
    await stage.play()


@check(
    wants="After a reconnect open decisions come again, with the same numbers; each is answered again.",
    remedy="Answer what is asked, in the message with the welcome too: the first answer may have been lost.",
    page=CONDUCT,
    needs=("reconnect",),
    disturbs=True,
)
async def asked_again(stage: Stage) -> None:
    """Does it answer a decision that is asked again?"""
    wire = await stage.idle()
    match = await _open_decision(stage)
    asked = {(decision.match_id, decision.decision_id) for said in wire.said for decision in said.message.decisions}
    await stage.lose_connection()
    later = await stage.connected()
    await stage.until(
        lambda: match.over or any(said.message.answers for said in later.heard),
        f"match {match.match_id} goes on, and it did not answer the decision that was put to it again",
        AGAIN,
    )
    known = {(answer.match_id, answer.decision_id) for said in later.heard for answer in said.message.answers}
    if not asked & known:
        raise FaultError(
            "it answered others, and not the decision that was put to it again, perhaps beside the welcome"
        )
    await stage.end(match)


@check(
    wants="Hello.reports_after is the number of the log's leaf of the last report, or the log's size before the first.",
    remedy="Keep the entry.number of each MatchReport, at first Welcome.log.head.size, and send it in the hello.",
    page=PLAY,
    needs=("reconnect",),
    disturbs=True,
)
async def missed_result(stage: Stage) -> None:
    """Does it ask for results that it missed?"""
    await stage.idle()
    match = await _open_decision(stage)
    bot, driver, server = stage.bot, match.driver, stage.server
    assert driver is not None, "it has begun"
    server.welcome_delay = AWAY
    await stage.lose_connection()
    with server.turns:
        # the absence was too long, so a house bot finishes the match
        driver.left(trio.current_time(), bot, in_order=True)
    await stage.until(lambda: match.over, "the match did not end")
    wire = await stage.connected()
    server.welcome_delay = 0.0
    wanted, found = _last_report(server.wires[: server.wires.index(wire)]), wire.hello.reports_after
    if found is None:
        raise DoubtError(
            f"hello.reports_after is absent: the report of match {match.match_id}, which it missed, is not sent"
        )
    if found != wanted:
        raise DoubtError(
            f"hello.reports_after is {found}, and should be {wanted}: it gets too many reports, or too few"
        )
    await stage.play()


def _last_report(wires: Sequence[Wire]) -> int:
    """Return the number of the last report that a bot has received on these streams."""
    number = -1
    for wire in wires:
        if wire.hello.reports_after is None:
            number = -1
        for message in (said.message for said in wire.said):
            if message.HasField("welcome"):
                size = message.welcome.log.head.size
                number = size if number < 0 else min(number, size)
            for report in message.reports:
                number = report.entry.number
    return number


@check(
    wants="While nobody listens it tries again and again; matches go on where they stood.",
    remedy="A connection that is refused is no reason to end: the server may be starting again.",
    page=CONDUCT,
    needs=("asked-again",),
    disturbs=True,
)
async def restart(stage: Stage) -> None:
    """Does it come back to a server that was killed?"""
    await stage.idle()
    match = await _open_decision(stage)
    await stage.relay.down()
    await stage.until(lambda: stage.session_wire is None, "the server still hears it")
    end = trio.current_time() + OUTAGE
    await stage.until(lambda: trio.current_time() > end, f"the server was gone for {OUTAGE:g} s")
    await stage.relay.up()
    await stage.until(lambda: stage.session_wire is not None, "the server came back, the bot did not", GRACE)
    await stage.end(match)


@check(
    wants="At DRAINING it plays on; after UNAVAILABLE with STOPPING it comes back, waiting longer each time.",
    remedy="Double the waiting time at each try, with chance in it; end at no UNAVAILABLE, whatever its reason.",
    page=PLAY,
    needs=("reconnect",),
    disturbs=True,
)
async def drain(stage: Stage) -> None:
    """Does it let a server drain, and come back to the next one?"""
    await stage.idle()
    match = stage.invite()
    await stage.begin(match)
    session = stage.session
    session.notify(Notice(NoticeKind.DRAINING, "the server is stopping and forms no more matches"))
    await stage.end(match)
    stopping = Closed(Reason.STOPPING, "the server is stopping; come back later")
    server = stage.server
    server.refusal = stopping
    session.close(stopping.reason, str(stopping))
    end = trio.current_time() + REFUSING
    await stage.until(lambda: trio.current_time() > end, "the server was stopping")
    often = sum(at > end - 1 for at in server.tried_at)
    server.refusal = None
    await stage.until(lambda: stage.session_wire is not None, "the server came back, the bot did not", GRACE)
    await stage.play()
    if often > OFTEN:
        raise DoubtError(f"{REFUSING:g} s after the server had stopped it tried {often} times a second")


@check(
    wants="A connection on which nothing has come for 30 s is lost, though no error says so: it opens another one.",
    remedy="Have gRPC ping a silent server (keepalive: after 20 s, 10 s for the answer), or count heartbeats.",
    page=PROTOCOL,
    needs=("reconnect",),
    disturbs=True,
)
async def silent_server(stage: Stage) -> None:
    """Does it notice a server that falls silent?"""
    before = await stage.idle()
    stage.relay.fall_silent()
    await stage.until(
        lambda: stage.session_wire not in (None, before),
        "nothing came from the server any more, and it did not connect again",
        NOTICED + GRACE,
    )
    await stage.play()


@check(
    wants="After TAKEN_OVER it does not come back: two programs would throw each other out for ever.",
    remedy="End the program at TAKEN_OVER, and at UNAUTHENTICATED, and say why.",
    page=PLAY,
    needs=("games",),
    disturbs=True,
)
async def taken_over(stage: Stage) -> None:
    """Does it give way to another program with its token?"""
    await stage.idle()
    session, server = stage.session, stage.server
    before = len(server.tried_at)
    session.close(Reason.TAKEN_OVER, "another connection took over")
    end = trio.current_time() + WATCHED
    while (
        trio.current_time() < end and len(server.tried_at) == before and not (stage.program and stage.program.ended())
    ):
        await trio.sleep(0.02)
    came_back = len(server.tried_at) > before
    await stage.end_bot()
    if came_back:
        raise FaultError("it came back after another program had taken its place")


STOP: Final = 10.0
"""Maximum number of seconds until a program ends after SIGTERM."""


@check(
    wants="It ends within 10 s: after PlayRequest.leave, or after a capacity of 0 and the end of its matches.",
    remedy="At SIGTERM and SIGINT send PlayRequest(leave=True), wait until the stream ends, and exit.",
    page=CONDUCT,
    needs=("games",),
    disturbs=True,
)
async def sigterm(stage: Stage) -> None:
    """Does it leave in order at SIGTERM?"""
    wire = await stage.idle()
    program = stage.program
    assert program is not None, "it is connected"
    match = await _open_decision(stage)
    program.tell_to_end()
    wire.release()
    with trio.move_on_after(STOP):
        while not program.ended():
            await trio.sleep(0.02)
    ended = program.ended()
    in_order = match.over or any(
        said.message.leave or (said.message.capacity == 0 and said.message.HasField("capacity")) for said in wire.heard
    )
    await stage.end_bot()
    if not ended:
        raise FaultError(f"SIGTERM did not end it within {STOP:g} s: it was killed")
    if not in_order:
        raise DoubtError(f"it {ended.how} without taking leave: its seat waits for it, and that counts as trouble")
