"""`arena serve --web`: bots that play over a WebSocket behave like other bots, and only listed sites may open a
WebSocket.
"""

from __future__ import annotations

import os
import re
import secrets
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import trio
from arena_client.v1 import play_pb2 as pb
from starlette.datastructures import Headers
from trio.testing import MockClock

from arena.store.nodes import LEASE
from arena.web.playing.play_socket import (
    FIRST_CODE,
    LARGEST_FRAME,
    MOST_OF_ADDRESS,
    MOST_SOCKETS,
    OPENING_LIMIT,
    PlaySocket,
)
from arena.web.requests.sites import SiteRefused, Sites, site_names
from tests.cli.cli_rig import PATIENCE, arena
from tests.cli.test_cli_serve_web import Server, serving, until
from tests.cli.web_process_rig import browsing
from tests.cli.web_socket import Over, Refusal, Socket
from trio_grpc.grpc.outgoing_call import ANSWER_LIMIT

HELLO = {"hello": {"games": ["sixth_sense"], "capacity": 1, "client": "by hand"}}
QUICK = ("--seats", "2", "--patience", "0", "--luck", "off")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    data = tmp_path_factory.mktemp("play") / "data"
    with serving(data, *QUICK, "--debug", "--hello-timeout", "1", "--web-origin", "https://arena.example") as server:
        yield server


@pytest.fixture(scope="module")
def token(server: Server) -> str:
    """The token of a bot that sends only invalid messages."""
    return registered(server, "wrong")


def registered(server: Server, name: str, headers: Mapping[str, str] = MappingProxyType({})) -> str:
    with Socket(server.host, server.port, headers) as socket:
        socket.say({"register": {"name": name}})
        answer = socket.hear()
    assert answer["name"] == name, answer
    return str(answer["token"])


def reply(message: Any) -> dict[str, Any]:
    """Return a bot's reply to a message: Ready, an answer, or a heartbeat."""
    said: dict[str, Any] = {}
    if "heartbeat" in message:
        said["heartbeat"] = message["heartbeat"]
    if "invitations" in message:
        said["ready"] = [{"invitationId": each["invitationId"]} for each in message["invitations"]]
    if "decisions" in message:
        said["answers"] = [
            {"matchId": each["matchId"], "decisionId": each["decisionId"], "action": each["legal"][0]}
            for each in message["decisions"]
        ]
    return said


def until_report(socket: Socket, message: Any = None) -> Any:
    """Play on, from an unanswered message if there is one. Return the first report."""
    while True:
        message = message or socket.hear()
        assert isinstance(message, dict), message
        if "reports" in message:
            return message["reports"][0]
        if said := reply(message):
            socket.say(said)
        message = None


def test_a_bot_registers_plays_a_rated_match_and_leaves(server: Server) -> None:
    with Socket(server.host, server.port) as socket:
        socket.say({"register": {"name": "whole", "token": (token := f"arena_{secrets.token_urlsafe(32)}")}})
        assert socket.hear() == {"name": "whole", "token": token}
        socket.say({"token": token})
        socket.say(HELLO)
        assert socket.hear()["welcome"]["bot"] == "whole"
        report = until_report(socket)
        assert report["kind"] == "MATCH_KIND_RATED"
        assert report["rating"]["before"] == 1500
        socket.say({"leave": True})
        _, over = socket.end()
        assert over == Over(1000, "")
    assert '"bot": "whole"' in server.log
    assert "whole" in server.get("/bots/whole")[1]


def test_a_bot_that_speaks_protobuf_is_answered_so(server: Server) -> None:
    token = registered(server, "binary")
    with Socket(server.host, server.port) as socket:
        socket.say({"token": token})
        socket.say(pb.PlayRequest(hello=pb.Hello(games=["nullern"], capacity=1)).SerializeToString())
        reports = 0
        while not reports:
            message = pb.PlayResponse.FromString(socket.hear())
            reports = len(message.reports)
            said = pb.PlayRequest(
                ready=[pb.Ready(invitation_id=each.invitation_id) for each in message.invitations],
                answers=[
                    pb.Answer(match_id=each.match_id, decision_id=each.decision_id, action=each.legal[0])
                    for each in message.decisions
                ],
            )
            if said.ByteSize():
                socket.say(said.SerializeToString())


