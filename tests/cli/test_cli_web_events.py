"""The pages of events without a server: every state of an event, the winner's certificate, and the JSON."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import grpc
import pytest
import trio
from jsonschema import Draft202012Validator
from PIL import Image
from sqlalchemy import Connection

from arena.ladder.live import RatingChange
from arena.log.leaf import decode_leaf
from arena.queries.events import BundleDiffersError, is_bundle, verify_bundle
from arena.queries.remote import connect
from arena.queries.source import DataSource
from arena.replay.hash_chain import PackedReplay, pack_replay
from arena.replay.header import MatchKind
from arena.scheduling.event.course import EarlierMatches, EventCourse, PlayedTable, race_document
from arena.store.base import leaves
from arena.store.bots.bots import BotId
from arena.store.matches import contests, matches
from arena.store.matches.contests import EventPlan, EventRoll
from arena.store.moderation import moderation
from arena.store.opening import open_readonly, open_to_amend
from arena.store.store import open_store
from arena.web.answers.addresses import Addresses
from arena.web.reading.reader import newest_events
from arena.web.requests.each_request import RequestRules
from tests.cli.cli_rig import arena, serving, shown
from tests.cli.web_data import pages_of
from tests.cli.web_rig import WebPages
from tests.store.jobs import NOW, add_bots

GAME = "nullern"
HOUR = 3_600_000_000
STATES = {
    "friday": "finished",
    "tuesday": "finished",
    "monday": "playing",
    "early": "playing",
    "sunday": "announced",
    "rainy": "cancelled",
}


def replay(changes: tuple[RatingChange, ...]) -> PackedReplay:
    return pack_replay([json.dumps({"changes": repr(changes)})])


def play(connection: Connection, name: str, rounds: int, now: int, loses: int = 5) -> None:
    """Start an event of ann and bob, and play some or all of its rounds. Ann loses every match whose table number is
    divisible by `loses`.
    """
    ann, bob = (each.bot_id for each in contests.entrants(connection, contests.find(connection, name).id))
    event = contests.start(connection, name, {ann: b"a" * 16, bob: b"b" * 16}, EarlierMatches(), now)
    course = EventCourse(contests.terms(connection, event))
    for number in range(rounds):
        course.end_round(0)
        if course.race.over:
            contests.finish(connection, event, race_document(course.race), now)
            return
        contests.call_roll(connection, event, EventRoll(number, course.still_in, 0), now)
        course.begin_round(course.still_in, 0)
        for table in course.open_tables:
            own = [bot or 0 for bot in course.seated(table)]
            scores = [9 * ((bot == ann) == (table.number % loses > 0)) for bot in own]
            place = f"{name}/{table.number}"
            match_id = matches.begin(connection, GAME, {}, [BotId(bot) for bot in own], now, event=place)
            places = [1 + sum(other > each for other in scores) for each in scores]
            result: dict[str, Any] = {"scores": scores, "places": places, "forced": (0, 0), "counts": (True, True)}
            matches.finish(connection, match_id, **result, at=now, replay=replay, kind=MatchKind.EVENT)
            course.record(table.number, PlayedTable((*own,), (*scores,), (True, True)))


def with_events(path: Path, now: int = NOW) -> Path:
    """Make a data directory with an event in each state."""

    async def opened() -> None:
        async with open_store(path, now):
            pass

    trio.run(opened)
    with open_to_amend(path) as connection:
        add_bots(connection, "ann", "bob")
        for name, matches_ in zip(STATES, (60, 10, 60, 60, 60, 60), strict=True):
            plan = EventPlan(name, GAME, 2, "race", matches_, None, "open", now + HOUR)
            contests.create(connection, plan, bytes(range(32)), ["ann", "bob"], now)
        play(connection, "friday", 99, now, loses=3)
        play(connection, "tuesday", 99, now, loses=3)
        play(connection, "monday", 8, now)
        play(connection, "early", 0, now)
        contests.cancel(connection, "rainy", "<b>rain</b> & so", now)
    trio.run(opened)  # the log's head is signed
    with open_to_amend(path) as connection:
        matches.begin(connection, GAME, {}, [BotId(1), BotId(2)], now, event="early/0")
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_events(tmp_path_factory.mktemp("events") / "data")


@pytest.fixture(scope="module")
def site(data: Path) -> WebPages:
    return pages_of(data)


def page(site: WebPages, path: str) -> str:
    answer = site.get(path)
    assert answer.status == 200, (path, answer)
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    return answer.text


def words(text: str) -> str:
    """Return a page's text without its markup."""
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("friday", "ann wins. With P 0.02 another bot is better than ann by more than"),
        ("friday", "1 ann in +"),
        ("friday", "2 bob in +"),
        ("friday", "arena event verify friday.bundle"),
        ("tuesday", "Undecided between ann (P 0."),
        ("monday", "ann leads."),
        ("monday", "Points and P(best) are those of the last look"),
        ("monday", "Played 8 of 60 tables Rounds 8"),
        ("early", "No look was taken yet."),
        ("early", "1 ann in – – 0 1 bob in"),
        ("early", "Being played Table 1 : ann , bob"),
        ("sunday", "Announced. Entrants so far: 2. It starts 2023-11-14 23:13:20 UTC ."),
        ("sunday", "Entrants ann bob Bots enter with --event sunday"),
        ("rainy", "Cancelled: &lt;b&gt;rain&lt;/b&gt; &amp; so."),
    ],
)
def test_a_page_says_how_an_event_stands(site: WebPages, name: str, found: str) -> None:
    assert found in words(page(site, f"/event/{name}")), words(page(site, f"/event/{name}"))


