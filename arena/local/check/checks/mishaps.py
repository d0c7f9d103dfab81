"""Checks of trouble in matches: refused, late or superfluous answers, and other bots that leave."""

from __future__ import annotations

from typing import Final

import trio
from arena_client.v1 import play_pb2

from arena.local.check.check import CONDUCT, check
from arena.local.check.match import CheckedMatch
from arena.local.check.stage import A_MATCH, DoubtError, FaultError, Stage
from arena.local.check.wire import Wire
from arena.server.sessions.messages import Notice, NoticeKind

NO_ACTION: Final = (1 << 32) - 1
"""An action that no game has."""
HELD: Final = 0.5
"""Number of seconds for which the server claims that it cannot store data."""
RESUME: Final = 3.0
"""Maximum number of seconds for a suspended bot to report that it is back."""
ILLEGAL: Final = play_pb2.NOTICE_KIND_ILLEGAL
SUSPENDED: Final = play_pb2.NOTICE_KIND_SUSPENDED
UNKNOWN: Final = play_pb2.NOTICE_KIND_UNKNOWN


class _Spoiler:
    """Spoils the bot's second answer, so that the server refuses it. (The first answer has a longer time limit.)"""

    def __init__(self) -> None:
        self.spoilt: play_pb2.Answer | None = None
        self._answers = 0

    def __call__(self, message: play_pb2.PlayRequest) -> play_pb2.PlayRequest:
        self._answers += len(message.answers)
        if self.spoilt is None and self._answers > 1:
            self.spoilt = message.answers[-1]
            self.spoilt.action = NO_ACTION
        return message


ANOTHER_MATCH: Final = 1 << 40
"""Number of the first match of a run, which is long over when an answer names it."""


@check(
    wants="After ILLEGAL the decision is open: an answer of Notice.legal, or none; never the refused one again.",
    remedy="At ILLEGAL answer with one of Notice.legal, or leave the decision to the server.",
    page=CONDUCT,
    needs=("games",),
    disturbs=True,
)
async def rejected(stage: Stage) -> None:
    """Does it play on when an answer is refused?"""
    wire = await stage.idle()
    spoiler = _Spoiler()
    wire.heard_as = spoiler
    match = stage.invite()
    await stage.end(match)
    wire.heard_as = None
    refused = spoiler.spoilt
    if refused is None:
        raise FaultError("it gave no answer")
    decision = match.match_id, refused.decision_id
    if sum((notice.match_id, notice.decision_id) == decision for notice in stage.told(ILLEGAL)) > 1:
        raise FaultError("it gave the refused answer again")
    await stage.play()


@check(
    wants="A bot that is late three times in a row is suspended, and named a match in PlayRequest.resumed plays on.",
    remedy="At the notice SUSPENDED send PlayRequest(resumed=[notice.match_id]); ignore STALE and FORCED_BY_TIME.",
    page=CONDUCT,
    needs=("games",),
    disturbs=True,
)
async def late(stage: Stage) -> None:
    """Does it come back when it was late?"""
    wire = await stage.idle()
    puppet = stage.puppet()
    match = stage.invite(seats=2, others=[puppet.player])
    await stage.begin(match)
    wire.holds = True
    before = len(stage.told(SUSPENDED))
    await stage.until(lambda: len(stage.told(SUSPENDED)) > before or puppet.answer(), "it was not suspended")
    wire.release()
    end = trio.current_time() + RESUME
    await stage.until(lambda: _resumed(wire, match) or trio.current_time() > end, "it was suspended")
    if not _resumed(wire, match):
        raise FaultError(
            "it was suspended and did not say that it is back: the server plays the rest of the match for it"
        )
    await stage.until(lambda: match.over or puppet.answer(), "the match did not end", A_MATCH)


def _resumed(wire: Wire, match: CheckedMatch) -> bool:
    return any(match.match_id in said.message.resumed for said in wire.heard)


@check(
    wants="The notice UNKNOWN, of a match that is over or an invitation that is gone, changes nothing.",
    remedy="Log it and go on: what you said was on its way when the match ended.",
    page=CONDUCT,
    needs=("games",),
    disturbs=True,
)
async def crossing(stage: Stage) -> None:
    """Does it play on when answers cross the end of a match?"""
    wire = await stage.idle()
    before = len(stage.told(UNKNOWN))
    await stage.play()
    last = next((said.message for said in reversed(wire.heard) if said.message.answers), None)
    if last is None:
        raise FaultError("it gave no answer")
    crossed = play_pb2.PlayRequest(answers=last.answers)
    for answer in crossed.answers:
        answer.match_id = ANOTHER_MATCH  # no such match is running, so the server reports the answer
    wire.held.append(crossed)
    wire.release()
    await stage.until(lambda: len(stage.told(UNKNOWN)) > before, "the server took an answer to an unknown match")
    await stage.play()


@check(
    wants="GONE, SUBSTITUTED and BACK of another seat need no answer; the match goes on.",
    remedy="Look at Notice.seat: it is not you who is gone.",
    page=CONDUCT,
    needs=("games",),
    disturbs=True,
)
async def others_leave(stage: Stage) -> None:
    """Does it play on when others at the table leave and come back?"""
    await stage.idle()
    other = stage.absentee()
    match = stage.invite(seats=3, others=[other])
    await stage.begin(match)
    driver = match.driver
    assert driver is not None, "it has begun"
    with stage.server.turns:
        driver.left(trio.current_time(), other, in_order=True)
    with stage.server.turns:
        driver.returned(trio.current_time(), other)
    with stage.server.turns:
        driver.left(trio.current_time(), other, in_order=True)
    await stage.end(match)


@check(
    wants="HELD means that nothing is sent until RELEASED; the stream stays open.",
    remedy="Wait; the notices HELD and RELEASED need no answer.",
    page=CONDUCT,
    needs=("games",),
    disturbs=True,
)
async def held(stage: Stage) -> None:
    """Does it wait when the server holds its clocks?"""
    wire = await stage.idle()
    text = "the server cannot store anything at the moment: nothing is sent until it can, and nothing is lost"
    stage.session.tell(Notice(NoticeKind.HELD, text))
    end = trio.current_time() + HELD
    await stage.until(lambda: trio.current_time() > end, "the server held its clocks")
    stage.session.tell(Notice(NoticeKind.RELEASED, "the server can store again and goes on"))
    await stage.play()
    if wire.over:
        raise DoubtError("it came anew")