def test_a_bot_whose_connection_is_lost_comes_back_to_its_match_as_any_other(server: Server) -> None:
    token = registered(server, "lost")
    with Socket(server.host, server.port) as socket:
        socket.say({"token": token})
        socket.say(HELLO)
        while "decisions" not in (message := socket.hear()):
            if said := reply(message):
                socket.say(said)
        asked = message["decisions"][0]
    until(lambda: re.search(r'"bot": "lost".*"event": "bot gone"', server.log), "the server to notice")
    with Socket(server.host, server.port) as again:
        again.say({"token": token})
        again.say(HELLO)
        while "decisions" not in (message := again.hear()):
            pass
        assert message["decisions"][0]["decisionId"] == asked["decisionId"]
        again.say(reply(message))
        assert until_report(again)["matchId"] == asked["matchId"]


@pytest.mark.parametrize(
    ("frames", "code", "reason", "text"),
    [
        (['{"token": "arena_nobody"}'], 4016, "TOKEN_UNKNOWN", "no bot has this token"),
        (['{"token": "arena_a\\nb"}'], 4003, "BAD_MESSAGE", "the first frame is text with"),
        (["{}"], 4003, "BAD_MESSAGE", "the first frame is text with"),
        (["[" * 4000], 4003, "BAD_MESSAGE", "the frame is no JSON"),
        ([b"\x00\x01"], 4003, "BAD_MESSAGE", "the first frame is text with"),
        (['{"token": "' + "x" * 5000 + '"}'], 4003, "BAD_MESSAGE", "at most 4096 characters"),
        (['{"register": {"nam": "x"}}'], 4003, "BAD_MESSAGE", 'no field named "nam"'),
        (['{"register": {"name": "house-x"}}'], 4003, "NAME_NOT_ALLOWED", "house-x"),
        (["TOKEN", '{"helo": {}}'], 4003, "BAD_MESSAGE", 'no field named "helo"'),
        (["TOKEN", '{"capacity": "many"}'], 4003, "BAD_MESSAGE", "no PlayRequest in protobuf's JSON"),
        (["TOKEN", '{"capacity": 1}'], 4003, "BAD_MESSAGE", "the first message must hold a hello"),
        (["TOKEN", '{"hello": {"games": ["go"]}}'], 4009, "NO_SUCH_GAME", "the bot asked for go"),
        (["TOKEN", b"\xff\xff"], 4003, "BAD_MESSAGE", "cannot be parsed"),
        (["TOKEN"], 4004, "NO_HELLO", "no hello came within 1 s"),
    ],
)
def test_what_is_wrong_ends_it_with_the_status_that_grpc_has(
    server: Server, token: str, frames: list[Any], code: int, reason: str, text: str
) -> None:
    with Socket(server.host, server.port) as socket:
        for frame in frames:
            if frame == "TOKEN":
                frame = {"token": token}
            socket.say(frame)
        status, over = socket.end()
    assert over == (code, reason)
    assert status["code"] == code - 4000
    assert text in status["message"]
    details = {each["@type"].rpartition(".")[2]: each for each in status["details"]}
    assert details["ErrorInfo"]["reason"] == reason
    assert details["ErrorInfo"]["domain"] == "arena"
    assert ("RetryInfo" in details) == (reason == "NO_HELLO")


def test_who_is_refused_a_name_asks_for_another_on_another_socket(server: Server, token: str) -> None:
    with Socket(server.host, server.port) as socket:
        socket.say({"register": {"name": "wrong"}})
        status, over = socket.end()
    assert over == (4006, "NAME_TAKEN")
    assert "'wrong'" in status["message"]
    assert registered(server, "another") != token


def test_a_frame_that_is_too_large_closes_it(server: Server) -> None:
    with Socket(server.host, server.port) as socket:
        socket.say("x" * (LARGEST_FRAME + 1))
        assert socket.end()[1].code == 1009


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({}, ""),
        ({"origin": "http://{}"}, ""),
        ({"origin": "https://{}"}, ""),
        ({"origin": "https://ARENA.example"}, ""),
        ({"host": "arena.example", "origin": "https://arena.example"}, ""),
        ({"host": "arena.example"}, ""),
        ({"host": "localhost:1", "origin": "http://localhost:1"}, ""),
        ({"origin": "https://evil.example"}, "ORIGIN_REFUSED"),
        ({"origin": "null"}, "ORIGIN_REFUSED"),
        ({"origin": "http://localhost:1"}, "ORIGIN_REFUSED"),
        ({"origin": "http://arena.example"}, "ORIGIN_REFUSED"),
        ({"host": "evil.example:8080", "origin": "http://evil.example:8080"}, "HOST_UNKNOWN"),
        ({"host": "evil.example", "origin": "https://arena.example"}, "HOST_UNKNOWN"),
        ({"host": "127.0.0.1.evil.example"}, "HOST_UNKNOWN"),
        ({"host": "192.0.2.7:8080", "origin": "http://192.0.2.7:8080"}, "HOST_UNKNOWN"),
    ],
)
def test_only_pages_of_the_server_and_of_named_sites_let_bots_play(
    server: Server, headers: dict[str, str], reason: str
) -> None:
    headers = {name: value.format(f"{server.host}:{server.port}") for name, value in headers.items()}
    if not reason:
        Socket(server.host, server.port, headers).__exit__()
        return
    with pytest.raises(Refusal) as caught:
        Socket(server.host, server.port, headers)
    assert (caught.value.status, caught.value.problem["reason"]) == (403, reason)
    assert "--web-origin" in caught.value.problem["detail"]