def test_only_events_to_come_are_updated_and_only_decided_ones_have_a_certificate(site: WebPages) -> None:
    for name, state in STATES.items():
        text = page(site, f"/event/{name}")
        assert ("data-waiting" in text) == ("later.js" in text) == (state in {"announced", "playing"})
        assert ('class="certificate"' in text) == (name == "friday")
        assert site.get(f"/event/{name}/certificate.svg").status == (200 if name == "friday" else 404)
        assert f'<a href="/event/{name}">{name}</a>' in page(site, "/events")
    assert "the event monday has no winner" in site.get("/event/monday/certificate.svg").text
    first = page(site, "/")
    assert '<a href="/events">All events</a>' in first
    assert first.count('href="/event/') == 5
    assert words(page(site, "/events")).count("ann won") == 1
    assert words(page(site, "/events")).count("tuesday undecided") == 1


def test_a_page_links_to_matches_and_to_listed_bots(site: WebPages, tmp_path: Path) -> None:
    played = [int(each) for each in re.findall(r'href="/matches/(\d+)"', page(site, "/event/friday"))]
    document = json.loads(page(site, "/api/v1/events/friday"))
    assert played == [each["match"] for each in document["tables"]][::-1]
    assert len(played) > 20
    assert '<a href="/bots/ann">ann</a>' in page(site, "/event/friday")
    hidden = with_events(tmp_path / "data")
    with open_to_amend(hidden) as connection:
        moderation.hide(connection, "bob", "spam", NOW)
    text = page(pages_of(hidden), "/event/friday")
    assert "/bots/ann" in text
    assert "/bots/bob" not in text


def test_the_certificate_names_winner_and_leaf(site: WebPages, data: Path) -> None:
    answer = site.get("/event/friday/certificate.svg")
    assert answer.headers["content-type"] == "image/svg+xml"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert site.get("/event/friday/certificate.svg", if_none_match=answer.headers["etag"]).status == 304
    drawn = ET.fromstring(answer.text)
    assert {each.tag.partition("}")[2] for each in drawn.iter()} == {"svg", "title", "rect", "text", "path"}
    text = " ".join("".join(drawn.itertext()).split())
    log = json.loads(page(site, "/api/v1/log/head"))["log"]
    for part in ("event friday was won by", "ann", "2023-11-14", "2 bots in", "Nullern, tables of 2", log):
        assert part in text, text
    with open_readonly(data) as connection:
        leaf = decode_leaf(leaves.leaf(connection, int(re.findall(r"Leaf (\d+)", text)[0])))
    assert (leaf["kind"], leaf["event"], leaf["winner"]) == ("outcome", "friday", "ann")


