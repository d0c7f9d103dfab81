"""Bots that each violate the protocol in one way: `python -m tests.bots.nonconforming FAULT`.

`FAULTS` names the check that must find each fault, and the check's verdict.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Any, NamedTuple

import grpc
from arena_client.v1 import play_pb2
from google.protobuf.unknown_fields import UnknownFieldSet

from tests.bots.plain_bot import CHANNEL, PlainBot


class Found(NamedTuple):
    """The expected result of a check for a faulty bot."""

    check: str
    verdict: str


FAULTS: dict[str, tuple[type[PlainBot], Found]] = {}


def fault(check: str, verdict: str = "fail") -> Any:
    """Register a bot under the name of its class, with the check that must find its fault."""

    def keep(kind: type[PlainBot]) -> type[PlainBot]:
        FAULTS[kind.__name__] = kind, Found(check, verdict)
        return kind

    return keep


# --- connecting ---


@fault("start")
class EndsAtOnce(PlainBot):
    def run(self) -> None:
        sys.exit("no configuration found")


@fault("start")
class HangsBeforeHello(PlainBot):
    def run(self) -> None:
        time.sleep(3600)


@fault("start")
class WrongToken(PlainBot):
    def token(self, channel: grpc.Channel) -> str:
        super().token(channel)
        return "arena_" + "x" * 43

    def lost(self, error: Any) -> None:
        pass


@fault("hello")
class NamesNoGame(PlainBot):
    games = ()


@fault("hello", "warn")
class HasNoVersion(PlainBot):
    version = ""


@fault("token")
class ForgetsItsToken(PlainBot):
    def __init__(self) -> None:
        super().__init__()
        self.token_file = self.token_file.with_name(f"token-{os.getpid()}")


@fault("slow-welcome")
class WaitsForNothing(PlainBot):
    """A bot that waits only one second for a Welcome."""

    def welcome(self, call: Any) -> play_pb2.PlayResponse:
        timer = threading.Timer(1.0, call.cancel)
        timer.start()
        try:
            return super().welcome(call)
        finally:
            timer.cancel()


# --- invitations ---


@fault("ready")
class AcceptsNothing(PlainBot):
    def accept(self, invitations: list[play_pb2.Invitation]) -> None:
        pass


@fault("nonce")
class ShortNonce(PlainBot):
    def nonce(self) -> bytes:
        return os.urandom(8)


@fault("nonce", "warn")
class SameNonce(PlainBot):
    def nonce(self) -> bytes:
        return b"0123456789abcdef"


@fault("invitations")
class AcceptsTheFirst(PlainBot):
    def accept(self, invitations: list[play_pb2.Invitation]) -> None:
        super().accept(invitations[:1])


@fault("withdrawn")
class CountsWithdrawn(PlainBot):
    def __init__(self) -> None:
        super().__init__()
        self.accepted = 0

    def accept(self, invitations: list[play_pb2.Invitation]) -> None:
        for invitation in invitations:
            if self.accepted + len(self.playing) < self.capacity:
                self.accepted += 1
                super().accept([invitation])
            else:
                self.say(declined=[invitation.invitation_id])

    def begin(self, start: play_pb2.MatchStart) -> None:
        self.accepted -= start.match_id not in self.playing
        super().begin(start)

    def welcome(self, call: Any) -> play_pb2.PlayResponse:
        self.accepted = 0
        return super().welcome(call)


# --- playing ---


@fault("games")
class OneGameOnly(PlainBot):
    def choice(self, decision: play_pb2.Decision) -> play_pb2.Answer:
        assert decision.HasField("sixth_sense")
        return super().choice(decision)


@fault("seats")
class FourSeatsAtMost(PlainBot):
    def choice(self, decision: play_pb2.Decision) -> play_pb2.Answer:
        view = decision.sixth_sense if decision.HasField("sixth_sense") else decision.nullern
        _left, _over, _right = [(view.seat + by) % 4 for by in (1, 2, 3)]
        assert view.seats <= 4
        return super().choice(decision)


@fault("several")
class OneMatchOnly(PlainBot):
    """A bot that answers only in the newest match."""

    latest = 0

    def begin(self, start: play_pb2.MatchStart) -> None:
        super().begin(start)
        self.latest = start.match_id

    def choice(self, decision: play_pb2.Decision) -> play_pb2.Answer:
        answer = super().choice(decision)
        answer.match_id = self.latest
        return answer


@fault("batch")
class AnswersTheFirst(PlainBot):
    def decide(self, decisions: list[play_pb2.Decision]) -> None:
        super().decide(decisions[:1])


@fault("legal")
class PlaceInTheList(PlainBot):
    """A bot that sometimes sends an action's index in the list instead of the action, and then corrects it."""

    def choice(self, decision: play_pb2.Decision) -> play_pb2.Answer:
        answer = super().choice(decision)
        if decision.decision_id % 16 == 0:
            answer.action = next(action for action in range(len(decision.legal) + 1) if action not in decision.legal)
        return answer