def test_a_server_that_listens_everywhere_is_reached_by_every_address_and_no_strange_name() -> None:
    everywhere, here = Sites("0.0.0.0", ""), Sites("arena.lan", "http://[2001:db8::1]:8080")
    for host in ("192.0.2.7:8080", "[2001:db8::9]:8080", "localhost"):
        everywhere.check(Headers({"host": host, "origin": f"http://{host}"}))
    for host in ("arena.lan:8080", "ARENA.lan", "[2001:db8::1]:8080", "[::1]:8080"):
        here.check(Headers({"host": host, "origin": f"http://{host}".lower()}))
    for sites, host in ((everywhere, "evil.example"), (everywhere, ""), (here, "192.0.2.7")):
        with pytest.raises(SiteRefused) as caught:
            sites.check(Headers({"host": host}))
        assert caught.value.reason == "HOST_UNKNOWN"


@pytest.mark.parametrize("wrong", ["arena.example", "https://arena.example/", "*", "", "ftp://x", "https://a, b"])
def test_origins_that_are_none_are_refused_by_name(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"is no origin, such as https://arena\.example"):
        site_names(wrong)


def test_a_server_does_not_begin_with_an_origin_that_is_none(tmp_path: Path) -> None:
    refused = arena("serve", "--data", tmp_path / "data", "--web", "127.0.0.1:0", "--web-origin", "arena.example")
    assert refused.exit_code == 2
    assert "web_origin: 'arena.example' is no origin" in refused.output


def test_everybody_is_counted_by_his_own_address(tmp_path: Path) -> None:
    """The pages' limits, the server's registrations and the log use the address that a trusted proxy reports."""
    options = (*QUICK, "--debug", "--proxies", "127.0.0.1", "--registrations-per-address", "2")
    public = ("--public-url", "https://arena.example", "--public-address", "https://arena.example:443")
    with serving(tmp_path / "data", *options, *public) as server:
        page = server.get("/write-a-bot")[1]
        assert 'og:image" content="https://arena.example/static/' in page
        assert "--server arena.example:443 --tls" in page
        one, other = ({"x-forwarded-for": f"192.0.2.{number}"} for number in (7, 8))
        token = registered(server, "ann", one)
        registered(server, "bea", one)
        with Socket(server.host, server.port, one) as socket:
            socket.say({"register": {"name": "cleo"}})
            status, over = socket.end()
        assert over == (4008, "TOO_MANY_REGISTRATIONS")
        assert any("retryDelay" in each for each in status["details"])
        registered(server, "dora", other)
        with Socket(server.host, server.port, one) as socket:
            socket.say({"token": token})
            socket.say(HELLO)
            assert "welcome" in socket.hear()
            assert re.search(r'"peer": "ipv4:192.0.2.7:\d+"', server.log)
        with ExitStack() as stack:
            for _ in range(MOST_OF_ADDRESS):
                stack.enter_context(Socket(server.host, server.port, one))
            with pytest.raises(Refusal) as full:
                Socket(server.host, server.port, one)
            assert full.value.status == 503
            stack.enter_context(Socket(server.host, server.port, other))


def test_a_stopping_server_says_when_to_come_back(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "--no-house", "--seats", "2", "--drain", "0") as server:
        with Socket(server.host, server.port) as socket:
            socket.say({"token": registered(server, "ann")})
            socket.say(HELLO)
            assert "welcome" in socket.hear()
            ended: list[tuple[Any, Over]] = []
            listening = threading.Thread(target=lambda: ended.append(socket.end()))
            listening.start()
            server.process.terminate()
            listening.join(PATIENCE)
        status, over = ended[0]
        assert over == (4014, "STOPPING")
        assert any(each.get("retryDelay") == "1s" for each in status["details"])


