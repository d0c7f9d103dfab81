"""The metrics of a server for Prometheus: those of real matches over a real socket, and invalid requests."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
import trio
from prometheus_client.parser import text_string_to_metric_families

from arena.api import documents
from arena.api.documents import MOST, Document, Documents, serve_documents
from arena.api.metrics import METRICS, metric_documents, troubles
from arena.durations import BOUNDS, Durations
from arena.match.inputs import Acted
from tests.server.server_rig import GAME, Bot, MemoryStore, answer, replay_of, running

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]


@asynccontextmanager
async def served(them: Documents) -> AsyncIterator[int]:
    async with trio.open_nursery() as nursery:
        yield await nursery.start(partial(serve_documents, "127.0.0.1:0", them))
        nursery.cancel_scope.cancel()


async def ask(port: int, sent: bytes) -> bytes:
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        await stream.send_all(sent)
        received = b""
        try:
            while piece := await stream.receive_some(65536):
                received += piece
        except trio.BrokenResourceError:
            pass
        return received


def hello(accepted: str) -> Document:
    return Document(f"hello {accepted}".encode(), "text/plain")


async def test_a_document_is_served_with_its_type_and_length() -> None:
    async with served({"/hello": hello}) as port:
        answer = await ask(port, b"GET /hello?x=1 HTTP/1.1\r\nhost: a\r\naccept: text/plain\r\n\r\n")
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 OK\r\n")
        assert b"content-length: 16" in head.lower()
        assert body == b"hello text/plain"
        answer = await ask(port, b"HEAD /hello HTTP/1.1\r\nhost: a\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
        assert answer.endswith(b"\r\n\r\n")


async def test_what_is_asked_wrongly_is_refused_and_the_next_is_answered() -> None:
    async with served({"/hello": hello}) as port:
        for sent, status in (
            (b"POST /hello HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n", b"405 Method Not Allowed"),
            (b"GET /else HTTP/1.1\r\nhost: a\r\n\r\n", b"404 Not Found"),
            (b"GET /hello HTTP/1.1\r\n\r\n", b"400 Bad Request"),
            (b"nonsense\r\n\r\n", b"400 Bad Request"),
            (b"GET /" + b"x" * 8200, b"431 Request Header Fields Too Large"),
        ):
            assert (await ask(port, sent)).startswith(b"HTTP/1.1 " + status), sent[:40]
        assert b"allow: GET, HEAD" in await ask(port, b"PUT / HTTP/1.1\r\nhost: a\r\n\r\n")
        assert await ask(port, b"") == b""
        assert b"hello" in await ask(port, b"GET /hello HTTP/1.1\r\nhost: a\r\n\r\n")


async def test_who_is_silent_is_sent_away_at_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "DEADLINE", 0.05)
    async with served({"/hello": hello}) as port, await trio.open_tcp_stream("127.0.0.1", port) as silent:
        await silent.send_all(b"GET /hello")
        with trio.fail_after(60):
            assert await silent.receive_some(1) == b""


async def test_one_too_many_is_closed_and_who_comes_later_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "DEADLINE", 3600.0)
    async with served({"/hello": hello}) as port:
        silent = [await trio.open_tcp_stream("127.0.0.1", port) for _ in range(MOST)]
        assert await ask(port, b"GET /hello HTTP/1.1\r\nhost: a\r\n\r\n") == b""
        for each in silent:
            await each.send_all(b"GET /hello HTTP/1.1\r\nhost: a\r\n\r\n")
            assert await each.receive_some(15) == b"HTTP/1.1 200 OK"
            await each.aclose()
        with trio.fail_after(60):
            while not await ask(port, b"GET /hello HTTP/1.1\r\nhost: a\r\n\r\n"):
                await trio.lowlevel.checkpoint()  # the metrics count ended matches with a delay


def test_durations_are_counted_in_the_bucket_that_holds_them() -> None:
    durations = Durations()
    for seconds in (0.0, BOUNDS[0], BOUNDS[0] * 1.01, BOUNDS[-1] + 1):
        durations.add(seconds)
    assert [place for place, count in enumerate(durations.counts) if count] == [0, 1, len(BOUNDS)]
    assert durations.counts[0] == 2
    assert durations.seconds == 2.01 * BOUNDS[0] + BOUNDS[-1] + 1


def test_the_page_of_metrics_names_every_one() -> None:
    text = (ROOT / "docs" / "metrics.md").read_text()
    for name, meaning in METRICS.items():
        assert f"| `{name}` |" in text.replace("_total` |", "` |"), name
        assert meaning in text, name


def samples(text: str) -> dict[tuple[str, tuple[str, ...]], float]:
    """Return samples by name and the labels' values."""
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def scraped(served: Documents) -> dict[tuple[str, tuple[str, ...]], float]:
    answer = served["/metrics"]("text/plain")
    assert answer.media_type.startswith("text/plain")
    return samples(answer.content.decode())


async def test_every_metric_has_its_figures_and_health_its_troubles() -> None:
    async with running(MemoryStore()) as arena:
        served = metric_documents(arena)
        families = {each.name for each in text_string_to_metric_families(served["/metrics"]("").content.decode())}
        assert set(METRICS) <= families
        assert served["/metrics"]("application/openmetrics-text; version=1.0.0").content.endswith(b"# EOF\n")
        assert served["/healthz"]("").status == 200
        arena.turns._failing = True
        arena.stopping.set()
        unwell = served["/healthz"]("")
        assert unwell.status == 503
        assert json.loads(unwell.content) == {"healthy": False, "troubles": troubles(arena)}
        assert len(troubles(arena)) == 2
        assert scraped(served)["arena_healthy", ()] == 0


async def test_the_figures_are_those_of_what_was_played(nursery: trio.Nursery) -> None:
    store = MemoryStore()
    async with running(store) as arena:
        figures = partial(scraped, metric_documents(arena))
        before = figures()
        assert before.get(("arena_decisions_total", (GAME.name, "bot")), 0) == 0
        assert before["arena_healthy", ()] == 1
        bots = [Bot(store.register(name)) for name in ("ann", "ben")]
        for bot in bots:
            nursery.start_soon(bot.attend, arena)
        bots[0].answers = False
        await bots[0].until(lambda: bots[0].questions)
        during = figures()
        bots[0].answers = True
        bots[0].line.say([], [answer(bots[0].questions[-1])])
        assert during["arena_bots_connected", ()] == 2
        assert during["arena_matches_playing", (GAME.name,)] == 1
        assert during["arena_decisions_total", (GAME.name, "bot")] >= 1
        await bots[0].until(lambda: bots[0].reports)
        after = figures()
    ended = after["arena_matches_total", (GAME.name, "rated")]
    assert ended >= 1
    made = sum(isinstance(event, Acted) for event in replay_of(store).inputs)
    assert after["arena_decisions_total", (GAME.name, "bot")] >= made
    assert after["arena_think_seconds_count", (GAME.name,)] >= made
    assert after["arena_journal_commit_seconds_count", ()] >= made / 2
    assert after["arena_turn_seconds_count", ()] >= 2
    assert after["arena_turn_seconds_sum", ()] > 0
    assert ("process_cpu_seconds_total", ()) in after
