"""The webhook: messages to a real HTTP server that fails, is slow, redirects or is down, and the receiver's check."""

from __future__ import annotations

import json
import ssl
import subprocess
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import trio
from cryptography.exceptions import InvalidSignature
from structlog.testing import capture_logs
from trio.testing import wait_all_tasks_blocked

from arena.log.head import log_name
from arena.log.keys import HeadSigner, Signer
from arena.server.sessions.messages import NoticeKind
from arena.server.workers import webhook
from arena.server.workers.webhook import FILE, Webhook, WebhookError, file_of, webhook_address
from arena.store.base.errors import StoreUnusable
from tests.documents import ROOT, blocks
from tests.server.server_rig import Bot, Hall, HouseBot, MemoryStore
from tests.server.webhook_receiver import Receiver, receiving, status
from tests.waiting import until

KEY = Signer(bytes(32))
SIGNER = HeadSigner(log_name(KEY.public), KEY)
SOON = 0.02
"""Seconds before the first retry, instead of one second."""


def byte_by_byte(handler: BaseHTTPRequestHandler) -> None:
    """Send a response one byte at a time, forever."""
    try:
        while True:
            handler.wfile.write(b"x")
            time.sleep(0.01)
    except OSError:
        return


@asynccontextmanager
async def posting(address: str, directory: Path, file: str = FILE) -> AsyncIterator[Webhook]:
    """Run a webhook during the `with` block."""
    made = Webhook(address, directory / file, SIGNER, SOON)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(made.run)
        await wait_all_tasks_blocked()
        yield made
        nursery.cancel_scope.cancel()


def post(made: Webhook, count: int) -> None:
    for _ in range(count):
        made.post("bot_parked", {"bot": "käthe"})


def distinct(receiver: Receiver) -> list[tuple[str, int]]:
    """Return the series and number of each accepted message, without messages that were repeated after a stop."""
    return [*dict.fromkeys((message["series"], message["number"]) for message in [*receiver.accepted])]


def numbers(messages: list[dict[str, Any]]) -> list[int]:
    return [message["number"] for message in messages]


pytestmark = pytest.mark.process


async def test_messages_come_in_order_though_the_receiver_fails_and_redirects(tmp_path: Path) -> None:
    elsewhere = Receiver()
    with receiving(elsewhere) as other:
        receiver = Receiver(status(500), status(307, Location=other), status(302, Location=other))
        with receiving(receiver) as address, capture_logs() as logged:
            async with posting(address, tmp_path) as made:
                post(made, 3)
                until(lambda: len(receiver.accepted) == 3, "three messages")
    assert not elsewhere.got
    assert numbers(receiver.accepted) == [1, 2, 3]
    assert numbers([json.loads(body) for body, _ in receiver.got]) == [1, 1, 1, 1, 2, 3]
    message = receiver.accepted[0]
    assert list(message) == ["arena_webhook", "log", "series", "number", "kind", "at", "bot"]
    assert (message["log"], message["kind"], message["bot"]) == (SIGNER.log, "bot_parked", "käthe")
    [warning] = [line for line in logged if line["log_level"] == "warning"]
    assert (warning["number"], warning["error"]) == (1, "the receiver answered 500")
    assert "webhook delivered again" in [line["event"] for line in logged]


async def test_each_node_numbers_its_messages_in_a_series_of_its_own(tmp_path: Path) -> None:
    receiver = Receiver()
    with receiving(receiver) as address:
        for whole in (5, 10):
            async with (
                posting(address, tmp_path, file_of(1)) as first,
                posting(address, tmp_path, file_of(2)) as second,
            ):
                post(first, 2)
                post(second, 3)
                until(lambda whole=whole: len(distinct(receiver)) == whole, "messages of both")  # type: ignore[misc]
    by_series: dict[str, list[int]] = {}
    for series, number in distinct(receiver):
        by_series.setdefault(series, []).append(number)
    assert sorted(by_series.values()) == [[1, 2, 3, 4], [1, 2, 3, 4, 5, 6]]
    assert file_of(None) == file_of(1) == FILE


async def test_the_check_of_the_documentation_accepts_a_message_once_and_refuses_another_byte(tmp_path: Path) -> None:
    receiver = Receiver()
    with receiving(receiver) as address:
        async with posting(address, tmp_path) as made:
            post(made, 2)
            until(lambda: len(receiver.accepted) == 2, "two messages")
    [example] = [text for text in blocks((ROOT / "docs" / "log.md").read_text("utf-8"), "python") if "webhook" in text]
    assert sum(bool(line) for line in example.splitlines()) <= 12
    scope: dict[str, Any] = {}
    exec(example, scope)
    log, key, seen = SIGNER.log, KEY.public.hex(), scope["seen"]
    for body, signature in receiver.got:
        assert scope["new_message"](body, signature, log, key) == json.loads(body)
        assert scope["new_message"](body, signature, log, key) is None
    assert [*seen.values()] == [2]
    body, signature = receiver.got[1]
    for wrong in (body.replace(b"parked", b"barked"), body[:-1]):
        with pytest.raises(InvalidSignature):
            scope["new_message"](wrong, signature, log, key)