def test_a_bundle_is_downloaded_and_verified(site: WebPages, tmp_path: Path) -> None:
    answer = site.get("/event/friday/bundle")
    assert answer.headers["content-disposition"] == 'attachment; filename="friday.bundle"'
    text = page(site, "/event/friday")
    assert 'href="/event/friday/bundle" download="friday.bundle"' in text
    assert "/bundle" not in page(site, "/event/monday")
    assert "the event monday is playing" in site.get("/event/monday/bundle").text
    file = tmp_path / "friday.bundle"
    file.write_bytes(answer.content)
    assert is_bundle(file)
    with pytest.raises(BundleDiffersError, match="the replay of match 1 is damaged"):
        verify_bundle(file)


def test_the_feed_has_each_event_once_with_its_state(site: WebPages) -> None:
    answer = site.get("/events.atom")
    assert answer.headers["content-type"] == "application/atom+xml"
    atom = "{http://www.w3.org/2005/Atom}"
    titles = [each.findtext(f"{atom}title") for each in ET.fromstring(answer.text).iter(f"{atom}entry")]
    assert titles == [
        "rainy: was cancelled",
        "sunday: announced for 2023-11-14 23:13 UTC",
        "early: has begun",
        "monday: has begun",
        "tuesday: ended undecided",
        "friday: ann won",
    ]
    for path in ("/events", "/event/sunday"):
        assert 'type="application/atom+xml" title="Events" href="/events.atom"' in page(site, path)


@pytest.mark.parametrize("name", STATES)
def test_each_event_has_a_picture(site: WebPages, name: str) -> None:
    answer = site.get(f"/event/{name}/picture.png")
    assert answer.headers["content-type"] == "image/png"
    assert Image.open(BytesIO(answer.content)).size == (1200, 630)


def test_the_list_has_pages(site: WebPages) -> None:
    first = json.loads(page(site, "/api/v1/events?limit=4"))
    rest = json.loads(page(site, f"/api/v1/events?limit=4&before={first['events'][-1]['number']}"))
    assert [each["name"] for each in first["events"] + rest["events"]] == [*STATES][::-1]
    text = page(site, f"/events?before={rest['events'][0]['number']}")
    assert re.findall(r'href="/event/(\w+)"', text) == ["friday"]


def test_the_json_is_that_of_the_command_line_and_of_its_description(site: WebPages, data: Path) -> None:
    described = json.loads(page(site, "/api/v1/openapi.json"))
    for path, template, verb in (
        ("/events", "/events", ["list"]),
        *((f"/events/{name}", "/events/{name}", ["show", name]) for name in STATES),
    ):
        document = json.loads(page(site, f"/api/v1{path}"))
        assert document == json.loads(shown("event", *verb, "--data", data, "--json"))
        schema = described["paths"][template]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        Draft202012Validator({**schema, "components": described["components"]}).validate(document)
    assert "seed" not in json.loads(page(site, "/api/v1/events/monday"))


def test_an_event_that_is_not_there_is_named(site: WebPages) -> None:
    for path in ("/event/{}", "/event/{}/certificate.svg"):
        answer = site.get(path.format("<script>"))
        assert answer.status == 404
        assert "there is no event &#39;&lt;script&gt;&#39;" in answer.text
        assert "<script>" not in answer.text
    answer = site.get("/api/v1/events/nobody")
    assert (answer.status, answer.headers["content-type"]) == (404, "application/problem+json")
    assert "there is no event 'nobody'" in json.loads(answer.text)["detail"]


