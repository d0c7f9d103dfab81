"""A bot at several nodes of one store, with real sockets and through every entry point of the package.

conformance/every_node contains the conversations about nodes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import grpc
import pytest
from arena_client import Bot, Decision, TakenOverError, connect, play
from arena_client.channel import MOST_NODES, node_addresses
from arena_client.inbox import Delivery, Inbox
from arena_client.session import Progress, Session
from arena_client.v1 import play_pb2
from client_tests.peer import (
    PATIENCE,
    QUIET_RUN,
    First,
    Peer,
    Playing,
    Script,
    Talk,
    asks,
    invites,
    reports,
    starts,
    welcome,
)

pytestmark = pytest.mark.process


class Nodes:
    """Peers that share their tokens, and list each other in their welcomes."""

    def __init__(self, *scripts: list[Script]) -> None:
        tokens: dict[str, str] = {}
        self.peers = [Peer(each, tokens=tokens) for each in scripts]

    def __enter__(self) -> Nodes:
        self._stack = ExitStack()
        for peer in self.peers:
            self._stack.enter_context(peer)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def greet(self, number: int) -> play_pb2.PlayResponse:
        """Return the welcome of a node, which lists all nodes."""
        greeting = welcome()
        greeting.welcome.node = number
        for other, peer in enumerate(self.peers, 1):
            greeting.welcome.nodes.add(number=other, address=f":{peer.port}" if other == 1 else peer.address)
        return greeting


class Later(First):
    """A bot that plays the first legal action after a short wait in the event loop."""

    async def decide(self, decision: Decision) -> int:  # type: ignore[override]
        await asyncio.sleep(0.01)
        return decision.legal[0]


def play_in_loop(bot: Bot, address: str, **told: Any) -> None:
    asyncio.run(play(bot, address, **told))


def iterate(bot: Bot, address: str, **told: Any) -> None:
    """Play the first legal action of every decision that `connect` yields."""

    async def program() -> None:
        async with connect(bot, address, **told) as decisions:
            async for decision in decisions:
                await decision.answer(decision.legal[0])

    asyncio.run(program())


FACES: dict[str, tuple[type[Bot], Callable[..., None]]] = {
    "run": (First, QUIET_RUN),
    "run async": (Later, QUIET_RUN),
    "play": (First, play_in_loop),
    "play async": (Later, play_in_loop),
    "connect": (First, iterate),
}
"""The package's entry points, each with a bot class and the function that plays."""
every_face = pytest.mark.parametrize("face", FACES)


def begin(face: str, capacity: int, nodes: Nodes, token_file: Path, **told: Any) -> Playing:
    make, by = FACES[face]
    return Playing(make(capacity=capacity, version="1"), nodes.peers[0].address, token_file, by, **told)


def told_capacity(talk: Talk, capacity: int) -> None:
    """Wait until the bot announces this capacity to the node."""
    while talk.next().capacity != capacity:
        pass


def plays(talk: Talk, match: int) -> Iterator[play_pb2.PlayResponse]:
    """Play a match with one decision, up to its report."""
    yield invites(match)
    while not (said := talk.next()).ready:
        pass
    assert [each.invitation_id for each in said.ready] == [match]
    yield starts(match)
    yield asks((match, 1))
    while not (said := talk.next()).answers:
        pass
    assert [(each.match_id, each.action) for each in said.answers] == [(match, 0)]


def ends(talk: Talk) -> None:
    """Wait until the bot has closed its side of the stream, or has ended."""
    for said in talk.requests:
        assert not said.leave


def takes_over(talk: Talk) -> None:
    talk.fail(grpc.StatusCode.FAILED_PRECONDITION, "another connection of bot took over", "TAKEN_OVER")


