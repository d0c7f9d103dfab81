"""A bot that follows the rules but costs the others time, until it is stopped. Whenever a stream ends, it reconnects.

Arguments: address, name, capacity, and one of the behaviours `declines`, `ignores`, `leaves` and `slow`.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Iterator

import grpc
from arena_client.v1 import bots_pb2, bots_pb2_grpc
from arena_client.v1 import play_pb2 as pb

SECONDS = 0.9
"""Seconds for each decision of a slow bot, within the limit."""
GAMES = ("nullern", "sixth_sense")


class TroubleBot:
    """A bot that opens one stream after another."""

    def __init__(self, address: str, token: str, capacity: int, manner: str) -> None:
        self._channel = grpc.insecure_channel(address)
        self._token = token
        self._capacity = capacity
        self._manner = manner
        self._reports_after: int | None = None
        self._due: deque[tuple[float, pb.PlayRequest | None]] = deque()
        self._changed = threading.Condition()

    def attend(self) -> None:
        """Play on a stream until it ends."""
        play = self._channel.stream_stream(
            "/arena.v1.PlayService/Play",
            request_serializer=pb.PlayRequest.SerializeToString,
            response_deserializer=pb.PlayResponse.FromString,
        )
        self._due.clear()
        hello = pb.Hello(games=GAMES, capacity=self._capacity, reports_after=self._reports_after)
        self._say(pb.PlayRequest(hello=hello))
        call = play(self._requests(), metadata=(("authorization", f"Bearer {self._token}"),))
        try:
            for message in call:
                if self._hear(message):
                    call.cancel()
        except grpc.RpcError:
            pass
        finally:
            self._say(None)

    def _hear(self, message: pb.PlayResponse) -> bool:
        """Handle a message. Return True if the bot should disconnect."""
        now = pb.PlayRequest()
        if message.HasField("heartbeat"):
            now.heartbeat = message.heartbeat
        numbers = [each.invitation_id for each in message.invitations]
        if self._manner == "declines":
            now.declined.extend(numbers)
        elif self._manner != "ignores":
            now.ready.extend(pb.Ready(invitation_id=number) for number in numbers)
        if now.ByteSize():
            self._say(now)
        if message.HasField("welcome") and self._reports_after is None:
            self._reports_after = message.welcome.log.head.size
        for report in message.reports:
            self._reports_after = report.entry.number
        if self._manner == "leaves":
            return bool(message.starts or message.decisions)
        if message.decisions:
            answers = [
                pb.Answer(match_id=each.match_id, decision_id=each.decision_id, action=each.legal[-1])
                for each in message.decisions
            ]
            self._say(pb.PlayRequest(answers=answers), SECONDS)
        return False

    def _say(self, request: pb.PlayRequest | None, after: float = 0.0) -> None:
        with self._changed:
            due = time.monotonic() + after
            place = len(self._due)
            while place and self._due[place - 1][0] > due:
                place -= 1
            self._due.insert(place, (due, request))
            self._changed.notify()

    def _requests(self) -> Iterator[pb.PlayRequest]:
        while True:
            with self._changed:
                while not self._due or self._due[0][0] > time.monotonic():
                    self._changed.wait(self._due[0][0] - time.monotonic() if self._due else None)
                request = self._due.popleft()[1]
            if request is None:
                return
            yield request


address, name, capacity, manner = sys.argv[1:]
with grpc.insecure_channel(address) as channel:
    token = bots_pb2_grpc.BotServiceStub(channel).RegisterBot(bots_pb2.RegisterBotRequest(name=name)).token
bot = TroubleBot(address, token, int(capacity), manner)
while True:
    bot.attend()
    time.sleep(1.0)