@fault("once")
class AnswersTwice(PlainBot):
    def decide(self, decisions: list[play_pb2.Decision]) -> None:
        answers = [self.choice(decision) for decision in decisions]
        self.say(answers=answers)
        self.say(answers=answers)


# --- heartbeats ---


@fault("heartbeat")
class NoHeartbeat(PlainBot):
    def beat(self, number: int) -> None:
        pass


@fault("heartbeat", "warn")
class HeartbeatAsDouble(PlainBot):
    def beat(self, number: int) -> None:
        self.say(heartbeat=min(int(float(number)), (1 << 64) - 1))


@fault("heartbeat-thinking", "warn")
class BlocksWhileThinking(PlainBot):
    def decide(self, decisions: list[play_pb2.Decision]) -> None:
        if decisions[0].decision_id < 8 and len(self.playing) < 2:
            time.sleep(0.6)
        super().decide(decisions)


# --- newer servers ---


@fault("unknown-field")
class StrictFields(PlainBot):
    def hear(self, message: play_pb2.PlayResponse) -> None:
        assert not len(UnknownFieldSet(message)), "unknown field"
        super().hear(message)


@fault("unknown-notice")
class NamesNotices(PlainBot):
    def note(self, notice: play_pb2.Notice) -> None:
        print(play_pb2.NoticeKind.Name(notice.kind), notice.text)
        super().note(notice)


@fault("unknown-kind")
class NamesKinds(PlainBot):
    def begin(self, start: play_pb2.MatchStart) -> None:
        print(play_pb2.MatchKind.Name(start.kind))
        super().begin(start)


@fault("empty-message")
class NeverEmpty(PlainBot):
    def hear(self, message: play_pb2.PlayResponse) -> None:
        assert message.ByteSize(), "a message without content"
        super().hear(message)


# --- interruptions ---


@fault("rejected")
class RepeatsTheRefused(PlainBot):
    def note(self, notice: play_pb2.Notice) -> None:
        if notice.kind == play_pb2.NOTICE_KIND_ILLEGAL:
            self.answer(notice.match_id, notice.decision_id, notice.rejected_action)
        else:
            super().note(notice)


@fault("rejected")
class EndsAtRefusal(PlainBot):
    def note(self, notice: play_pb2.Notice) -> None:
        assert notice.kind != play_pb2.NOTICE_KIND_ILLEGAL, notice.text
        super().note(notice)


@fault("late")
class StaysSuspended(PlainBot):
    def note(self, notice: play_pb2.Notice) -> None:
        if notice.kind != play_pb2.NOTICE_KIND_SUSPENDED:
            super().note(notice)


@fault("crossing")
class EndsAtUnknown(PlainBot):
    def note(self, notice: play_pb2.Notice) -> None:
        assert notice.kind != play_pb2.NOTICE_KIND_UNKNOWN, notice.text
        super().note(notice)


