"""A bot that follows the protocol, written with grpcio alone. The faulty bots deviate from this model.

`python -m tests.bots.plain_bot [CAPACITY FILE]`. ARENA_SERVER names the server, and ARENA_TOKEN_FILE the file for the
token. The bot writes the number of decisions in each message to FILE.
"""

from __future__ import annotations

import os
import queue
import random
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
from arena_client.v1 import bots_pb2, bots_pb2_grpc, play_pb2, play_pb2_grpc
from google.rpc import error_details_pb2, status_pb2

LAST = frozenset({"TAKEN_OVER", "TOKEN_UNKNOWN", "TOKEN_REVOKED", "BAD_MESSAGE", "NO_SUCH_GAME", "OWNER_BANNED"})
"""Reasons after which the bot does not reconnect."""
LONGEST_WAIT = 1.0
CHANNEL = (("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0))
PINGS = (("grpc.keepalive_time_ms", 1_000), ("grpc.keepalive_timeout_ms", 3_000), ("grpc.http2.ping_timeout_ms", 3_000))
"""gRPC options that detect a silent server. They ping more often than a bot needs, so that tests are short."""


class PlainBot:
    """A single-threaded bot that plays at random."""

    name = "plain"
    games: tuple[str, ...] = ("sixth_sense", "nullern")
    capacity = 8
    version = "1"
    options: tuple[tuple[str, int], ...] = (*CHANNEL, *PINGS)

    def __init__(self) -> None:
        self.address = os.environ["ARENA_SERVER"]
        self.token_file = Path(os.environ["ARENA_TOKEN_FILE"])
        self.out: queue.SimpleQueue[play_pb2.PlayRequest | None] = queue.SimpleQueue()
        self.playing: set[int] = set()
        self.reports_after: int | None = None
        self.leaving = False
        self.wait = 0.05

    # --- the connection ---

    def run(self) -> None:
        signal.signal(signal.SIGTERM, self.stop)
        while not self.leaving:
            try:
                self.converse()
            except grpc.RpcError as error:
                self.lost(error)
            if not self.leaving:
                time.sleep(self.wait * random.random())
                self.wait = min(LONGEST_WAIT, self.wait * 2)

    def lost(self, error: Any) -> None:
        if reason(error) in LAST:
            sys.exit(f"{error.code().name}: {error.details()}")

    def stop(self, *_: object) -> None:
        self.leaving = True
        self.out.put(play_pb2.PlayRequest(leave=True))

    def token(self, channel: grpc.Channel) -> str:
        if self.token_file.exists():
            return self.token_file.read_text().strip()
        stub = bots_pb2_grpc.BotServiceStub(channel)
        token: str = stub.RegisterBot(bots_pb2.RegisterBotRequest(name=self.name)).token
        self.token_file.write_text(token)
        return token

    def converse(self) -> None:
        with grpc.insecure_channel(self.address, self.options) as channel:
            token = self.token(channel)
            self.out = queue.SimpleQueue()
            stub = play_pb2_grpc.PlayServiceStub(channel)
            call: Any = stub.Play(self.said(self.out), metadata=(("authorization", f"Bearer {token}"),))
            self.say(hello=self.hello())
            self.listen(call)

    def listen(self, call: Any) -> None:
        self.hear(self.welcome(call))
        for message in call:
            self.hear(message)

    def welcome(self, call: Any) -> play_pb2.PlayResponse:
        """Return the first message, which may contain more than the Welcome."""
        message: play_pb2.PlayResponse = next(call)
        assert message.HasField("welcome")
        self.wait = 0.05
        self.playing.clear()
        size = message.welcome.log.head.size
        self.reports_after = size if self.reports_after is None else min(self.reports_after, size)
        return message

    @staticmethod
    def said(out: queue.SimpleQueue[play_pb2.PlayRequest | None]) -> Iterator[play_pb2.PlayRequest]:
        while (request := out.get()) is not None:
            yield request

    def say(self, **fields: Any) -> None:
        self.out.put(play_pb2.PlayRequest(**fields))

    # --- the conversation ---

    def hello(self) -> play_pb2.Hello:
        return play_pb2.Hello(
            games=self.games,
            capacity=self.capacity,
            client="by hand",
            version=self.version,
            reports_after=self.reports_after,
        )

    def hear(self, message: play_pb2.PlayResponse) -> None:
        if message.HasField("heartbeat"):
            self.beat(message.heartbeat)
        self.accept(list(message.invitations))
        for start in message.starts:
            self.begin(start)
        for notice in message.notices:
            self.note(notice)
        if message.decisions:
            self.decide(list(message.decisions))
        for report in message.reports:
            self.playing.discard(report.match_id)
            self.reports_after = report.entry.number

    def beat(self, number: int) -> None:
        self.say(heartbeat=number)

    def accept(self, invitations: list[play_pb2.Invitation]) -> None:
        for invitation in invitations:
            self.say(ready=[play_pb2.Ready(invitation_id=invitation.invitation_id, nonce=self.nonce())])

    def nonce(self) -> bytes:
        return os.urandom(16)

    def begin(self, start: play_pb2.MatchStart) -> None:
        self.playing.add(start.match_id)

    def note(self, notice: play_pb2.Notice) -> None:
        if notice.kind == play_pb2.NOTICE_KIND_SUSPENDED:
            self.say(resumed=[notice.match_id])
        elif notice.kind == play_pb2.NOTICE_KIND_ILLEGAL and notice.legal:
            self.answer(notice.match_id, notice.decision_id, notice.legal[0])

    def decide(self, decisions: list[play_pb2.Decision]) -> None:
        self.playing |= {decision.match_id for decision in decisions}
        self.say(answers=[self.choice(decision) for decision in decisions])

    def choice(self, decision: play_pb2.Decision) -> play_pb2.Answer:
        return play_pb2.Answer(
            match_id=decision.match_id, decision_id=decision.decision_id, action=random.choice(decision.legal)
        )

    def answer(self, match_id: int, decision_id: int, action: int) -> None:
        self.say(answers=[play_pb2.Answer(match_id=match_id, decision_id=decision_id, action=action)])


def reason(error: Any) -> str:
    """Return the server's reason for ending a call."""
    for name, value in error.trailing_metadata() or ():
        if name == "grpc-status-details-bin":
            for detail in status_pb2.Status.FromString(value).details:
                info = error_details_pb2.ErrorInfo()
                if detail.Unpack(info):
                    return str(info.reason)
    return ""


class WideBot(PlainBot):
    """A bot that plays many matches concurrently."""

    def __init__(self, capacity: int, seen: Path) -> None:
        super().__init__()
        self.capacity = capacity
        self.seen = seen

    def decide(self, decisions: list[play_pb2.Decision]) -> None:
        with self.seen.open("a") as lines:
            print(len(decisions), file=lines)
        super().decide(decisions)


if __name__ == "__main__":
    (WideBot(int(sys.argv[1]), Path(sys.argv[2])) if sys.argv[1:] else PlainBot()).run()
