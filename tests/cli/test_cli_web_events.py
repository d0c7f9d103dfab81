"""The pages of events: each state of one, the winner's certificate, and the JSON; without a server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import trio
from jsonschema import Draft202012Validator
from sqlalchemy import Connection

from arena.log.leaf import decode_leaf
from arena.queries.remote import connect
from arena.queries.source import DataSource
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
from tests.cli.cli_rig import shown
from tests.cli.web_data import pages_of
from tests.cli.web_rig import WebPages
from tests.store.jobs import NOW, add_bots, replay

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


def play(connection: Connection, name: str, rounds: int, now: int, loses: int = 5) -> None:
    """Begin an event of ann and bob, and play some rounds of it, or all; ann loses each match of a number."""
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
        ("monday", "Rounds 8"),
        ("early", "No look was taken yet."),
        ("early", "1 ann in – 0.00 0 1 bob in"),
        ("early", "being played"),
        ("sunday", "Announced. Entrants so far: 2."),
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
    assert words(page(site, "/events")).count("finished") == 2


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


def test_pages_that_read_a_server_say_where_events_are_shown() -> None:
    @contextmanager
    def source() -> Iterator[DataSource]:
        with connect("127.0.0.1:1") as client:
            yield client

    pages = WebPages(source)
    for path in ("/events", "/event/friday", "/event/friday/certificate.svg", "/api/v1/events"):
        answer = pages.get(path)
        assert (answer.status, "the pages beside it" in answer.text) == (404, True), path
    with source() as server:
        assert newest_events(server) == ()