def pid_of(server: Server, node: int) -> int:
    """Return the most recently started process of a node."""
    return int(re.findall(rf'"node": {node}, "pid": (\d+), .*"event": "node runs"', server.log)[-1])


def come(stack: ExitStack, server: Server, token: str) -> tuple[Socket, Any]:
    """Connect a bot, repeatedly if needed. Return its WebSocket and the first message."""
    while True:
        socket = stack.enter_context(Socket(server.host, server.port))
        socket.say({"token": token})
        socket.say(HELLO)
        if "welcome" in (message := socket.hear()):
            return socket, message
        assert (message["code"], socket.hear().code) == (14, 4014)
        time.sleep(0.1)


def test_a_killed_node_takes_neither_the_pages_nor_other_bots_with_it(tmp_path: Path) -> None:
    with serving(tmp_path / "data", *QUICK, "--processes", "2") as server, ExitStack() as stack:
        pages, token = server.beside, registered(server, "ann")
        socket, message = come(stack, server, token)
        assert message["welcome"]["node"] == 1
        while "decisions" not in message:
            if said := reply(message):
                socket.say(said)
            message = socket.hear()
        os.kill(pid_of(server, 1), signal.SIGKILL)
        assert socket.end()[1].code == 4014
        newcomer, welcome = come(stack, server, registered(server, "bea"))
        assert welcome["welcome"]["node"] == 2
        assert "interrupted" not in until_report(newcomer, welcome)
        again, welcome = come(stack, server, token)
        assert welcome["welcome"]["node"] == 1, "its match waits there"
        assert until_report(again, welcome)["matchId"] == message["decisions"][0]["matchId"]
        assert server.beside == pages


@pytest.mark.long
def test_a_bot_plays_on_at_the_next_node_when_its_own_stands_still(tmp_path: Path) -> None:
    with serving(tmp_path / "data", *QUICK, "--processes", "2") as server, ExitStack() as stack:
        token = registered(server, "ann")
        socket, welcome = come(stack, server, token)
        assert welcome["welcome"]["node"] == 1
        until_report(socket, welcome)
        os.kill(pid_of(server, 1), signal.SIGSTOP)
        began = time.monotonic()
        assert socket.end()[1].code == 4014
        again, welcome = come(stack, server, token)
        assert welcome["welcome"]["node"] == 2
        assert "interrupted" not in until_report(again, welcome)
        assert LEASE < time.monotonic() - began < LEASE + ANSWER_LIMIT + 10
        assert server.get("/live")[0].status == 200


def test_pages_that_only_read_let_nobody_play(tmp_path: Path, server: Server) -> None:
    with browsing("--data", str(server.data)) as (host, port), pytest.raises(Refusal) as caught:
        Socket(host, port)
    assert caught.value.status == 501
    assert "arena serve --web" in caught.value.problem["detail"]


async def test_who_opens_one_and_says_nothing_is_told_when_his_time_is_up(autojump_clock: MockClock) -> None:
    sent: list[Any] = []
    arrived = iter([{"type": "websocket.connect"}])

    async def receive() -> Any:
        for message in arrived:
            return message
        await trio.sleep_forever()
        raise AssertionError

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "websocket", "path": "/play", "headers": [(b"host", b"localhost")], "client": ("192.0.2.7", 1)}
    await PlaySocket(["/nowhere"], Sites("127.0.0.1", ""))(scope, receive, send)
    assert trio.current_time() == OPENING_LIMIT
    assert (sent[-1]["code"], sent[-1]["reason"]) == (4004, "NO_HELLO")


def test_the_page_has_the_numbers_of_the_code() -> None:
    text = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text().split("## Over a WebSocket")[1]
    page = " ".join(text.split())
    frame = f"at most {LARGEST_FRAME >> 10} KiB (1009), and each frame before the hello must come within"
    assert f"{frame} {OPENING_LIMIT:g} s" in page
    assert f"may have {MOST_OF_ADDRESS} WebSockets open, all addresses {MOST_SOCKETS}; a further one gets 503" in page
    assert f"with the code {FIRST_CODE} + the status's number" in page
    for reason in ("ORIGIN_REFUSED", "HOST_UNKNOWN"):
        assert f"`{reason}`" in page