@fault("others-leave")
class LeavesWithOthers(PlainBot):
    def note(self, notice: play_pb2.Notice) -> None:
        if notice.kind in (play_pb2.NOTICE_KIND_GONE, play_pb2.NOTICE_KIND_SUBSTITUTED):
            sys.exit("the match is off")
        super().note(notice)


@fault("held")
class EndsWhenHeld(PlainBot):
    def note(self, notice: play_pb2.Notice) -> None:
        if notice.kind == play_pb2.NOTICE_KIND_HELD:
            sys.exit("the server is down")
        super().note(notice)


# --- connections ---


@fault("reconnect")
class NeverComesBack(PlainBot):
    def lost(self, error: Any) -> None:
        sys.exit(f"connection lost: {error.code().name}")


@fault("asked-again")
class AnswersOnceOnly(PlainBot):
    """A bot that mistakes a repeated decision for one that it has answered, and ignores it."""

    def __init__(self) -> None:
        super().__init__()
        self.answered: set[tuple[int, int]] = set()

    def decide(self, decisions: list[play_pb2.Decision]) -> None:
        new = [each for each in decisions if (each.match_id, each.decision_id) not in self.answered]
        self.answered |= {(each.match_id, each.decision_id) for each in new}
        if new:
            super().decide(new)


@fault("asked-again")
class ReadsTheWelcomeOnly(PlainBot):
    """A bot that overlooks the other parts of the first message."""

    def welcome(self, call: Any) -> play_pb2.PlayResponse:
        super().welcome(call)
        return play_pb2.PlayResponse()


@fault("missed-result", "warn")
class ForgetsItsReports(PlainBot):
    def hello(self) -> play_pb2.Hello:
        said = super().hello()
        said.ClearField("reports_after")
        return said


@fault("missed-result", "warn")
class CountsMatchesForLeaves(PlainBot):
    def hello(self) -> play_pb2.Hello:
        said = super().hello()
        if said.HasField("reports_after"):
            said.reports_after += 1 << 40
        return said


@fault("restart")
class EndsWhenRefused(PlainBot):
    def lost(self, error: Any) -> None:
        if "refused" in (error.details() or ""):
            sys.exit("nobody there")
        super().lost(error)


@fault("drain")
class EndsAtUnavailable(PlainBot):
    def lost(self, error: Any) -> None:
        if "stopping" in (error.details() or ""):
            sys.exit("the server is stopping")
        super().lost(error)


@fault("drain", "warn")
class TriesWithoutRest(PlainBot):
    def run(self) -> None:
        signal.signal(signal.SIGTERM, self.stop)
        while not self.leaving:
            try:
                self.converse()
            except grpc.RpcError as error:
                self.lost(error)


@fault("silent-server")
class WaitsForTheSilent(PlainBot):
    options = CHANNEL


@fault("taken-over")
class Fights(PlainBot):
    def lost(self, error: Any) -> None:
        pass


# --- leaving, and other faults ---


@fault("sigterm")
class IgnoresSigterm(PlainBot):
    def stop(self, *_: object) -> None:
        pass


@fault("sigterm", "warn")
class DiesAtSigterm(PlainBot):
    def stop(self, *_: object) -> None:
        os._exit(1)


@fault("output", "warn")
class PrintsMuch(PlainBot):
    def run(self) -> None:
        print(("x" * 99 + "\n") * 20_000, file=sys.stderr)
        super().run()


@fault("output")
class PrintsWithoutEnd(PlainBot):
    """A bot that prints a gigabyte of output."""

    def run(self) -> None:
        threading.Thread(target=self.flood, daemon=True).start()
        super().run()

    @staticmethod
    def flood() -> None:
        for _ in range(1 << 14):
            os.write(2, b"x" * (1 << 16))


if __name__ == "__main__":
    FAULTS[sys.argv[1]][0]().run()