@every_face
def test_a_bot_plays_at_every_node_with_its_part_of_the_capacity(tmp_path: Path, face: str) -> None:
    both = Barrier(2)

    def script(number: int, share: int) -> Script:
        def serve(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
            assert talk.next().hello.capacity == (7 if number == 1 else 0)
            yield nodes.greet(number)
            told_capacity(talk, share)
            yield from plays(talk, number)
            yield reports(number)
            both.wait(PATIENCE)
            if number == 2:
                ends(talk)
            takes_over(talk)

        return serve

    nodes = Nodes([script(1, 4)], [script(2, 3)])
    with nodes, pytest.raises(TakenOverError):
        begin(face, 7, nodes, tmp_path / "token").result()
    assert [peer.streams for peer in nodes.peers] == [1, 1]
    assert [len(peer.registrations) for peer in nodes.peers] == [1, 0]


@every_face
def test_a_node_that_vanishes_costs_its_own_matches_and_is_dialled_again(tmp_path: Path, face: str) -> None:
    def first(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield nodes.greet(1)
        told_capacity(talk, 4)
        told_capacity(talk, 8)  # the other node has vanished
        told_capacity(talk, 4)  # and has returned
        yield from plays(talk, 1)
        yield reports(1)
        takes_over(talk)

    def vanishing(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield nodes.greet(2)
        told_capacity(talk, 4)
        yield from plays(talk, 2)
        talk.fail(grpc.StatusCode.UNAVAILABLE, "gone")

    def again(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        assert talk.next().hello.capacity == 0
        yield nodes.greet(2)
        ends(talk)

    nodes = Nodes([first], [vanishing, again])
    with nodes, pytest.raises(TakenOverError):
        begin(face, 8, nodes, tmp_path / "token").result()
    assert nodes.peers[1].streams == 2


async def stop_play(bot: Bot, address: str, asked: Event, **told: Any) -> None:
    playing = asyncio.create_task(play(bot, address, **told))
    await asyncio.to_thread(asked.wait, PATIENCE)
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing


async def stop_iterating(bot: Bot, address: str, asked: Event, **told: Any) -> None:
    async with connect(bot, address, **told) as decisions:
        for _ in range(2):
            await (decision := await anext(decisions)).answer(decision.legal[0])
        await asyncio.to_thread(asked.wait, PATIENCE)


@pytest.mark.parametrize(("make", "stop"), [(First, stop_play), (Later, stop_play), (First, stop_iterating)])
def test_a_bot_leaves_every_node_in_order(
    tmp_path: Path, make: type[Bot], stop: Callable[..., Coroutine[None, None, None]]
) -> None:
    both, asked = Barrier(2), Event()
    left: list[int] = []

    def script(number: int) -> Script:
        def serve(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
            talk.next()
            yield nodes.greet(number)
            told_capacity(talk, 4)
            yield from plays(talk, number)
            both.wait(PATIENCE)
            asked.set()
            while not talk.next().leave:
                pass
            left.append(number)

        return serve

    nodes = Nodes([script(1)], [script(2)])
    with nodes:
        bot = make(capacity=8, version="1")
        asyncio.run(stop(bot, nodes.peers[0].address, asked, token_file=tmp_path / "token"))
    assert sorted(left) == [1, 2]


@pytest.mark.parametrize("by", [QUIET_RUN, play_in_loop])
def test_a_bot_decides_at_once_about_what_several_nodes_ask(tmp_path: Path, by: Callable[..., None]) -> None:
    asked, sent, answered = Event(), Barrier(3), Barrier(2)
    batches: list[set[int]] = []

    class Batches(First):
        def decide_many(self, decisions: Sequence[Decision]) -> Iterator[int]:
            batches.append({each.match_id for each in decisions})
            if len(batches) == 1:
                asked.set()
                sent.wait(PATIENCE)
            return iter([each.legal[0] for each in decisions])

    def script(number: int) -> Script:
        def serve(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
            talk.next()
            yield nodes.greet(number)
            told_capacity(talk, 4)
            yield starts(number, 10 + number)
            if number == 1:
                yield asks((11, 1))
            assert asked.wait(PATIENCE)
            yield asks((number, 1), heartbeat=7)
            while talk.next().heartbeat != 7:
                pass
            sent.wait(PATIENCE)
            said = talk.next()
            while number not in (answered_here := {each.match_id for each in said.answers}):
                said = talk.next()
            assert answered_here == {number}
            answered.wait(PATIENCE)
            if number == 2:
                ends(talk)
            takes_over(talk)

        return serve

    nodes = Nodes([script(1)], [script(2)])
    with nodes, pytest.raises(TakenOverError):
        Playing(Batches(capacity=8), nodes.peers[0].address, tmp_path / "token", by).result()
    assert batches == [{11}, {1, 2}]


async def takes_two_at_once() -> None:
    inbox, progress = Inbox(), Progress()
    first, second, third = (
        Delivery(Session(First(), welcome().welcome, progress, lambda request: None), asks((match, 1)), 0.0)
        for match in (1, 2, 3)
    )

    async def read() -> Delivery | None:
        delivery = await inbox.get()
        assert delivery is not None
        assert {each.match_id for each in inbox.gather(delivery).message.decisions} == {1, 2}
        return await inbox.get()

    reading = asyncio.create_task(read())
    await asyncio.sleep(0)
    inbox.put(first)
    asyncio.get_running_loop().call_soon(inbox.put, second)  # after the bot was woken, and before it runs
    for _ in range(5):
        await asyncio.sleep(0)
    assert not reading.done()
    inbox.put(third)
    assert await reading is third


def test_a_wake_up_for_what_a_bot_has_taken_already_does_not_end_it() -> None:
    asyncio.run(takes_two_at_once())


def test_a_list_of_very_many_nodes_is_cut_off_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    nodes = [play_pb2.Node(number=each, address=f":{each}") for each in range(1, 1001)]
    assert node_addresses(nodes, "here:50051") == {each: f"here:{each}" for each in range(1, MOST_NODES + 1)}
    why = "node 65 at ':65': a bot connects to 64 nodes at most (and 935 more)"
    assert [each.getMessage() for each in caplog.records] == [
        f"skipped in the server's list of nodes: {why}; please tell its operator"
    ]
