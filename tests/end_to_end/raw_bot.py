"""A handwritten bot for tests that send messages no library would send."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

import grpc
from arena_client.v1 import play_pb2 as pb

PATIENCE = 120.0
"""Seconds after which a test fails."""


class Ended(Exception):  # noqa: N818 - an event, nobody's error
    """Error for a stream that has ended."""

    def __init__(self, code: grpc.StatusCode, text: str) -> None:
        super().__init__(code, text)
        self.code = code
        self.text = text


def channel_to(address: str) -> grpc.Channel:
    return grpc.insecure_channel(address, [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0)])


class RawBot:
    """A handwritten bot. It accepts every invitation, and the test sends its answers."""

    def __init__(
        self,
        address: str,
        token: str,
        *,
        capacity: int = 1,
        games: Sequence[str] = ("sixth_sense",),
        hello: bool = True,
        reports_after: int | None = None,
        patience: float = PATIENCE,
    ) -> None:
        self.address = address
        self.token = token
        self._channel = self.open_channel()
        self._out: SimpleQueue[Any] = SimpleQueue()
        metadata = (("authorization", f"Bearer {token}"),) if token else ()
        play = self._channel.stream_stream(
            "/arena.v1.PlayService/Play",
            request_serializer=lambda request: request if isinstance(request, bytes) else request.SerializeToString(),
            response_deserializer=pb.PlayResponse.FromString,
        )
        self._call: Any = play(iter(self._out.get, None), metadata=metadata, timeout=patience)
        self.accepts = True
        self.decisions: list[pb.Decision] = []
        """Decisions that the bot has not answered yet."""
        self.matches: set[int] = set()
        """Matches in which the bot has received a decision."""
        self.invitations: list[pb.Invitation] = []
        self.starts: list[pb.MatchStart] = []
        self.notices: list[pb.Notice] = []
        self.reports: list[pb.MatchReport] = []
        self.reports_after = reports_after
        """The log leaf of the bot's last report, or the size of the log before the first report."""
        self.pause = 0.0
        """Seconds for which the bot thinks before it answers."""
        self.rounds = 0
        self.answered = 0
        self.end: Ended | None = None
        self.error: grpc.RpcError | None = None
        """The error with which the stream ended, including trailers. None if it ended with OK."""
        self.thread: threading.Thread | None = None
        if hello:
            said = pb.Hello(games=games, capacity=capacity, client="raw", reports_after=reports_after)
            self.send(pb.PlayRequest(hello=said))

    def open_channel(self) -> grpc.Channel:
        """Return a channel to the bot's server."""
        return channel_to(self.address)

    def __repr__(self) -> str:
        ended = f"ended with {self.end.code.name} {self.end.text!r}" if self.end else "on its stream"
        told = [
            f"{pb.NoticeKind.Name(notice.kind).removeprefix('NOTICE_KIND_')}: {notice.text}" for notice in self.notices
        ]
        return (
            f"<{type(self).__name__} at {self.address} {ended}; in matches {sorted(self.matches)}, "
            f"{self.answered} answers, {len(self.decisions)} still due, {len(self.reports)} results, told {told[-3:]}>"
        )

    def send(self, request: pb.PlayRequest | bytes) -> None:
        self._out.put(request)

    def read(self) -> pb.PlayResponse:
        """Return the next message.

        Raises:
            Ended: the stream has ended.
        """
        try:
            message: pb.PlayResponse = next(self._call)
        except StopIteration:
            self.end = Ended(grpc.StatusCode.OK, "")
            raise self.end from None
        except grpc.RpcError as error:
            self.error = error
            self.end = Ended(self._call.code(), self._call.details())
            raise self.end from error
        self.invitations += message.invitations
        self.starts += message.starts
        self.decisions += message.decisions
        self.matches.update(each.match_id for each in message.decisions)
        self.notices += message.notices
        self.reports += message.reports
        if message.HasField("welcome"):
            size = message.welcome.log.head.size
            self.reports_after = size if self.reports_after is None else min(self.reports_after, size)
        for report in message.reports:
            self.reports_after = report.entry.number
        self.rounds += len(message.rounds)
        request = pb.PlayRequest()
        if message.HasField("heartbeat"):
            request.heartbeat = message.heartbeat
        if self.accepts:
            request.ready.extend(pb.Ready(invitation_id=each.invitation_id) for each in message.invitations)
        if request.ByteSize():
            self.send(request)
        return message

    def read_until(self, done: Callable[[], object]) -> None:
        while not done():
            self.read()

    def answer(self, *decisions: pb.Decision, action: int | None = None) -> None:
        self.send(
            pb.PlayRequest(
                answers=[
                    pb.Answer(
                        match_id=each.match_id,
                        decision_id=each.decision_id,
                        action=each.legal[-1] if action is None else action,
                    )
                    for each in decisions
                ]
            )
        )
        self.answered += len(decisions)

    def play_until(self, done: Callable[[], object]) -> None:
        """Answer every decision with the last legal action until a condition holds."""
        while not done():
            if self.decisions:
                time.sleep(self.pause)
                due, self.decisions = self.decisions, []
                self.answer(*due)
            self.read()

    def play_in_background(self) -> RawBot:
        """Answer decisions until the stream ends."""

        def play() -> None:
            with suppress(Ended):
                self.play_until(lambda: False)

        self.thread = threading.Thread(target=play)
        self.thread.start()
        return self

    @property
    def unsent(self) -> int:
        """Return the number of received messages that are unread."""
        return self._out.qsize()

    def connected(self) -> None:
        """Wait until the connection exists."""
        grpc.channel_ready_future(self._channel).result(PATIENCE)

    def say_goodbye(self) -> None:
        """Half-close the stream: the bot sends nothing more."""
        self._out.put(None)

    def last_word(self) -> Ended:
        """Return how the stream ended. Skip the messages before the end."""
        try:
            self.play_until(lambda: False)
        except Ended as ended:
            return ended
        raise AssertionError

    def close(self) -> None:
        """Close the connection."""
        self._call.cancel()
        self._out.put(None)
        if self.thread is not None:
            self.thread.join(PATIENCE)
        self._channel.close()
