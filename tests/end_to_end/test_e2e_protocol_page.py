"""The protocol page agrees with a real server in its conversation, and with the code in its tables."""

from __future__ import annotations

import json
import re
import secrets
import shutil
import signal
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

import grpc
import pytest
from arena_client import channel
from arena_client.options import DRAIN, DRAIN_TERMINATED
from arena_client.v1 import bots_pb2, bots_pb2_grpc
from arena_client.v1 import play_pb2 as pb
from google.protobuf.json_format import MessageToDict, ParseDict
from google.rpc import error_details_pb2, status_pb2

from arena.api.codec import LARGEST_HELLO, MOST_AT_ONCE
from arena.api.play_service import STATUS
from arena.api.statuses import PAUSES
from arena.api.watching import FULL_RETRY
from arena.server.config import Config
from arena.server.sessions.limits import Limits
from arena.server.sessions.messages import MAX_RESPONSE
from arena.server.sessions.rate_limit import BYTES_SAVED, UNSOLICITED_SAVED
from arena.server.sessions.session import SEND_LIMIT
from tests.end_to_end.e2e_rig import (
    PATIENCE,
    ROOT,
    Crowd,
    Ended,
    RawBot,
    Server,
    channel_to,
    server,
    until,
)
from tests.interop.interop_rig import BUF
from tests.trio_grpc.raw_http2 import Kind, RawConnection, frame
from tests.trio_grpc.raw_http2 import message as framed
from trio_grpc.grpc.server import STOPPING_WAIT
from trio_grpc.http2.connection import REFUND_PER_CHECK
from trio_grpc.http2.http2 import USELESS_FRAME_BUDGET
from trio_grpc.http2.listener import CHECK_INTERVAL
from trio_grpc.limits.settings import TransportSettings

