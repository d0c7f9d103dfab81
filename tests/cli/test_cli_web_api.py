"""The pages' JSON interface: it agrees with the command line and with its own description."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from html import escape
from html.parser import HTMLParser
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from arena.web.api.application import PATH
from arena.web.api.endpoints import ENDPOINTS
from engine.registry import GAMES
from tests.cli.cli_rig import PATIENCE, Played, arena, shown
from tests.cli.web_process_rig import ask, browsing

PATHS = {
    "/games": "games",
    "/ladder/sixth_sense": "ladder --game sixth_sense",
    "/ladder/sixth_sense?seats=3": "ladder --game sixth_sense --seats 3",
    "/ladder/sixth_sense/past?at=NOW": "ladder --game sixth_sense --at NOW",
    "/bots": "bots list",
    "/bots/counter": "bots show counter",
    "/bots/counter?game=sixth_sense&last=2": "bots show counter --game sixth_sense --last 2",
    "/bots/counter/history": "ladder --history counter",
    "/bots/counter/versions?game=sixth_sense": "ladder --versions counter --game sixth_sense",
    "/bots/counter/opponents/sixth_sense": "bots opponents counter --game sixth_sense",
    "/bots/COUNTER/opponents/sixth_sense?limit=2&after=1&last=2": (
        "bots opponents COUNTER --game sixth_sense --limit 2 --after 1 --last 2"
    ),
    "/bot-events": "bots events",
    "/events": "event list",
    "/matches?game=sixth_sense&bot=rules&limit=2": "matches --game sixth_sense --bot rules --limit 2",
    "/matches?before=3": "matches --before 3",
    "/matches/2/log": "log show 2",
    "/matches/2/why": "why 2",
    "/matches/2/check": "replay verify 2",
    "/log/head": "log head",
}
"""Addresses, each with the command that returns the same data."""
ROOT = Path(__file__).parents[2]
EXAMPLES = [each.example or each.path for each in ENDPOINTS]
NOT_HERE = {
    ("data", "/events/friday"): "there is no event 'friday'",
    ("server", "/events/friday"): "there is no event 'friday'",
    ("data", "/status"): "These pages read a data directory only",
    ("data", "/live/matches/17"): "match 17 is not being played",
    ("server", "/live/matches/17"): "match 17 is not being played",
}
"""Errors that the examples cause without a server, an event or a running match."""


@pytest.fixture(scope="module")
def places(played: Played) -> Iterator[dict[str, tuple[str, int]]]:
    with browsing("--server", played.server) as server, browsing("--data", str(played.data)) as data:
        yield {"server": server, "data": data}


@pytest.fixture(params=["server", "data"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def place(places: dict[str, tuple[str, int]], kind: str) -> tuple[str, int]:
    return places[kind]


def read(place: tuple[str, int], path: str) -> Any:
    answer, content = ask(place, PATH + path)
    assert answer.status == 200, (path, content)
    assert answer.getheader("content-type") == "application/json"
    return json.loads(content)


def problem(place: tuple[str, int], path: str, method: str = "GET", **headers: str) -> dict[str, Any]:
    answer, content = ask(place, path, method, **headers)
    assert answer.getheader("content-type") == "application/problem+json", (path, content)
    found: dict[str, Any] = json.loads(content)
    assert found["status"] == answer.status
    return found


@pytest.mark.parametrize("path", PATHS)
def test_it_says_what_the_command_line_says(place: tuple[str, int], kind: str, played: Played, path: str) -> None:
    options = ["--server", played.server] if kind == "server" else ["--data", str(played.data)]
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    path, words = path.replace("NOW", now), PATHS[path].replace("NOW", now).split()
    printed = json.loads(shown(*words, *(options if words != ["games"] else []), "--json"))
    said = read(place, path)
    if words[0] == "ladder" and words[1] == "--game":
        [printed] = printed["ladders"]
    for document in (said, printed):  # the round-trip times change while the server runs
        for bot in document.get("bots", []):
            bot.pop("round_trip_ms")
    assert said == printed


def test_the_filters_of_the_page_of_matches_apply(place: tuple[str, int]) -> None:
    whole = read(place, "/matches")["matches"]
    bot = max(whole[0]["seats"], key=lambda seat: seat["place"])["bot"]
    worst = {row["match"]: max(seat["place"] for seat in row["seats"]) for row in whole}
    lost = [
        row["match"]
        for row in whole
        for seat in row["seats"]
        if seat["bot"] == bot and seat["place"] == worst[row["match"]] > 1
    ]
    assert lost
    day = max(row["started"] for row in whole)[:10]
    for query, wanted in {
        f"bot={bot}&lost=1": lost,
        "bot=counter&opponent=nobody": [],
        "bot=counter&opponent=rules": [row["match"] for row in whole],
        "seats=2": [],
        "seats=3&state=finished": [row["match"] for row in whole],
        "state=interrupted": [],
        "since=2999-01-01": [],
        f"until={day}": [row["match"] for row in whole],
        "until=2000-01-01": [],
    }.items():
        assert [row["match"] for row in read(place, f"/matches?{query}")["matches"]] == wanted, query


def test_a_step_is_what_the_page_shows_and_a_seat_sees_its_own_hand_only(place: tuple[str, int]) -> None:
    open_hands, own = (read(place, f"/matches/1/steps/9{seat}") for seat in ("", "?seat=1"))
    page = ask(place, "/matches/1/steps/9?seat=1")[1].decode()
    assert escape(own["words"]["happened"]) in page
    assert [seat["hand"] is None for seat in own["table"]["seats"]] == [True, False, True]
    assert all(seat["hand"] for seat in open_hands["table"]["seats"])
    assert open_hands["text"] is None
    assert "\nYou are seat 1. " in own["text"]
    for each in own["legal"]:
        assert all(f": {name}\n" in own["text"] + "\n" for name in each["actions"])
    last = read(place, f"/matches/1/steps/{own['steps']}")
    assert last["legal"] == []
    assert [seat["score"] for seat in last["table"]["seats"]] == [
        seat["score"] for seat in read(place, "/matches/1")["seats"]
    ]


def test_a_match_is_that_of_the_list_and_its_replay_verifies(place: tuple[str, int], tmp_path: Path) -> None:
    assert read(place, "/matches/2") == read(place, "/matches?limit=1&before=3")["matches"][0]
    answer, content = ask(place, f"{PATH}/matches/1/replay", range="bytes=0-9")
    assert (answer.status, answer.getheader("accept-ranges")) == (200, "none")
    (tmp_path / "1.replay").write_bytes(content)
    result = arena("replay", "verify", tmp_path / "1.replay")
    assert result.exit_code == 0, result.output
    again, content = ask(place, f"{PATH}/matches/1/replay", if_none_match=str(answer.getheader("etag")))
    assert (again.status, content) == (304, b"")


def test_pages_lead_to_the_next_until_there_is_none(place: tuple[str, int]) -> None:
    for listed, key, number in (
        ("matches?game=sixth_sense&limit=2", "matches", "match"),
        ("bots?limit=2", "bots", "bot"),
    ):
        path: str | None = f"{PATH}/{listed}"
        found: list[Any] = []
        pages = 0
        while path is not None:
            answer, content = ask(place, path)
            rows = [row[number] for row in json.loads(content)[key]]
            assert len(rows) <= 2
            found, pages = found + rows, pages + 1
            link = re.fullmatch(r'<([^>]+)>; rel="next"', answer.getheader("link", ""))
            path = link and link[1]
        whole = read(place, f"/{listed.replace('limit=2', 'limit=1000')}")[key]
        assert found == [row[number] for row in whole]
        assert pages == 2
        assert len(found) == 3


def test_what_a_client_has_is_not_sent_again(place: tuple[str, int]) -> None:
    answer, content = ask(place, f"{PATH}/games")
    tag = str(answer.getheader("etag"))
    assert "max-age=60" in str(answer.getheader("cache-control"))
    assert content
    for known in (tag, f'"other", {tag}', tag.removeprefix("W/"), "*"):
        again, content = ask(place, f"{PATH}/games", if_none_match=known)
        assert (again.status, content, again.getheader("etag")) == (304, b"", tag)
    assert ask(place, f"{PATH}/games", if_none_match='"other"')[0].status == 200
    head, content = ask(place, f"{PATH}/games", "HEAD")
    assert (head.status, content, head.getheader("etag")) == (200, b"", tag)
    packed, _ = ask(place, f"{PATH}/games", accept_encoding="gzip")
    assert (packed.getheader("content-encoding"), packed.getheader("etag")) == ("gzip", tag)


def test_pages_of_other_sites_may_read_it_and_nothing_else(place: tuple[str, int]) -> None:
    origin = "https://bots.example"
    for path in ("/games", "/matches/999999"):
        answer, _ = ask(place, PATH + path, origin=origin)
        assert answer.getheader("access-control-allow-origin") == "*"
        assert "ETag" in str(answer.getheader("access-control-expose-headers"))
    asked = {
        "origin": origin,
        "access_control_request_method": "GET",
        "access_control_request_headers": "if-none-match",
    }
    answer, _ = ask(place, f"{PATH}/games", "OPTIONS", **asked)
    assert (answer.status, answer.getheader("access-control-allow-origin")) == (200, "*")
    answer, _ = ask(place, f"{PATH}/games", "OPTIONS", **(asked | {"access_control_request_method": "DELETE"}))
    assert answer.status == 400
    assert ask(place, "/matches", origin=origin)[0].getheader("access-control-allow-origin") is None


@pytest.mark.parametrize(
    ("path", "status", "name", "words"),
    [
        ("/matches?limit=0", 400, "limit", "limit is a whole number from 1 to 1000, not '0'"),
        ("/matches?limit=9999999999999999999999", 400, "limit", "from 1 to 1000"),
        ("/matches?limit=%D9%A1", 400, "limit", "not '١'"),
        ("/matches?limt=5", 400, "limt", "limt is no parameter here; there is before, bot, faults, game, ladder"),
        ("/matches?lost=yes", 400, "lost", "lost is 1 or 0, not 'yes'"),
        ("/matches?lost=1", 400, "bot", "bot is required with opponent, faults or lost"),
        ("/matches?state=over", 400, "state", "state is one of playing, finished, interrupted, not 'over'"),
        ("/matches?since=soon", 400, "since", "since is a date or time since 1970"),
        ("/matches/1/steps/99999", 404, None, "the replay has steps 1 to"),
        ("/matches/1/steps/1?seat=9", 404, None, "the replay has seats 0 to 2, not seat 9"),
        ("/matches/999999/why", 404, None, "there is no match 999999"),
        ("/live/matches/1", 404, None, "match 1 is not being played"),
        ("/matches?limit=5&limit=6", 400, "limit", "limit is there twice"),
        ("/matches?game=chess", 400, "game", "game is one of"),
        ("/ladder/chess", 404, None, "no ladder 'chess'"),
        ("/ladder/sixth_sense/past", 400, "at", "at is required here"),
        ("/ladder/sixth_sense/past?at=soon", 400, "at", "at is a date or time since 1970"),
        ("/ladder/sixth_sense/past?at=0001-01-01T00:00:00%2B14:00", 400, "at", "since 1970"),
        ("/matches/x", 404, "match", "match is a whole number"),
        (f"/matches/{1 << 63}", 404, "match", "match is a whole number"),
        ("/matches/999999", 404, None, "there is no match 999999"),
        (f"/matches/{(1 << 63) - 1}", 404, None, "there is no match"),
        ("/matches/999999/replay", 404, None, "there is no match 999999"),
        ("/matches/999999/log", 404, None, "the log has no entry for match 999999"),
        ("/bots/nobody", 404, None, "there is no bot 'nobody'"),
        ("/bots/%3Cscript%3E", 404, None, "there is no bot '<script>'"),
        ("/ladder/sixth_sense?seats=9", 404, None, "is played by 2 to 6, not by 9"),
        ("/nothing", 404, None, f"there is nothing at {PATH}/nothing"),
        ("/games/", 404, None, f"there is nothing at {PATH}/games/"),
        (f"/bots/{'x' * 8000}", 404, None, "there is no bot"),
    ],
)
def test_what_is_wrong_is_named(place: tuple[str, int], path: str, status: int, name: str | None, words: str) -> None:
    found = problem(place, PATH + path)
    assert (found["status"], found.get("parameter")) == (status, name)
    assert words in found["detail"]


def allowed(answer: HTTPResponse) -> set[str]:
    return set(str(answer.getheader("allow")).split(", "))


def test_only_reading_is_allowed(place: tuple[str, int]) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        answer, content = ask(place, f"{PATH}/games", method)
        assert (answer.status, allowed(answer)) == (405, {"GET", "HEAD"})
        assert f"{method} is not for reading" in json.loads(content)["detail"]
        answer, _ = ask(place, "/matches", method)
        assert (answer.status, allowed(answer)) == (405, {"GET", "HEAD"})


def test_an_error_is_a_page_or_json_by_what_was_asked(place: tuple[str, int]) -> None:
    assert problem(place, "/nothing", accept="application/json")["detail"] == "There is no page /nothing."
    for accept in ("text/html,application/xhtml+xml,*/*;q=0.8", "*/*", "text/html, application/json"):
        assert str(ask(place, "/nothing", accept=accept)[0].getheader("content-type")).startswith("text/html")
    assert ask(place, "/matches/")[0].status == 404


def raw(place: tuple[str, int], sent: bytes) -> bytes:
    with socket.create_connection(place, timeout=PATIENCE) as connection:
        connection.sendall(sent)
        received = b""
        while piece := connection.recv(65536):
            received += piece
    return received


def test_addresses_that_are_none_are_refused(place: tuple[str, int]) -> None:
    rest = b" HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"
    assert raw(place, b"GET /" + b"x" * 17_000 + rest).startswith(b"HTTP/1.1 4")
    for path in ("/bots/%ff", f"{PATH}/bots/%ff", "/bots/%zz", f"{PATH}/bots/%zz"):
        assert raw(place, b"GET " + path.encode() + rest).startswith(b"HTTP/1.1 400"), path
    assert ask(place, f"{PATH}/games")[0].status == 200


def test_two_who_ask_at_once_are_both_answered(place: tuple[str, int]) -> None:
    request = f"GET {PATH}/matches HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n".encode()
    with socket.create_connection(place, PATIENCE) as silent, socket.create_connection(place, PATIENCE):
        silent.sendall(request[:20])
        assert raw(place, request).startswith(b"HTTP/1.1 200")
        silent.sendall(request[20:])
        assert silent.recv(20).startswith(b"HTTP/1.1 200")


def test_every_endpoint_is_described_and_its_example_is_answered_so(place: tuple[str, int], kind: str) -> None:
    described = read(place, "/openapi.json")
    assert described["openapi"] == "3.1.0"
    assert set(described["paths"]) == {endpoint.path for endpoint in ENDPOINTS}
    checked = set()
    for path in [*(path.replace("NOW", "2999-01-01") for path in PATHS), *EXAMPLES]:
        [template] = [
            each for each in described["paths"] if re.fullmatch(re.sub(r"{\w+}", "[^/]+", each), path.partition("?")[0])
        ]
        operation = described["paths"][template]["get"]
        checked.add(template)
        names = {each["name"] for each in operation["parameters"]}
        assert {each.partition("=")[0] for each in path.partition("?")[2].split("&") if each} <= names
        if (kind, path) in NOT_HERE:
            assert NOT_HERE[kind, path] in problem(place, PATH + path)["detail"]
            continue
        content = operation["responses"]["200"]["content"]
        if "application/json" not in content:
            continue
        schema = {**content["application/json"]["schema"], "components": described["components"]}
        Draft202012Validator.check_schema(schema)
        Draft202012Validator(schema).validate(strict(read(place, path), schema, described))
    assert checked == set(described["paths"])
    schema = {"$ref": "#/components/schemas/Problem", "components": described["components"]}
    Draft202012Validator(schema).validate(problem(place, f"{PATH}/matches?limit=0"))


def strict(document: Any, schema: Any, described: Any) -> Any:
    """Check a document as if its schemas forbade further fields, and return the document."""
    if "$ref" in schema:
        return strict(document, described["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]], described)
    if "anyOf" in schema and document is not None:
        for each in schema["anyOf"]:
            if each != {"type": "null"}:
                strict(document, each, described)
        return document
    if isinstance(document, list):
        for each in document:
            strict(each, schema["items"], described)
    elif isinstance(document, dict) and "properties" in schema:
        assert set(schema["required"]) <= set(document) <= set(schema["properties"])
        for name, value in document.items():
            strict(value, schema["properties"][name], described)
    return document


class Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.words = ""
        self.ids: set[str] = set()
        self.links: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids |= {value for name, value in attrs if name == "id" and value}
        self.links |= {value for name, value in attrs if name == "href" and value}

    def handle_data(self, data: str) -> None:
        self.words += data


def test_the_description_can_be_read_by_people(place: tuple[str, int]) -> None:
    answer, content = ask(place, "/api")
    assert answer.status == 200
    page = Text()
    page.feed(content.decode())
    for endpoint in ENDPOINTS:
        assert f"GET {PATH}{endpoint.path}" in page.words
        assert all(parameter.description.replace("`", "") in page.words for parameter in endpoint.parameters)
        assert f"{PATH}{endpoint.example or endpoint.path}'" in page.words, "its example"
    assert "Standard deviation of the live rating, in Elo." in page.words
    assert {link.removeprefix("#") for link in page.links if link.startswith("#")} <= page.ids
    assert f"{PATH}/openapi.json" in page.links


def test_the_document_has_the_example_of_every_endpoint() -> None:
    """The page shows the examples that another test requests, with their descriptions."""
    text = (ROOT / "docs" / "web.md").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^\| `(/[^`]*)` \| (.*) \|$", text.partition("## For programs")[2]) == [
        (each.example or each.path, each.summary) for each in ENDPOINTS
    ]


def test_behind_a_proxy_addresses_have_its_path(played: Played) -> None:
    with browsing("--data", str(played.data), "--root", "/arena") as place:
        answer, _ = ask(place, f"{PATH}/matches?limit=1")
        assert str(answer.getheader("link")).startswith(f"</arena{PATH}/matches?limit=1&before=")
        assert read(place, "/openapi.json")["servers"] == [{"url": f"/arena{PATH}"}]
        assert f'href="/arena{PATH}/openapi.json"' in ask(place, "/api")[1].decode()


def test_every_game_has_a_ladder(place: tuple[str, int]) -> None:
    for game in GAMES:
        assert read(place, f"/ladder/{game}")["game"] == game
