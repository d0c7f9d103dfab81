"""Atom feeds: valid by RFC 4287, with ids that survive a bot's new name, and each entry sent only once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from uuid import UUID
from xml.etree import ElementTree as ET

import pytest
from sqlalchemy import update

from arena.store import schema
from arena.store.bots import bots
from arena.store.ladder.fits import Fits
from arena.store.ladder.publishing import publish
from arena.store.matches import matches
from arena.store.moderation import moderation
from arena.store.opening import open_to_amend
from arena.web.answers.addresses import Addresses
from arena.web.requests.each_request import RequestRules
from engine.sixth_sense import SIXTH_SENSE
from tests.cli.web_data import DAY, directory_of, finished, pages_of
from tests.cli.web_rig import WebPages
from tests.replay.recorded import STARTED

OWN = "https://arena.example/cards"
ATOM = "{http://www.w3.org/2005/Atom}"
FEEDS = ("/bots/bot-1/feed.atom", "/ladder/sixth_sense/feed.atom", "/decisions.atom")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = directory_of(tmp_path_factory.mktemp("feeds") / "data", 4, 2, 3)
    with open_to_amend(path) as connection:
        own = [bots.known(connection, name).id for name in ("bot-0", "bot-2")]
        for number, day in enumerate((0, 1, 2, 3, 4, 5, 6, 8, 8)):
            at = STARTED + day * DAY + number * DAY // 24
            finished(connection, own, SIXTH_SENSE, 10 + number, at)
            publish(connection, "sixth_sense", Fits().ladder(connection, "sixth_sense"), at)
        moderation.rename(connection, "bot-2", "second", "on <demand> & so", STARTED + DAY)
        moderation.rename(connection, "second", "third", "", STARTED + 2 * DAY)
        moderation.hide(connection, "bot-3", "spam", STARTED + 3 * DAY)
        matches.void(connection, 2, "agreed", STARTED + 4 * DAY)
    return path


@pytest.fixture
def site(data: Path) -> WebPages:
    return pages_of(data, RequestRules(addresses=Addresses(OWN)))


def text(parent: ET.Element, name: str) -> str:
    [found] = parent.findall(ATOM + name)
    assert found.text
    return found.text


def links(parent: ET.Element, relation: str) -> list[str]:
    return [each.attrib["href"] for each in parent.findall(f"{ATOM}link") if each.attrib["rel"] == relation]


def read(site: WebPages, path: str) -> ET.Element:
    """Check that a feed has all elements that RFC 4287 requires. Return the feed."""
    answer = site.get(path, host="evil.example")
    assert answer.status == 200, answer
    assert answer.headers["content-type"].partition(";")[0] == "application/atom+xml"
    assert "evil" not in answer.text
    feed = ET.fromstring(answer.text)
    assert feed.tag == f"{ATOM}feed"
    assert links(feed, "self") == [f"{OWN}{path}"]
    assert text(feed.findall(f"{ATOM}author")[0], "name") == "Arena", "so no entry needs one"
    everything = [feed, *feed.findall(f"{ATOM}entry")]
    for each in everything:
        assert text(each, "title")
        UUID(text(each, "id").removeprefix("urn:uuid:"))
        datetime.fromisoformat(text(each, "updated"))
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", text(each, "updated"))
        [link] = links(each, "alternate")
        assert site.get(link.removeprefix(OWN)).status == 200, link
    ids = [text(each, "id") for each in everything]
    assert len({*ids}) == len(ids)
    updated = [text(each, "updated") for each in everything[1:]]
    assert updated == sorted(updated, reverse=True)
    assert not updated or updated[0] == text(feed, "updated")
    return feed


def titles(feed: ET.Element) -> Sequence[str]:
    return [text(each, "title") for each in feed.findall(f"{ATOM}entry")]


def test_a_bot_has_a_feed_of_its_matches(site: WebPages) -> None:
    feed = read(site, FEEDS[0])
    assert text(feed, "title") == "Matches of bot-1"
    assert [re.sub(r"\d\.", "N.", each) for each in titles(feed)] == [
        "bot-1: N. of 3, 6th Sense",
        "bot-1: N. of 2, 6th Sense, void",
        "bot-1: N. of 4, 6th Sense",
    ]
    assert re.fullmatch(r"1\. \S+ -?\d+, \d\. \S+ -?\d+", text(feed.findall(f"{ATOM}entry")[1], "summary"))
    assert site.get("/bots/nobody/feed.atom").status == 404
    assert site.get("/bots/bot-3/feed.atom").status == 404, "it is hidden"


def test_a_ladder_has_a_feed_of_the_last_ladder_of_each_day(site: WebPages) -> None:
    feed = read(site, FEEDS[1])
    days = [datetime.fromtimestamp(STARTED / 1e6 + day * 86_400, UTC) for day in (8, 6, 5, 4, 3, 2, 1)]
    assert titles(feed) == [f"Ladder of 6th Sense, {day:%Y-%m-%d}" for day in days]
    summary = text(feed.findall(f"{ATOM}entry")[0], "summary")
    assert re.match(r"1\. \S+ \d{3,4}, 2\. ", summary)
    assert titles(read(site, "/ladder/nullern/feed.atom")) == []
    assert site.get("/ladder/chess/feed.atom").status == 404


def test_the_operators_decisions_have_a_feed(site: WebPages) -> None:
    feed = read(site, FEEDS[2])
    assert titles(feed) == ["bot-3 was hidden", "second was renamed third", "bot-2 was renamed second"]
    assert text(feed.findall(f"{ATOM}entry")[2], "summary") == "on <demand> & so"


def test_ids_stay_when_a_bot_gets_another_name_and_the_pages_another_address(tmp_path: Path) -> None:
    path = directory_of(tmp_path / "data", 2, 2)
    before = read(pages_of(path, RequestRules(addresses=Addresses(OWN))), "/bots/bot-1/feed.atom")
    with open_to_amend(path) as connection:
        for name, new_name in (("bot-1", "b"), ("b", "c")):
            moderation.rename(connection, name, new_name, "", STARTED + DAY)
    moved = pages_of(path, RequestRules(addresses=Addresses("http://other.example")))
    assert "https://arena.example" not in moved.get("/bots/c/feed.atom").text
    for name in ("bot-1", "b", "c"):
        after = ET.fromstring(moved.get(f"/bots/{name}/feed.atom").text)
        assert text(after, "title") == "Matches of c"
        assert [text(each, "id") for each in [after, *after.findall(f"{ATOM}entry")]] == [
            text(each, "id") for each in [before, *before.findall(f"{ATOM}entry")]
        ]
    other = ET.fromstring(moved.get("/bots/bot-0/feed.atom").text)
    assert text(other, "id") != text(before, "id")


def test_a_feed_that_a_reader_has_is_not_sent_again(site: WebPages) -> None:
    for path in FEEDS:
        answer = site.get(path)
        again = site.get(path, if_none_match=answer.headers["etag"])
        assert (again.status, again.text) == (304, "")
        changed = answer.headers["last-modified"]
        assert changed == format_datetime(datetime.fromisoformat(text(read(site, path), "updated")), usegmt=True)
        assert site.get(path, if_modified_since=changed).status == 304
        for since in ("Thu, 01 Jan 1970 00:00:00 GMT", "soon", ""):
            assert site.get(path, if_modified_since=since).status == 200, since
        assert site.get(path, if_none_match='"other"', if_modified_since=changed).status == 200


def test_pages_lead_to_their_feeds(site: WebPages) -> None:
    for page, feed in {"/bots/bot-1": FEEDS[0], "/ladder/sixth_sense": FEEDS[1], "/bots": FEEDS[2]}.items():
        assert f'href="/cards{feed}"' in site.get(page).text, page


def test_odd_names_stay_text(tmp_path: Path) -> None:
    path = directory_of(tmp_path / "data", 2)
    name = 'a<b>&"\x00\x0b]]>\ufffe/🃏'
    with open_to_amend(path) as connection:
        connection.execute(update(schema.bots).where(schema.bots.c.name == "bot-0").values(name=name))
    feed = ET.fromstring(pages_of(path).get("/bots/bot-1/feed.atom").text)
    [entry] = feed.findall(f"{ATOM}entry")
    assert 'a<b>&"\ufffd\ufffd]]>\ufffd/🃏' in text(entry, "summary")
