"""A bot at several nodes of one store: it connects to all, and divides its capacity among them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from threading import Barrier, Event
from time import monotonic

import grpc
import pytest
from arena_client import Decision, TakenOverError, connection
from arena_client.channel import MOST_NODES, node_addresses
from arena_client.inbox import Delivery, Inbox
from arena_client.session import Progress, Session
from arena_client.v1 import play_pb2
from client_tests.peer import PATIENCE, First, Peer, Playing, Script, Talk, asks, invites, reports, starts, welcome

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

    def greet(self, number: int, without: int | None = None) -> play_pb2.PlayResponse:
        """Return the welcome of a node, which lists all nodes but the one with the number `without`."""
        greeting = welcome()
        greeting.welcome.node = number
        for other, peer in enumerate(self.peers, 1):
            if other == without:
                continue
            greeting.welcome.nodes.add(number=other, address=f":{peer.port}" if other == 1 else peer.address)
        return greeting


class Counts(First):
    """A bot that records its results."""

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity=capacity)
        self.results: list[int] = []

    def on_match_end(self, report: play_pb2.MatchReport) -> None:
        self.results.append(report.match_id)


def told_capacity(talk: Talk, capacity: int) -> None:
    """Wait until the bot has this capacity for the node."""
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


def test_a_bot_plays_at_every_node_with_its_part_of_the_capacity(tmp_path: Path) -> None:
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
        Playing(First(capacity=7), nodes.peers[0].address, tmp_path / "token").result()
    assert [peer.streams for peer in nodes.peers] == [1, 1]
    assert [len(peer.registrations) for peer in nodes.peers] == [1, 0]


def test_a_node_that_vanishes_costs_its_own_matches_and_is_dialled_again(tmp_path: Path) -> None:
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
        Playing(First(capacity=8), nodes.peers[0].address, tmp_path / "token").result()
    assert nodes.peers[1].streams == 2


def test_a_run_does_not_wait_for_the_matches_of_a_node_that_stays_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "FORGET_AFTER", 0.1)

    def first(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield nodes.greet(1)
        told_capacity(talk, 0)  # the only match is at the node that vanished
        told_capacity(talk, 1)
        yield from plays(talk, 1)
        yield reports(1)
        ends(talk)

    def vanishing(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield nodes.greet(2)
        yield from plays(talk, 2)
        talk.fail(grpc.StatusCode.UNAVAILABLE, "gone")

    def away(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.fail(grpc.StatusCode.UNAVAILABLE, "gone")
        yield from ()

    nodes = Nodes([first], [vanishing, away])
    bot = Counts(4)
    with nodes:
        Playing(bot, nodes.peers[0].address, tmp_path / "token", matches=1).result()
    assert bot.results == [1]


def test_one_place_moves_to_another_node_after_a_match(tmp_path: Path) -> None:
    def first(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        assert talk.next().hello.capacity == 1
        yield nodes.greet(1)
        yield invites(1)
        while not talk.next().ready:
            pass
        yield starts(1)
        told_capacity(talk, 0)  # so the node invites it to no other match there
        yield reports(1)
        ends(talk)

    def second(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        assert talk.next().hello.capacity == 0
        yield nodes.greet(2)
        told_capacity(talk, 1)
        yield from plays(talk, 2)
        yield reports(2)
        ends(talk)

    nodes = Nodes([first], [second])
    bot = Counts(1)
    with nodes:
        Playing(bot, nodes.peers[0].address, tmp_path / "token", matches=2).result()
    assert bot.results == [1, 2]


def test_a_place_without_a_match_moves_and_stays_longer_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "PLACE_WAIT", 0.1)
    monkeypatch.setattr(connection, "PLACE_LOOK", 0.01)
    moved: list[float] = []

    def first(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield nodes.greet(1)
        for capacity in (0, 1, 0):
            told_capacity(talk, capacity)
            moved.append(monotonic())
        takes_over(talk)

    def second(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield nodes.greet(2)
        ends(talk)

    nodes = Nodes([first], [second])
    with nodes, pytest.raises(TakenOverError):
        Playing(Counts(1), nodes.peers[0].address, tmp_path / "token").result()
    away, back, again = moved
    assert back - away > 0.15
    assert again - back > 0.35


def test_a_node_that_another_does_not_list_yet_is_dialled_once(tmp_path: Path) -> None:
    greeted = Event()

    def first(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield nodes.greet(1)
        ends(talk)

    def behind(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield nodes.greet(2, without=3)
        greeted.set()
        ends(talk)

    def slow(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        assert greeted.wait(PATIENCE)
        yield nodes.greet(3)
        told_capacity(talk, 1)
        yield from plays(talk, 3)
        yield reports(3)
        ends(talk)

    nodes = Nodes([first], [behind], [slow])
    with nodes:
        Playing(Counts(3), nodes.peers[0].address, tmp_path / "token", matches=1).result()
    assert [peer.streams for peer in nodes.peers] == [1, 1, 1]


def test_a_report_that_two_nodes_send_arrives_once(tmp_path: Path) -> None:
    sent = Event()

    def first(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield nodes.greet(1)
        assert sent.wait(PATIENCE)
        yield reports(5)
        yield from plays(talk, 1)
        yield reports(1)
        ends(talk)

    def second(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield nodes.greet(2)
        yield reports(5)
        yield reports(5)
        sent.set()
        ends(talk)

    nodes = Nodes([first], [second])
    bot = Counts(8)
    with nodes:
        Playing(bot, nodes.peers[0].address, tmp_path / "token", matches=2).result()
    assert sorted(bot.results) == [1, 5]


def test_a_bot_decides_at_once_about_what_several_nodes_ask(tmp_path: Path) -> None:
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
        Playing(Batches(capacity=8), nodes.peers[0].address, tmp_path / "token").result()
    assert batches == [{11}, {1, 2}]


@pytest.mark.parametrize(
    ("listed", "used", "why"),
    [
        ([(1, ":7"), (2, "")], {1: "here:7"}, "node 2 at '': not HOST:PORT"),
        ([(1, ":7"), (2, "there")], {1: "here:7"}, "node 2 at 'there': not HOST:PORT"),
        ([(0, "there:8"), (1, ":7")], {1: "here:7"}, "node 0 at there:8: numbers start from 1"),
        ([(1, ":7"), (1, ":8")], {1: "here:7"}, "node 1 at here:8: its number or address is listed twice"),
        ([(1, ":7"), (2, "here:7")], {1: "here:7"}, "node 2 at here:7: its number or address is listed twice"),
        (
            [(each, f":{each}") for each in range(1, 1001)],
            {each: f"here:{each}" for each in range(1, MOST_NODES + 1)},
            "node 65 at here:65: a bot connects to 64 nodes at most (and 935 more)",
        ),
    ],
)
def test_unusable_entries_of_the_list_are_skipped_with_a_warning(
    listed: list[tuple[int, str]], used: dict[int, str], why: str, caplog: pytest.LogCaptureFixture
) -> None:
    nodes = [play_pb2.Node(number=number, address=address) for number, address in listed]
    assert node_addresses(nodes, "here:50051") == used
    assert [each.getMessage() for each in caplog.records] == [
        f"skipped in the server's list of nodes: {why}; please tell its operator"
    ]


def test_a_bot_plays_on_with_a_list_of_useless_entries(tmp_path: Path) -> None:
    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        greeting = nodes.greet(1)
        for number, address in ((0, "localhost:1"), (0, ""), (1, "localhost:2"), (2, ""), (3, "no port"), (4, ":0")):
            greeting.welcome.nodes.add(number=number, address=address)
        yield greeting
        yield from plays(talk, 1)
        yield reports(1)
        ends(talk)

    nodes = Nodes([script])
    bot = Counts(2)
    with nodes:
        Playing(bot, nodes.peers[0].address, tmp_path / "token", matches=1).result()
    assert bot.results == [1]


def test_a_list_without_the_number_of_the_answering_node_is_not_used(tmp_path: Path) -> None:
    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        assert talk.next().hello.capacity == 1
        greeting = nodes.greet(1)
        greeting.welcome.node = 0
        yield greeting
        yield from plays(talk, 1)
        yield reports(1)
        ends(talk)

    nodes = Nodes([script], [])
    bot = Counts(1)
    with nodes:
        Playing(bot, nodes.peers[0].address, tmp_path / "token", matches=1).result()
    assert (bot.results, nodes.peers[1].streams) == ([1], 0)


def test_a_node_that_moved_is_dialled_at_its_new_address(tmp_path: Path) -> None:
    moved = Event()

    def first(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield nodes.greet(1, without=3)
        told_capacity(talk, 1)
        assert moved.wait(PATIENCE)
        talk.fail(grpc.StatusCode.UNAVAILABLE, "restarts")

    def again(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        greeting = nodes.greet(1)
        del greeting.welcome.nodes[1]
        greeting.welcome.nodes[1].number = 2
        yield greeting
        ends(talk)

    def old(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield nodes.greet(2, without=3)
        told_capacity(talk, 1)
        moved.set()
        talk.fail(grpc.StatusCode.UNAVAILABLE, "moves")

    def away(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.fail(grpc.StatusCode.UNAVAILABLE, "moved")
        yield from ()

    def new(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        greeting = nodes.greet(2)
        del greeting.welcome.nodes[1]
        greeting.welcome.nodes[1].number = 2
        yield greeting
        told_capacity(talk, 1)
        takes_over(talk)

    nodes = Nodes([first, again], [old, away], [new])
    with nodes, pytest.raises(TakenOverError):
        Playing(First(capacity=2), nodes.peers[0].address, tmp_path / "token").result()
    assert nodes.peers[2].streams


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


def test_the_list_of_nodes_may_change_while_a_bot_plays(tmp_path: Path) -> None:
    come, gone = Event(), Event()

    def lists(*numbers: int) -> play_pb2.PlayResponse:
        wanted = [play_pb2.Node(number=each, address=nodes.peers[each - 1].address) for each in numbers]
        return play_pb2.PlayResponse(nodes=wanted)

    def first(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield nodes.greet(1, without=3)
        told_capacity(talk, 3)
        yield lists(1, 2, 3)
        told_capacity(talk, 2)
        left = lists(1, 3)
        left.heartbeat = 7
        yield left
        while talk.next().heartbeat != 7:
            pass
        come.set()
        told_capacity(talk, 3)  # the second node has left
        gone.set()
        yield from plays(talk, 1)
        yield reports(1)
        takes_over(talk)

    def leaves(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield nodes.greet(2, without=3)
        told_capacity(talk, 2)
        assert come.wait(PATIENCE)
        talk.fail(grpc.StatusCode.UNAVAILABLE, "drained")

    def comes(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        assert talk.next().hello.capacity == 0
        yield nodes.greet(3, without=2)
        told_capacity(talk, 3)
        assert gone.wait(PATIENCE)
        ends(talk)

    nodes = Nodes([first], [leaves], [comes])
    with nodes, pytest.raises(TakenOverError):
        Playing(First(capacity=6), nodes.peers[0].address, tmp_path / "token").result()
    assert [peer.streams for peer in nodes.peers] == [1, 1, 1]
