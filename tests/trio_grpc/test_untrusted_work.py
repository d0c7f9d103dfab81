"""Processor time of peers without a token, over real sockets. The server refuses or slows them, and bots continue
undisturbed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from time import thread_time
from typing import Any, Final

import grpc
import pytest
import trio
from google.rpc import error_details_pb2, status_pb2

from tests.trio_grpc.echo import GET, SAY, EchoStream, Item, Stub, service
from tests.trio_grpc.grpc_rig import echo_service, in_thread, serving
from tests.trio_grpc.raw_http2 import (
    EMPTY,
    END_STREAM,
    Answer,
    Kind,
    RawConnection,
    frame,
    message,
)
from trio_grpc.grpc.call import Call, CallRefused, bearer
from trio_grpc.limits.settings import TransportSettings

pytestmark = pytest.mark.process

EXHAUSTED: Final = 8
UNAUTHENTICATED: Final = 16
CALM: Final = 11
"""The code ENHANCE_YOUR_CALM (RFC 9113, section 7)."""
TOKEN: Final = ("authorization", "Bearer good")
GUESS: Final = ("authorization", "Bearer bad")


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fill a budget within one second, and forgive debts within two."""
    monkeypatch.setattr("trio_grpc.limits.work_budget.SAVED", 1.0)
    monkeypatch.setattr("trio_grpc.limits.work_budget.MAX_DEBT", 2.0)


def burn(seconds: float) -> None:
    end = thread_time() + seconds
    while thread_time() < end:
        pass


class Dear:
    """A service with one method, which uses much processor time."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def Get(self, _: object, __: Call) -> Item:
        burn(self._seconds)
        return Item()


def authenticating(seconds: float) -> Callable[[EchoStream], Any]:
    async def handler(stream: EchoStream) -> None:
        """A service that checks the token with this much processor time and then echoes."""
        burn(seconds)
        if bearer(stream) != "good":
            raise CallRefused(grpc.StatusCode.UNAUTHENTICATED, "no such token")
        stream.trust()
        while (received := await stream.receive()) is not None:
            await stream.send(Item(number=received.number))

    return handler


def served(client: Callable[[str], Any], percent: float, call: float = 0.02, check: float = 0.0) -> Any:
    """Return the result of a client that blocks its thread. The arguments set the seconds of a call and of a token
    check.
    """

    async def run() -> Any:
        dear = service(Dear(call))
        settings = TransportSettings(work_untrusted=percent)
        async with serving(dear, echo_service(authenticating(check)), settings=settings) as address:
            return await in_thread(client, address)

    return trio.run(run)


def play(connection: RawConnection, token: tuple[str, str]) -> Answer:
    """Open a stream and send a number. Return the stream after the server's answer or the stream's end."""
    stream = connection.open(SAY, token)
    connection.data(stream, message(Item(number=5).SerializeToString()))
    answer = connection.answers[stream]
    connection.until(lambda: answer.messages or answer.over)
    return answer


def spend(address: str) -> Answer:
    """Make several concurrent calls on a separate connection until the server refuses one. Return the refusal."""
    with RawConnection(address) as connection:
        return refused(connection)


def refused(connection: RawConnection) -> Answer:
    """Make concurrent calls until the server refuses one. Return the refusal."""
    for _ in range(10):
        streams = [connection.stream() for _ in range(7)]
        data = (frame(Kind.DATA, END_STREAM, stream, EMPTY) for stream in streams)
        connection.send(*(connection.opening(stream, GET) for stream in streams), *data)
        for answer in [connection.outcome(stream) for stream in streams]:
            if answer.status:
                return answer
    raise AssertionError("nothing was refused")


@pytest.mark.usefixtures("hurry")
def test_who_has_spent_the_budget_is_refused_told_when_to_come_again_and_served_then() -> None:
    def client(address: str) -> None:
        refusal = spend(address)
        assert refusal.status == EXHAUSTED
        text = refusal.headers["grpc-message"]
        assert text.startswith("calls without a valid token from this address have 10 %25 of a core")
        seconds = int(text.split()[-2])
        assert 1 <= seconds <= 2
        time.sleep(seconds)
        with RawConnection(address) as connection:
            assert connection.call(GET).status == 0

    served(client, 10.0)


@pytest.mark.usefixtures("hurry")
def test_a_refusal_has_its_advice_in_a_form_for_programs() -> None:
    def client(address: str) -> None:
        with grpc.insecure_channel(address) as channel:
            stub = Stub(channel)
            calls: list[Any] = [stub.Get.future(Item(), timeout=30) for _ in range(80)]
            first = next(call for call in calls if call.code() is grpc.StatusCode.RESOURCE_EXHAUSTED)
            trailers = dict(first.trailing_metadata())
        detail, _ = status_pb2.Status.FromString(trailers["grpc-status-details-bin"]).details
        advice = error_details_pb2.RetryInfo()
        assert detail.Unpack(advice)
        assert 0 < advice.retry_delay.ToTimedelta().total_seconds() <= 2

    served(client, 10.0)


@pytest.mark.usefixtures("hurry")
def test_a_token_leaves_the_budget_of_its_address() -> None:
    """The token may be unchecked so far, or no longer valid."""

    def client(address: str) -> None:
        with RawConnection(address) as early, RawConnection(address) as late, RawConnection(address) as again:
            before = play(early, TOKEN)
            assert before.messages
            spend(address)
            for connection in (late, again):
                assert play(connection, TOKEN).messages
            early.data(1, message(Item(number=6).SerializeToString()))
            early.until(lambda: len(before.messages) == 2 or before.over)
            assert not before.over
            assert refused(early).status == EXHAUSTED, "without its token it is a stranger again"

    served(client, 10.0)


@pytest.mark.usefixtures("hurry")
def test_whose_token_is_valid_gets_back_what_looking_it_up_took() -> None:
    def client(address: str) -> list[bool]:
        answered = []
        for _ in range(30):
            with RawConnection(address) as connection:
                answered.append(bool(play(connection, TOKEN).messages))
        return answered

    began = time.monotonic()
    assert all(served(client, 0.1, check=0.02))
    assert time.monotonic() - began < 10, "each would have to wait for most of a second"


@pytest.mark.usefixtures("hurry")
def test_guesses_of_tokens_are_charged() -> None:
    def client(address: str) -> float:
        began = time.monotonic()
        with RawConnection(address) as connection:
            for _ in range(12):
                assert play(connection, GUESS).status == UNAUTHENTICATED
        return time.monotonic() - began

    assert served(client, 10.0, check=0.02) > 0.8, "together 0.24 s, and a second brings 0.1 s"


@pytest.mark.usefixtures("hurry")
def test_who_goes_on_calling_is_disconnected_also_with_a_valid_token_in_another_call() -> None:
    def client(address: str) -> int | None:
        with RawConnection(address) as connection:
            assert play(connection, TOKEN).messages
            for _ in range(50):
                streams = [connection.stream() for _ in range(7)]
                connection.send(*(connection.opening(stream, GET, end=True) for stream in streams))
                for stream in streams:
                    connection.until(lambda answer=connection.answers[stream]: answer.over)  # type: ignore[misc]
            return connection.goaway_code

    assert served(client, 0.5) == CALM
