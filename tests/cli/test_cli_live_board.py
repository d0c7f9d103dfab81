"""Parts of pages that change: rendered once for all viewers, sent whole and then as differences. Viewers that do not
read are disconnected.
"""

from __future__ import annotations

import json
import socket
from functools import partial
from typing import Any

import pytest
import structlog
import trio
from anycorn import serve
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import Message
from trio.testing import MockClock

from arena.web import serving
from arena.web.live.board import MOST_OF_ADDRESS, MOST_VIEWERS, RETRY, Board
from arena.web.live.event_stream import EventStream
from trio_grpc.http2.sockets import bind
from trio_grpc.limits.connection_limits import OpenByOrigin, origin_of


class Rig:
    """A board with rows that the test chooses. It counts its renderings."""

    def __init__(self, viewers: int = MOST_VIEWERS, of_origin: int = MOST_OF_ADDRESS) -> None:
        self.rows = {"a": "<tr>1</tr>", "b": "<tr>2</tr>"}
        self.rendered = 0
        self.board = Board(self._render)
        self.viewers = OpenByOrigin(viewers, of_origin)

    async def _render(self) -> dict[str, str]:
        self.rendered += 1
        return dict(self.rows)

    async def change(self, **rows: str) -> None:
        self.rows |= rows
        await self.board.refresh()


class Viewer:
    """A browser that watches a board and reads only when the test says so."""

    def __init__(self, rig: Rig, address: str = "192.0.2.1") -> None:
        self.stream = EventStream(rig.board, rig.viewers, origin_of(address))
        self.bodies: list[bytes] = []
        self.status = 0
        self.reading = trio.Event()
        self.reading.set()
        self.left = trio.Event()

    async def run(self) -> None:
        await self.stream({"type": "http", "method": "GET", "headers": []}, self._receive, self._send)

    async def _receive(self) -> Message:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        await self.reading.wait()
        self.status = message.get("status", self.status)
        self.bodies.append(message.get("body", b""))

    @property
    def sent(self) -> list[Any]:
        return [json.loads(body.partition(b"data: ")[2]) for body in self.bodies if body.startswith(b"event: rows")]


async def test_all_rows_come_first_then_those_that_changed_rendered_once_for_all(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    rig = Rig()
    viewers = [Viewer(rig) for _ in range(5)]
    for viewer in viewers:
        nursery.start_soon(viewer.run)
    await trio.sleep(2)
    await rig.change(b="<tr>3</tr>", c="<tr>4</tr>")
    await trio.sleep(2)
    before = rig.rendered
    await rig.board.refresh()
    await trio.sleep(2)
    assert rig.rendered == before + 1
    for viewer in viewers:
        assert b"retry: %d\n\n" % RETRY in viewer.bodies
        assert viewer.sent == [
            {"order": ["a", "b"], "rows": {"a": "<tr>1</tr>", "b": "<tr>2</tr>"}},
            {"order": ["a", "b", "c"], "rows": {"b": "<tr>3</tr>", "c": "<tr>4</tr>"}},
        ], "what did not change is not sent"
    assert all(one.bodies[2] is viewers[0].bodies[2] for one in viewers), "one message for all"
    assert rig.rendered == 3


async def test_who_is_slow_skips_what_came_between_and_has_all_rows_then(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    rig = Rig()
    viewer = Viewer(rig)
    nursery.start_soon(viewer.run)
    await trio.sleep(1)
    viewer.reading = trio.Event()
    for row in ("<tr>4</tr>", "<tr>5</tr>", "<tr>6</tr>"):
        await rig.change(a=row)
        await trio.sleep(1)
    viewer.reading.set()
    await trio.sleep(2)
    assert viewer.sent[1:] == [
        {"order": ["a", "b"], "rows": {"a": "<tr>4</tr>"}},
        {"order": ["a", "b"], "rows": {"a": "<tr>6</tr>", "b": "<tr>2</tr>"}},
    ]


async def test_a_viewer_that_leaves_is_forgotten(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    rig = Rig()
    viewer = Viewer(rig)
    nursery.start_soon(viewer.run)
    await trio.sleep(2)
    assert (rig.board.viewers, rig.viewers.count) == (1, 1)
    viewer.left.set()
    await trio.sleep(1)
    assert (rig.board.viewers, rig.viewers.count) == (0, 0)


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="only Linux can tell who takes nothing")
async def test_a_viewer_that_never_reads_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "UNREAD_LIMIT", 1.0)
    rig = Rig()
    rig.rows |= {"large": "x" * 4 * serving.UNREAD_BYTES}
    listening = bind("127.0.0.1:0")
    address = listening[0].getsockname()
    application = Starlette(routes=[Route("/", lambda _: EventStream(rig.board, rig.viewers, origin_of("192.0.2.1")))])
    over = trio.Event()
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            config = serving.configured(listening)
            await nursery.start(partial(serve, application, config, shutdown_trigger=over.wait))  # type: ignore[arg-type]
            with socket.create_connection(address) as lazy:
                lazy.sendall(b"GET / HTTP/1.1\r\nHost: arena\r\n\r\n")
                while not rig.viewers.count:
                    await trio.sleep(0.01)
                while rig.viewers.count:
                    await trio.sleep(0.05)
            assert rig.board.viewers == 0
            over.set()


async def test_a_board_that_cannot_be_rendered_keeps_its_viewers(
    nursery: trio.Nursery, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig()
    viewer = Viewer(rig)
    nursery.start_soon(viewer.run)
    await trio.sleep(1)
    with monkeypatch.context() as broken, structlog.testing.capture_logs() as said:
        broken.setattr(rig, "rows", None)
        await rig.board.refresh()
    assert [(line["event"], line["log_level"]) for line in said] == [("a part of a page was not rendered", "error")]
    await rig.change(b="<tr>8</tr>")
    await trio.sleep(1)
    assert viewer.sent[-1]["rows"] == {"b": "<tr>8</tr>"}
    viewer.left.set()


async def test_streams_are_limited_in_all_and_by_address_and_this_machine_is_free(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    rig = Rig(viewers=6, of_origin=2)
    addresses = ["2001:db8::1", "2001:db8::2", "2001:db8::3", *["127.0.0.1"] * 5]
    viewers = [Viewer(rig, address) for address in addresses]
    for viewer in viewers:
        nursery.start_soon(viewer.run)
        await trio.sleep(0.1)
    assert [viewer.status for viewer in viewers] == [200, 200, 503, 200, 200, 200, 200, 503]
    full = b"streams of events: 2 are open, the most at once of 2001:db8::/64; come back later\n"
    assert viewers[2].bodies[1:] == [full]
    assert viewers[7].bodies[1:] == [b"streams of events: 6 are open, the most at once; come back later\n"]
    for viewer in viewers:
        viewer.left.set()
    await trio.sleep(1)
    assert rig.viewers.count == 0