async def test_a_receiver_that_was_away_over_a_restart_gets_everything(tmp_path: Path) -> None:
    with receiving(Receiver()) as address:
        port = int(address.split(":")[2].split("/")[0])
    async with posting(address, tmp_path) as made:
        post(made, 2)
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600
    with (tmp_path / FILE).open("ab") as file:
        file.write(b'{"number":3,"kind":"bot_pa')  # incomplete because of a kill
    receiver = Receiver()
    async with posting(address, tmp_path) as made:
        post(made, 1)
        with receiving(receiver, port):
            until(lambda: len(receiver.accepted) == 3, "three messages")
    assert numbers(receiver.accepted) == [1, 2, 3]
    assert len({message["series"] for message in receiver.accepted}) == 1
    again = Receiver()
    async with posting(address, tmp_path) as made:
        post(made, 1)
        with receiving(again, port):
            until(lambda: 4 in numbers(again.accepted), "the next message")
    assert numbers(again.accepted) in ([4], [3, 4])  # The stop can come before the answer to the third is read.
    assert again.accepted[0]["series"] == receiver.accepted[0]["series"]


async def test_a_slow_receiver_holds_nobody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "TIMEOUT", 0.2)
    receiver = Receiver(byte_by_byte, lambda handler: time.sleep(0.5))
    with receiving(receiver) as address:
        async with posting(address, tmp_path) as made:
            until(lambda: threading.active_count() > 2, "the threads")
            post(made, 100)
            assert len(receiver.accepted) < 100, "a hundred messages take the receiver 50 s"
            until(lambda: len(receiver.accepted) == 100, "a hundred messages")
    assert numbers(receiver.accepted) == [*range(1, 101)]


async def test_only_so_many_messages_wait_and_only_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "MOST", 3)
    with receiving(Receiver()) as address:
        port = int(address.split(":")[2].split("/")[0])
    with capture_logs() as logged:
        async with posting(address, tmp_path) as made:
            post(made, 5)
    lost = [(line["first"], line["last"]) for line in logged if line["event"] == "messages to the webhook are lost"]
    assert lost == [(1, 1), (2, 2)]
    monkeypatch.setattr(webhook, "OLDEST", 0)
    receiver = Receiver()
    with capture_logs() as logged, receiving(receiver, port):
        async with posting(address, tmp_path) as made:
            until(lambda: any("lost" in line["event"] for line in logged), "the loss")
            monkeypatch.setattr(webhook, "OLDEST", 10**12)
            post(made, 1)
            until(lambda: receiver.accepted, "the next message")
    assert (logged[0]["first"], logged[0]["last"]) == (3, 5)
    assert numbers(receiver.accepted) == [6]


async def test_messages_wait_in_memory_while_the_file_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "APPENDED", 0)  # so that each change writes a new file
    folder = tmp_path / "data"
    folder.mkdir()
    with receiving(Receiver()) as address, capture_logs() as logged:
        pass
    with capture_logs() as logged:
        async with posting(address, folder) as made:
            folder.rename(tmp_path / "away")
            post(made, 2)
            until(lambda: sum("in memory only" in line["event"] for line in logged) == 2, "two errors")
            (tmp_path / "away").rename(folder)
            post(made, 1)
    assert numbers([*webhook.WaitingMessages(folder / FILE).messages]) == [1, 2, 3]


async def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    names = [str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")]
    request = ["openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-subj", "/CN=localhost", "-days", "1"]
    subprocess.run([*request, "-out", names[0], "-keyout", names[1]], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*names)
    receiver = Receiver()
    with receiving(receiver, context=context) as address, capture_logs() as logged:
        async with posting(address.replace("http:", "https:"), tmp_path) as made:
            post(made, 1)
            until(lambda: any("not delivered" in line["event"] for line in logged), "a failure")
    assert "certificate verify failed" in logged[0]["error"]
    assert not receiver.got


def test_a_file_of_something_else_is_refused_by_name_and_stays(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("a diary\n")
    with pytest.raises(StoreUnusable, match=r"webhook\.jsonl .* does not hold messages to a webhook .* move it away"):
        Webhook("https://club.example", tmp_path / FILE, SIGNER)
    assert (tmp_path / FILE).read_text() == "a diary\n"


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ("http://club.example/arena", "would leave this machine in clear text: use https"),
        ("http://localhost.example/", "would leave this machine in clear text"),
        ("https://ann:secret@club.example/", "leave them out; every message is signed"),
        ("ftp://club.example/", "is no address of a webhook, such as https://"),
        ("club.example", "is no address of a webhook"),
        ("https:///arena", "is no address of a webhook"),
        ("https://club.example:70000/", "is no address: Port out of range"),
        ("https://club.example/#room", "never sent: leave it out"),
        ("https://club.example/a b", "write them as %XX"),
        ("https://club.example/\r\nHost: x", "write them as %XX"),
    ],
)
def test_an_address_that_cannot_be_is_refused_by_name(wrong: str, named: str) -> None:
    with pytest.raises(WebhookError) as caught:
        webhook_address(wrong)
    assert named in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("right", ["https://club.example", "http://localhost:8/x", "http://127.0.0.2", "http://[::1]/"])
def test_https_or_this_machine(right: str) -> None:
    assert webhook_address(right).target in ("/", "/x")


@pytest.mark.virtual_clock
async def test_a_parked_bot_is_reported_with_the_leaf_of_its_last_match(
    hall: Hall, store: MemoryStore, ann: Bot, nursery: trio.Nursery, tmp_path: Path
) -> None:
    receiver = Receiver()
    with receiving(receiver) as address:
        async with hall.open(house_bots=[HouseBot("house-a")], house=True, webhook=address, data=tmp_path) as arena:
            ann.answers = False
            nursery.start_soon(ann.attend, arena)
            await ann.until(lambda: NoticeKind.PARKED in ann.kinds())
            until(lambda: receiver.accepted, "the message")
    [message] = receiver.accepted
    assert (message["kind"], message["bot"], message["matches"]) == ("bot_parked", "ann", [1, 2, 3])
    assert "in matches 1, 2 and 3, in a row" in message["reason"]
    leaf = json.loads(message["leaf"])
    assert (leaf["kind"], leaf["match"]) == ("rated", 3)