def test_pages_below_a_path_link_below_it(data: Path) -> None:
    text = page(pages_of(data, RequestRules(addresses=Addresses("https://arena.example/cards"))), "/event/friday")
    assert 'src="/cards/event/friday/certificate.svg"' in text
    assert 'href="/event' not in text


def test_a_directory_without_events_does_not_mention_them(tmp_path: Path) -> None:
    async def opened() -> None:
        async with open_store(tmp_path / "data", NOW):
            pass

    trio.run(opened)
    empty = pages_of(tmp_path / "data")
    assert "/events" not in page(empty, "/")
    assert "None was announced yet" in page(empty, "/events")


@pytest.mark.process
def test_a_server_answers_as_its_directory_does(tmp_path: Path) -> None:
    data = with_events(tmp_path / "data", time.time_ns() // 1000)
    with serving(data) as served:
        compare(served.server, data, tmp_path)


def compare(server: str, data: Path, folder: Path) -> None:
    """Check that a server and its directory give the same answers about events."""

    @contextmanager
    def source() -> Iterator[DataSource]:
        with connect(server) as client:
            yield client

    of_server = WebPages(source)
    listed = shown("event", "list", "--server", server, "--json")
    assert listed == shown("event", "list", "--data", data, "--json")
    for name in ("friday", "tuesday", "monday", "rainy"):
        document = json.loads(shown("event", "show", name, "--server", server, "--json"))
        assert document == json.loads(shown("event", "show", name, "--data", data, "--json"))
        assert document == json.loads(page(of_server, f"/api/v1/events/{name}"))
        verdict = re.search(r"<p><strong>(.*?)</strong>", page(of_server, f"/event/{name}"))
        assert verdict is not None
        assert verdict[1] in page(pages_of(data), f"/event/{name}")
    assert words(page(of_server, "/events")).count("won") == 1
    for name, code in (("friday", 0), ("tuesday", 4)):
        found = arena("event", "result", name, "--server", server, "--json")
        assert found.exit_code == code
        assert json.loads(found.stdout) == json.loads(shown("event", "show", name, "--data", data, "--json"))["result"]
    one = json.loads(shown("event", "list", "--server", server, "--limit", "1", "--before", "3", "--json"))["events"]
    assert [each["number"] for each in one] == [2]
    files = folder / "server.bundle", folder / "directory.bundle"
    shown("event", "export", "friday", files[0], "--server", server)
    shown("event", "export", "friday", files[1], "--data", data)
    assert files[0].read_bytes() == files[1].read_bytes() == of_server.get("/event/friday/bundle").content
    for call in ("show", "result"):
        assert "there is no event 'nobody'" in arena("event", call, "nobody", "--server", server).output
    refused = arena("event", "export", "monday", folder / "monday.bundle", "--server", server)
    assert "the event monday is playing: only a finished one has a bundle" in refused.output
    assert {each.name for each in folder.iterdir()} == {"data", *(each.name for each in files)}


def test_a_server_without_the_calls_is_named() -> None:
    older = grpc.server(ThreadPoolExecutor(1))
    address = f"127.0.0.1:{older.add_insecure_port('127.0.0.1:0')}"
    older.start()

    @contextmanager
    def source() -> Iterator[DataSource]:
        with connect(address) as client:
            yield client

    try:
        text = f"the arena at {address} is older than this program and does not answer about events"
        for verb in (("list",), ("show", "friday"), ("result", "friday"), ("export", "friday", "never.bundle")):
            assert text in arena("event", *verb, "--server", address).output
        pages = WebPages(source)
        for path in ("/events", "/event/friday", "/event/friday/bundle", "/events.atom", "/api/v1/events"):
            answer = pages.get(path)
            assert (answer.status, text in answer.text) == (404, True), path
        with source() as client:
            assert newest_events(client) == ()
    finally:
        older.stop(None).wait()