PAGE: Final = (ROOT / "docs" / "protocol.md").read_text()
SAID: Final = [
    (who, json.loads(block))
    for who, block in re.findall(r"^([→←]|then|and then)\n+```json\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE)
]
"""The conversation of the page: each message with its sender."""


def fields(message: Any, at: str = "") -> Iterator[str]:
    """Return the paths of all fields in a message. Seats, which are keys of maps, count as one."""
    if isinstance(message, dict):
        for key, value in message.items():
            name = "SEAT" if key.isdecimal() else key
            yield f"{at}.{name}"
            yield from fields(value, f"{at}.{name}")
    elif isinstance(message, list):
        for value in message:
            yield from fields(value, at)


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> list[pb.PlayResponse]:
    """Return the messages of a real server in a match of the page's bot."""
    data = tmp_path_factory.mktemp("protocol") / "data"
    heard: list[pb.PlayResponse] = []
    with (
        server(data, "--house", "--patience", "0", "--luck", "off", "--quiet", seats="2") as arena,
        Crowd(arena.address) as crowd,
    ):
        bot = crowd.come("ann", hello=False)
        bot.accepts = False
        bot.send(ParseDict(SAID[0][1], pb.PlayRequest()))
        wrong = True
        while not bot.reports:
            message = bot.read()
            heard.append(message)
            if message.invitations:
                number = message.invitations[0].invitation_id
                bot.send(pb.PlayRequest(ready=[pb.Ready(invitation_id=number, nonce=bytes(range(16)))]))
            if message.notices and wrong:
                wrong = False
                bot.answer(*bot.decisions)
            elif message.decisions:
                bot.decisions = [*message.decisions]
                bot.answer(*message.decisions, action=255 if wrong else None)
        bot.send(pb.PlayRequest(leave=True))
        with pytest.raises(Ended) as ended:
            bot.read_until(lambda: False)
        assert ended.value.code.name == "OK"
    return heard


def test_the_page_has_a_whole_conversation() -> None:
    kinds = [next(iter(message)) for _, message in SAID]
    for kind in ("hello", "welcome", "invitations", "ready", "decisions", "answers", "notices", "rounds", "reports"):
        assert kind in kinds
    assert kinds[-1] == "leave"


@pytest.mark.parametrize(("who", "message"), SAID, ids=lambda value: value if isinstance(value, str) else None)
def test_every_message_of_the_page_is_one(who: str, message: dict[str, Any]) -> None:
    parsed = ParseDict(message, pb.PlayResponse() if who == "←" else pb.PlayRequest())
    assert MessageToDict(parsed).keys() == message.keys()


def test_the_bytes_of_an_answer_are_those_of_the_page() -> None:
    answer = next(message for who, message in SAID if "answers" in message and message["answers"][0]["action"] == 161)
    encoded = ParseDict(answer, pb.PlayRequest()).SerializeToString()
    assert f"`{encoded.hex()}`" in PAGE
    frame = bytes(1) + len(encoded).to_bytes(4, "big")
    assert f"`{frame.hex(' ')}`" in PAGE


def test_a_real_server_says_what_the_page_shows(held: list[pb.PlayResponse]) -> None:
    real = [MessageToDict(message) for message in held]
    said = {path for message in real for path in fields(message)}
    for who, message in SAID:
        if who == "←":
            kind = next(iter(message))
            alike = [each for each in real if kind in each]
            assert alike, f"the server never sends {kind}"
            assert set(fields(message)) <= said
    shown = next(message["welcome"] for _, message in SAID if "welcome" in message)
    welcome = next(message["welcome"] for message in real if "welcome" in message)
    assert shown["conduct"] == welcome["conduct"]
    assert shown["limits"] == welcome["limits"]


def test_a_match_is_told_in_the_order_that_the_page_promises(held: list[pb.PlayResponse]) -> None:
    started: set[int] = set()
    rounds: list[int] = []
    for message in held:
        started |= {start.match_id for start in message.starts}
        rounds += [report.round for report in message.rounds]
        for decision in message.decisions:
            assert decision.match_id in started
            scores = decision.sixth_sense.scores
            assert bool(rounds) or not any(scores)
        if message.reports:
            assert rounds == list(range(held_rounds(held))), "each round once, in order, before the report"


def held_rounds(held: list[pb.PlayResponse]) -> int:
    return next(decision.sixth_sense.rounds for message in held for decision in message.decisions)


ENHANCE_YOUR_CALM: Final = 11
"""HTTP/2's error code ENHANCE_YOUR_CALM (RFC 9113, section 7)."""
CONVERSATIONS: Final[dict[str, list[dict[str, Any]]]] = {
    each["title"]: each["steps"]
    for file in (ROOT / "clients/conformance/conversations").glob("*.json")
    for each in json.loads(file.read_text())
}
"""The steps of the conversations that every SDK plays, by title."""
COME_BACK: Final = {"UNAVAILABLE", "RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED"}
"""The statuses after which a client reconnects."""


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table below a heading."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]


def test_the_table_of_ends_is_the_servers_and_the_clients() -> None:
    table = {reason: (status, back) for status, reason, _, back, _ in rows("What ends a stream")}
    proto = (ROOT / "proto/arena/v1/play.proto").read_text().split("service PlayService")[1].split("rpc Play")[0]
    for ended, code in STATUS.items():
        assert table[ended.name][0] == code.name
    for reason, (status, back) in table.items():
        assert reason in proto, f"{reason} is not in play.proto"
        failure = channel.play_failure(grpc.StatusCode[status], "", reason)
        assert isinstance(failure, channel.DroppedError) == (back == "yes"), reason
        assert (status in COME_BACK) == (back == "yes"), "the status alone says so"
    named = set(re.findall(r"\b([A-Z]+_[A-Z_]+|STOPPING|FLOODING)\b", proto))
    assert named - {code.name for code in grpc.StatusCode} == table.keys()


def test_without_a_reason_a_client_comes_back_after_any_status_but_those_of_the_page() -> None:
    """The conversations for the other SDKs contain each status."""
    text = PAGE.split("If a connection breaks without a status")[1].split("\n\n")[0]
    final = {*re.findall(r"`([A-Z_]+)`", text)} - {"UNAVAILABLE", "INTERNAL", "CANCELLED", "UNKNOWN"}
    for code in {*grpc.StatusCode} - {grpc.StatusCode.OK}:
        comes_back = isinstance(channel.play_failure(code, "", ""), channel.DroppedError)
        assert comes_back == (code.name not in final), code
        ends = [steps for title, steps in CONVERSATIONS.items() if f"ends with {code.name} " in title]
        bare = [steps for steps in ends if not any("reason" in step.get("breaks", ()) for step in steps)]
        assert comes_back or any("ends" in steps[-1] for steps in bare), code


def test_a_client_waits_as_long_as_the_page_says() -> None:
    def waits(title: str) -> list[int]:
        return [step["comes_back"]["after_ms"] for step in CONVERSATIONS[title] if "comes_back" in step]

    growing = waits("The waits grow with the outage, to 5 s")[1:]
    assert growing == [min(5000, 100 << number) for number in range(len(growing))]
    assert growing[-1] == 5000
    assert waits("After two minutes the waits grow to 30 s")[-1] == 30_000
    assert waits("A connection that held for more than a second begins the waits anew") == [100, 100]
    patient = CONVERSATIONS["A welcome that does not come in 20 s is waited for on another stream"]
    assert sum(step["passes"]["ms"] for step in patient if "passes" in step) >= 20_000


def test_a_welcome_without_a_log_leaves_the_number_of_the_last_report_as_it_is() -> None:
    messages = json.loads((ROOT / "clients/conformance/messages.json").read_text())
    assert "log" not in messages["welcome"]["welcome"]
    steps = CONVERSATIONS["The waits grow with the outage, to 5 s"]
    assert {"server": "welcome"} in steps
    assert all("reportsAfter" not in step["opens"]["hello"] for step in steps if "opens" in step)


def test_the_table_of_pauses_is_the_servers() -> None:
    """The server states a pause exactly if the bot should reconnect."""
    for _, reason, _, back, pause in rows("What ends a stream"):
        assert bool(pause) == (back == "yes"), reason
        if reason != "OVER_BUDGET":
            assert pause.partition(" s")[0] == (f"{PAUSES[reason]:g}" if reason in PAUSES else ""), reason
    assert f"`TOO_MANY_WATCHERS` ({FULL_RETRY:g} s), `NOT_FITTED` ({PAUSES['NOT_FITTED']:g} s)" in PAGE
    assert PAUSES["STOPPING"] == STOPPING_WAIT


class Came(NamedTuple):
    """The end of a call."""

    status: str
    reason: str
    pause: float | None
    """The pause in the end's RetryInfo, in seconds."""


def came(error: Any) -> Came:
    """Return the end of a call with its status details."""
    details = dict(error.trailing_metadata())["grpc-status-details-bin"]
    info, retry, pause = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo(), None
    for detail in status_pb2.Status.FromString(details).details:
        if detail.Unpack(retry):
            pause = retry.retry_delay.ToTimedelta().total_seconds()
        detail.Unpack(info)
    assert info.domain == "arena"
    return Came(error.code().name, info.reason, pause)


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server without house bots. It allows five connections per bot and twenty registrations per address."""
    often = ("--connect-rate", "0.1", "--hello-timeout", "1", "--registrations-per-address", "20")
    with server(tmp_path_factory.mktemp("ends") / "data", *often, "--drain", "0", "--luck", "off") as arena:
        yield arena


def at_a_table(crowd: Crowd, *names: str) -> tuple[RawBot, RawBot]:
    """Return two bots at one table. The first owes a decision."""
    first, second = (crowd.come(name) for name in names)
    second.play_in_background()
    first.read_until(lambda: first.decisions)
    return first, second


def registered(arena: Server, name: str, token: str) -> Any:
    with channel_to(arena.address) as channel:
        request = bots_pb2.RegisterBotRequest(name=name, token=token)
        return bots_pb2_grpc.BotServiceStub(channel).RegisterBot(request, timeout=PATIENCE)


def test_registering_again_is_answered_as_the_first_time(arena: Server) -> None:
    mine, other = (f"arena_{secrets.token_urlsafe(32)}" for _ in range(2))
    first = registered(arena, "twice", mine)
    assert (registered(arena, "twice", mine), first.token) == (first, mine)
    with pytest.raises(grpc.RpcError) as refused:
        registered(arena, "twice", other)
    assert came(refused.value) == ("ALREADY_EXISTS", "NAME_TAKEN", None)


@pytest.mark.parametrize("closes", [False, True], ids=["waits", "closes"])
def test_who_leaves_is_last_and_its_stream_ends_with_ok(arena: Server, closes: bool) -> None:
    """The server does not wait for the client, whether the client awaits the status or closes its side at once."""
    with Crowd(arena.address) as crowd:
        leaver, stayer = at_a_table(crowd, f"leaver-{closes}", f"stayer-{closes}")
        leaver.send(pb.PlayRequest(leave=True))
        if closes:
            leaver.say_goodbye()
        assert leaver.last_word().code.name == "OK"
        until(lambda: stayer.reports, "the match is played on")
        report = stayer.reports[0]
        assert report.places[1 - report.seat] == 2
        [gone] = [notice for notice in stayer.notices if notice.kind == pb.NOTICE_KIND_GONE]
        assert gone.return_ms == 0


def test_the_decisions_of_a_match_are_numbered_over_all_its_seats(arena: Server) -> None:
    def numbers(bot: RawBot) -> list[int]:
        found: list[int] = []
        while not bot.reports:
            bot.read()
            due, bot.decisions = bot.decisions, []
            found += [each.decision_id for each in due]
            if due:
                bot.answer(*due)
        return found

    with Crowd(arena.address) as crowd, ThreadPoolExecutor() as threads:
        seats = [*threads.map(numbers, [crowd.come(name) for name in ("odd", "even")])]
    assert sorted(seats[0] + seats[1]) == [*range(1, len(seats[0] + seats[1]) + 1)]
    for found in seats:
        assert found == sorted(found)
        assert len(found) < found[-1], "with gaps"


def test_half_close_ends_the_stream_with_ok_and_the_seat_is_kept(arena: Server) -> None:
    with Crowd(arena.address) as crowd:
        closer, _ = at_a_table(crowd, "closer", "partner")
        asked = closer.decisions[0]
        closer.say_goodbye()
        with pytest.raises(Ended) as ended:
            closer.read_until(lambda: False)
        assert ended.value.code.name == "OK"
        again = crowd.come("closer", reports_after=closer.reports_after)
        again.read_until(lambda: again.decisions)
        assert (again.decisions[0].match_id, again.decisions[0].decision_id) == (asked.match_id, asked.decision_id)
        assert again.starts[0].match_id == asked.match_id


def test_a_second_stream_takes_over(arena: Server) -> None:
    with Crowd(arena.address) as crowd:
        first = crowd.come("double")
        first.read()
        crowd.come("double").read()
        with pytest.raises(Ended):
            first.read_until(lambda: False)
        assert came(first.error) == ("FAILED_PRECONDITION", "TAKEN_OVER", None)


def test_who_comes_too_often_or_says_nothing_is_told_when_to_come_back(arena: Server) -> None:
    with Crowd(arena.address) as crowd:
        silent = crowd.come("often", hello=False)
        with pytest.raises(Ended):
            silent.read()
        assert came(silent.error) == ("DEADLINE_EXCEEDED", "NO_HELLO", PAUSES["NO_HELLO"])
        for _ in range(8):
            bot = crowd.come("often")
            try:
                bot.read()
            except Ended:
                break
        told = came(bot.error)
        assert told[:2] == ("RESOURCE_EXHAUSTED", "FLOODING")
        assert told.pause is not None
        assert 0 < told.pause <= 10, "one in ten seconds"


def test_a_server_that_stops_says_when_to_come_back(tmp_path: Path) -> None:
    with server(tmp_path / "data", "--drain", "0") as stopping, Crowd(stopping.address) as crowd:
        bot = crowd.come("ann")
        bot.read()
        stopping.signal(signal.SIGTERM)
        with pytest.raises(Ended):
            bot.read_until(lambda: False)
        assert came(bot.error) == ("UNAVAILABLE", "STOPPING", PAUSES["STOPPING"])


def test_the_headers_of_a_stream_come_before_the_hello(arena: Server) -> None:
    """Otherwise, a client that waits for headers and a server that waits for its Hello would wait forever."""
    with Crowd(arena.address) as crowd, RawConnection(arena.address) as connection:
        stream = connection.open("/arena.v1.PlayService/Play", ("authorization", f"bearer {crowd.token('waits')}"))
        answer = connection.answers[stream]
        connection.until(lambda: answer.headers)
        assert (answer.headers[":status"], answer.status, answer.content) == ("200", None, b"")
        hello = pb.PlayRequest(hello=pb.Hello(games=["sixth_sense"], capacity=0)).SerializeToString()
        connection.data(stream, framed(hello))
        connection.until(lambda: answer.messages)
        assert pb.PlayResponse.FromString(answer.messages[0]).welcome.bot == "waits"


def test_a_bot_may_ping_as_often_as_the_page_says(arena: Server) -> None:
    ping = frame(Kind.PING, 0, 0, b"12345678")
    with Crowd(arena.address) as crowd, RawConnection(arena.address) as connection:
        stream = connection.open("/arena.v1.PlayService/Play", ("authorization", f"bearer {crowd.token('pings')}"))
        connection.send(ping * (USELESS_FRAME_BUDGET - 100))
        connection.until(lambda: len(connection.pongs) == USELESS_FRAME_BUDGET - 100)
        hello = pb.PlayRequest(hello=pb.Hello(games=["sixth_sense"], capacity=0)).SerializeToString()
        connection.data(stream, framed(hello))
        connection.until(lambda: connection.answers[stream].messages)
        assert not connection.closed
        connection.send(ping * 2 * USELESS_FRAME_BUDGET)
        assert connection.wait_closed()
        assert connection.goaway_code == ENHANCE_YOUR_CALM


def test_an_older_server_ignores_unknown_features_and_refuses_unknown_methods(arena: Server) -> None:
    with Crowd(arena.address) as crowd, channel_to(arena.address) as channel:
        bot = crowd.come("newer", hello=False)
        bot.send(pb.PlayRequest(hello=pb.Hello(games=["sixth_sense"], capacity=0, features=["a-later-one"])))
        assert bot.read().welcome.features == []
        for method in ("PlayService/More", "MoreService/More"):
            call: Any = channel.unary_unary(f"/arena.v1.{method}")
            with pytest.raises(grpc.RpcError) as refused:
                call(b"", timeout=PATIENCE)
            assert refused.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_who_registers_too_often_is_told_when_one_is_allowed_again(arena: Server) -> None:
    def all_of_them() -> None:
        for number in range(21):
            registered(arena, f"many-{number}", "")

    with pytest.raises(grpc.RpcError) as refused:
        all_of_them()
    told = came(refused.value)
    assert told[:2] == ("RESOURCE_EXHAUSTED", "TOO_MANY_REGISTRATIONS")
    assert told.pause is not None
    assert 1 < told.pause <= 180, "twenty an hour"


@pytest.mark.parametrize(
    ("file", "setting"),
    [
        ("python/arena_client/channel.py", r"keepalive_time_ms\", 20_000.*keepalive_timeout_ms\", 10_000"),
        ("cpp/src/arena_client/grpc_channel.cc", r"KEEPALIVE_TIME_MS, 20'000.*KEEPALIVE_TIMEOUT_MS, 10'000"),
        ("go/network.go", r"Time: 20 \* time.Second, Timeout: 10 \* time.Second"),
        (
            "java/src/main/java/arena/client/Network.java",
            r"keepAliveTime\(20, SECONDS\).*keepAliveTimeout\(10, SECONDS\)",
        ),
        ("typescript/src/grpc_channel.ts", r"keepalive_time_ms\": 20_000.*keepalive_timeout_ms\": 10_000"),
        (
            "rust/src/network.rs",
            r"keep_alive_interval\(Duration::from_secs\(20\)\).*timeout\(Duration::from_secs\(10\)",
        ),
    ],
)
def test_an_sdk_pings_a_silent_server_as_the_page_says(file: str, setting: str) -> None:
    assert "pings: one after 20 s, and 10 s for its answer" in " ".join(PAGE.split())
    source = (ROOT / "clients" / file).read_text()
    assert re.search(setting, source, re.DOTALL)


@pytest.mark.parametrize(
    ("folder", "ending"),
    [
        ("python/arena_client", "py"),
        ("cpp/src", "cc"),
        ("go", "go"),
        ("java/src", "java"),
        ("typescript/src", "ts"),
        ("rust/src", "rs"),
    ],
)
def test_an_sdk_reads_the_variables_that_the_page_names(folder: str, ending: str) -> None:
    """Each SDK's tests check the effects. This test checks that exactly these variables exist."""
    text = "".join(path.read_text() for path in (ROOT / "clients" / folder).rglob(f"*.{ending}"))
    named = set(re.findall(r"`(ARENA_[A-Z_]+)`", PAGE))
    assert named == set(re.findall(r'"(ARENA_[A-Z_]+)"', text))
    others = {"ARENA_SERVER", "ARENA_TOKEN_FILE", "ARENA_TOKEN", "ARENA_OWNER"}
    assert named == others | {"ARENA_LADDERS", "ARENA_EVENTS", "ARENA_DRAIN"}
    assert f"(seconds for the matches, 0 to {DRAIN:g})" in " ".join(PAGE.split())


def test_the_page_says_when_a_peer_that_is_silent_is_lost() -> None:
    transport = TransportSettings()
    assert (DRAIN, DRAIN_TERMINATED) == (30.0, 8.0)
    text = " ".join(PAGE.split())
    assert f"It pings a silent client after {transport.ping_after:g} s, and counts it as lost after " in text
    assert f"as lost after another {transport.ping_timeout:g} s" in text
    assert f"after {DRAIN:g} s at the latest, or {DRAIN_TERMINATED:g} s after SIGTERM" in text
    assert f"for three heartbeats ({3 * Config(()).heartbeat:g} s; `heartbeatMs`)" in text


def test_the_table_of_limits_has_the_numbers_of_the_code() -> None:
    limits, transport = Limits(), TransportSettings()
    numbers = {what.split(",")[0]: how for what, how, _ in rows("Limits")}
    assert (
        numbers["a message to the server"] == f"{transport.max_request >> 20} MiB; the first {LARGEST_HELLO >> 10} KiB"
    )
    assert numbers["a message to the client"] == f"{MAX_RESPONSE >> 20} MiB (`maxResponse`, in protobuf)"
    assert numbers["headers of a call"] == f"{transport.max_metadata >> 10} KiB"
    assert numbers["answers"] == f"{MOST_AT_ONCE:,}"
    unasked = f"{limits.unsolicited_rate:g} a second, saved up for {UNSOLICITED_SAVED:g} s"
    assert numbers["unrequested items"] == unasked
    assert numbers["bytes sent"] == f"{limits.byte_rate / (1 << 20):g} MiB a second, saved up for {BYTES_SAVED:g} s"
    assert numbers["connecting"] == f"once every {1 / limits.connect_rate:g} s, saved up for a minute"
    pings = REFUND_PER_CHECK / CHECK_INTERVAL
    saved = f"{pings:g} a second, saved up for {USELESS_FRAME_BUDGET / pings:g} s"
    assert numbers["HTTP/2 pings of a connection"] == saved
    assert numbers["messages left unread"] == f"{SEND_LIMIT:g} s"
    assert numbers["streams of one owner's bots"] == str(limits.streams_per_owner)


ADDITIONS: Final = {
    "fields of any message": "Fields that are not known are passed over",
    "values of an enum": "Values of enums that are not known are passed over, and everything beside them is told",
    "methods and services": None,
    "reasons": "A reason that a newer server has leaves it to the status whether to come back",
    "games, in `other`": "A game whose messages the client does not have is played: its view and its catalogue reach "
    "the bot as they are",
    "features, and messages or orders that only they permit": None,
}
"""The page's additions, each with the conversation in which every SDK meets it, or None if only servers meet it."""
ADDED: Final = (
    ("play.proto", r"^(message Answer \{\n)", "\\1  string more = 99;\n"),
    ("play.proto", r"^(message PlayResponse \{\n)", "\\1  More more = 99;\n"),
    ("play.proto", r"(enum NoticeKind \{.*?)\}", "\\1  NOTICE_KIND_MORE = 99;\n}"),
    ("play.proto", r"(enum Reason \{.*?)\}", "\\1  REASON_MORE = 99;\n}"),
    ("play.proto", r"^(service PlayService \{\n)", "\\1  rpc More(Hello) returns (Welcome);\n"),
    ("play.proto", r"\Z", "\nmessage More {}\nservice MoreService {\n  rpc More(Hello) returns (Welcome);\n}\n"),
)
REMOVED: Final = (
    ("play.proto", r"^(message Answer \{.*?)uint64 match_id = 1", r"\1uint64 match = 1", '"match_id" to "match"'),
    ("play.proto", r"^(message Answer \{.*?)uint32 action = 3", r"\1int64 action = 3", '"uint32" to "int64"'),
    ("play.proto", r"^(message Ready \{.*?)bytes nonce = 2;", r"\1", 'field "2" with name "nonce"'),
    ("play.proto", r"^(enum NoticeKind \{.*?)NOTICE_KIND_GONE = 9;", r"\1", 'enum value "9"'),
    ("bots.proto", r"^(service BotService \{.*?)rpc RotateToken\(.*?;", r"\1", '"RotateToken"'),
)
"""Forbidden changes, each with buf's message about it."""


def breaks(tmp_path: Path, changes: Iterable[Sequence[str]]) -> str:
    """Return buf's messages about a copy of the protocol with these changes."""
    shutil.copytree(ROOT / "proto", tmp_path / "proto")
    shutil.copy(ROOT / "buf.yaml", tmp_path)
    for file, place, text, *_ in changes:
        path = tmp_path / "proto/arena/v1" / file
        changed, found = re.subn(place, text, path.read_text(), count=1, flags=re.MULTILINE | re.DOTALL)
        assert found == 1, place
        path.write_text(changed)
    command = [str(BUF), "breaking", "--against", str(ROOT / "proto/promised.binpb")]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert bool(ran.stdout) == bool(ran.returncode), ran.stderr
    return ran.stdout


def test_whatever_the_page_says_may_be_added_is_met_by_every_sdk_and_breaks_no_promise(tmp_path: Path) -> None:
    assert [addition.strip("`") for addition in ADDITIONS] == [row[0] for row in rows("Later games and features")]
    assert {*ADDITIONS.values()} - {None} <= CONVERSATIONS.keys()
    assert breaks(tmp_path, ADDED) == ""


def test_nothing_that_the_page_does_not_name_may_change(tmp_path: Path) -> None:
    found = breaks(tmp_path, REMOVED).splitlines()
    for *_, words in REMOVED:
        assert any(words in line for line in found), found
