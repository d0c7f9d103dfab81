"""`arena web`: the pages of a real server and of its data directory, as a browser without scripts requests them."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from html import unescape
from html.parser import HTMLParser
from http.client import HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import pytest
import trio

from arena.ladder import think_times
from arena.queries.directory import open_directory
from arena.queries.source import DataSource
from arena.rules import LANGUAGES
from arena.store.base.rows import LadderRows, RatedRow
from arena.web.drawing.ratings import (
    HEIGHT,
    LEFT,
    WIDTH,
    bank_histogram,
    rating_curve,
    refits,
    think_histogram,
)
from arena.web.reading.reader import Missing, Reader, TableLadders
from engine.registry import GAMES
from tests.cli.cli_rig import PATIENCE, Played, arena
from tests.cli.web_process_rig import ask, browsing
from tests.documents import ADDRESS, first_bots

STEPS = 40
"""Number of replay steps that the test requests besides the first step of each replay."""


@pytest.fixture(scope="module")
def places(played: Played) -> Iterator[dict[str, tuple[str, int]]]:
    with browsing("--server", played.server) as server, browsing("--data", str(played.data)) as data:
        yield {"server": server, "data": data}


@pytest.fixture(params=["server", "data"])
def place(request: pytest.FixtureRequest, places: dict[str, tuple[str, int]]) -> tuple[str, int]:
    return places[request.param]


def in_budget(place: tuple[str, int], path: str) -> tuple[HTTPResponse, bytes]:
    """Request a page. Wait while the server refuses calls from this address: slow machines use up their budget."""
    until = time.monotonic() + PATIENCE
    while b"have used it up" in (got := ask(place, path))[1] and time.monotonic() < until:
        time.sleep(1)
    return got


def text_of(place: tuple[str, int], path: str) -> str:
    answer, content = in_budget(place, path)
    assert answer.status == 200, (path, content)
    return content.decode()


def settled(place: tuple[str, int], path: str) -> str:
    """Return a page after all its parts have been computed."""
    until = time.monotonic() + PATIENCE
    while b"data-waiting" in ask(place, path)[1]:
        assert time.monotonic() < until, path
        time.sleep(0.1)
    return text_of(place, path)


class Links(HTMLParser):
    """The links of a page, and the parts that violate a strict content security policy."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.refused: list[str] = []
        self._raw = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.found |= {value for name in ("href", "src", "action") if (value := given.get(name))}
        self.refused += [f"{tag} {name}" for name in given if name == "style" or name.startswith("on")]
        if tag == "style" or (tag == "script" and "src" not in given):
            self.refused.append(tag)


def test_no_link_is_dead_and_every_page_obeys_its_content_security_policy(place: tuple[str, int]) -> None:
    waiting, seen, steps = ["/"], {"/"}, 0
    while waiting:
        path = waiting.pop()
        answer, content = in_budget(place, path)
        assert answer.status == 200, (path, content)
        assert "default-src 'none'" in answer.getheader("content-security-policy", "")
        assert len(content) <= 100_000 or path.startswith("/download/")
        if not answer.getheader("content-type", "").startswith("text/html") or path == "/docs/":
            continue  # the documentation has its own policy and tests
        page = Links()
        page.feed(content.decode())
        assert page.refused == [], path
        for link in sorted(page.found):
            there = urlsplit(link)
            # the URL format of oEmbed
            absolute = there.path == "/oembed" and there.netloc == f"{place[0]}:{place[1]}"
            assert absolute or not there.netloc, f"{path} refers to {link}"
            following = there.path + (f"?{there.query}" if there.query else "")
            if not following or following in seen:
                continue
            if "/steps/" in following and not following.endswith("/steps/1"):  # a sample of the other links
                if steps >= STEPS:
                    continue
                steps += 1
            seen.add(following)
            waiting.append(following)
    assert {"/matches", "/bots", "/matches/1", "/matches/1/steps/1", "/bots/counter", "/write-a-bot"} <= seen
    assert {f"/ladder/{game}" for game in GAMES} <= seen


def test_the_pages_say_the_same_of_a_server_and_of_its_directory(places: dict[str, tuple[str, int]]) -> None:
    for path in ("/ladder/sixth_sense", "/matches", "/matches/2", "/matches/2/steps/30?seat=1", "/bots/rules"):
        said = [re.sub(rf"(:|%3A){place[1]}", r"\1PORT", settled(place, path)) for place in places.values()]
        assert said[0] == said[1]


def test_a_round_comes_at_once_and_its_steps_are_those_of_the_pages(place: tuple[str, int]) -> None:
    found = json.loads(text_of(place, "/matches/1/rounds/2?seat=0"))
    for index in (0, len(found["frames"]) - 1):
        frame, step = found["frames"][index], found["first"] + index
        page = text_of(place, f"/matches/1/steps/{step}?seat=0")
        assert frame["html"] in page
        assert frame["ways"]["next"] == step + 1
    assert "the replay has rounds 1 to" in ask(place, "/matches/1/rounds/99")[1].decode()


def test_what_is_not_there_is_named(place: tuple[str, int]) -> None:
    asked = {
        "/nothing": "There is no page /nothing.",
        "/ladder/chess": "there is no ladder &#39;chess&#39;",
        "/ladder/sixth_sense?seats=99": "is played by 2 to 6, not by 99",
        "/ladder/sixth_sense?seats=-1": "seats is a whole number from 0 to 100",
        "/matches/999": "there is no match 999",
        f"/matches/{1 << 63}": f"numbers in an address are at most {(1 << 63) - 1}, not &#39;{1 << 63}&#39;",
        "/matches?before=x": "before is a whole number",
        "/matches/1/steps/0": "the replay has steps 1 to",
        "/matches/1/steps/1?seat=7": "the replay has seats 0 to 2, not seat 7",
        "/matches/999/replay": "999",
        "/bots/nobody": "no bot &#39;nobody&#39; has played here",
        "/rules/nullern?language=fr": "the rules are written in en, nl, de",
        "/bots/%3Cscript%3E": "&lt;script&gt;",
    }
    for path, why in asked.items():
        answer, content = ask(place, path)
        assert (answer.status, why in content.decode()) == (404, True), (path, content.decode())
        assert "<script>" not in content.decode()


def test_the_address_of_all_rules_leads_to_those_of_a_game(place: tuple[str, int]) -> None:
    answer, _ = ask(place, "/rules")
    assert (answer.status, answer.getheader("location")) == (302, "/rules/sixth_sense")


def test_a_page_that_a_browser_has_is_not_sent_again(place: tuple[str, int]) -> None:
    answer, _ = ask(place, "/rules/nullern")
    again, content = ask(place, "/rules/nullern", if_none_match=answer.getheader("etag", ""))
    assert (again.status, content) == (304, b"")
    head, content = ask(place, "/matches", "HEAD")
    assert (head.status, content) == (200, b"")
    assert ask(place, "/matches", "POST")[0].status == 405


def test_the_replay_that_is_downloaded_verifies(place: tuple[str, int], tmp_path: Path) -> None:
    answer, content = ask(place, "/matches/1/replay")
    name = re.search(r'filename="(.+)"', answer.getheader("content-disposition", ""))
    assert name
    (tmp_path / name[1]).write_bytes(content)
    result = arena("replay", "verify", tmp_path / name[1])
    assert result.exit_code == 0, result.output


def test_rules_come_in_every_language(place: tuple[str, int]) -> None:
    for game in GAMES:
        for language in LANGUAGES:
            page = text_of(place, f"/rules/{game}?language={language}")
            assert f'<html lang="{language}">' in page
            assert "<h1>" in page


def test_the_first_bots_are_those_of_the_documents(
    place: tuple[str, int], places: dict[str, tuple[str, int]], played: Played
) -> None:
    page = text_of(place, "/write-a-bot")
    server = played.server if place == places["server"] else ADDRESS
    installs, *shown = [unescape(code) for code in re.findall(r"<pre[^>]*><code>(.*?)</code></pre>", page, re.DOTALL)]
    assert ".venv/bin/pip install http" in installs
    assert shown == [code.replace(ADDRESS, server) for code in first_bots()]
    assert len(shown) == 6


def test_behind_a_proxy_all_links_have_its_path(played: Played) -> None:
    with browsing("--data", str(played.data), "--root", "/arena") as place:
        page = Links()
        page.feed(text_of(place, "/matches/1/steps/2"))
        assert page.found
        oembed = f"http://{place[0]}:{place[1]}/arena/oembed?"
        assert all(link.startswith(("/arena/", "#", oembed)) for link in page.found)


def test_what_cannot_be_shown_is_named(played: Played, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        result = arena("web", "--data", played.data, "--listen", address)
        assert result.exit_code == 1
        assert "Address already in use; choose another place with --listen" in result.output
    assert "is no HOST:PORT" in arena("web", "--data", played.data, "--listen", "here").output
    assert "no arena.db" in arena("web", "--data", tmp_path).output
    assert "no arena answers at 127.0.0.1:9" in arena("web", "--server", "127.0.0.1:9").output
    assert "begins with a slash" in arena("web", "--data", played.data, "--root", "arena/").output


@pytest.mark.parametrize("ratings", [(1500, 1520, 1490), (1500.2, 1500.3), (0, 4000, -900, 1500), range(1400, 1600)])
def test_a_rating_curve_lies_in_its_frame_and_has_labels(ratings: Sequence[float]) -> None:
    now = datetime.now(UTC)
    rows = [RatedRow(number, now, "", each, each, 300 / (1 + number), False) for number, each in enumerate(ratings)]
    drawn = ET.fromstring(str(rating_curve(rows)))
    for shape in drawn.iter():
        for point in shape.get("points", "").split():
            x, y = map(float, point.split(","))
            assert LEFT <= x <= WIDTH
            assert 0 <= y <= HEIGHT
        for x, y in re.findall(r"[ML]([-0-9.]+) ([-0-9.]+)", shape.get("d", "")):
            assert LEFT <= float(x) <= WIDTH
            assert 0 <= float(y) <= HEIGHT
    assert 1 <= len([*drawn.iter("text")]) <= 7
    assert rating_curve(rows[:1]) == ""


def test_a_rating_curve_tells_new_fits_from_play_and_one_version_from_the_next() -> None:
    noon = datetime(2026, 11, 1, 12, tzinfo=UTC)
    steps = [("a", 1500, 1510), ("a", 1510, 1520), ("a", 1460, 1470), ("b", 1475, 1480), ("b", 1480, 1490)]
    rows = [
        RatedRow(number, noon + timedelta(days=number), version, before, after, 20, False)
        for number, (version, before, after) in enumerate(steps)
    ]
    assert refits(rows) == [2], "a new version is no new fit"
    drawn = ET.fromstring(str(rating_curve(rows)))
    [fitted] = [shape.get("d", "") for shape in drawn.iter("path") if shape.get("class") == "refit"]
    [played] = [shape.get("d", "") for shape in drawn.iter("path") if shape.get("class") == "play"]
    assert fitted.count("M") == 1
    assert (played.count("M"), played.count("L")) == (3, 4), (
        "it begins, and goes on after the fit and in the new version"
    )
    [(x, _), (again, _)] = re.findall(r"[ML]([-0-9.]+) ([-0-9.]+)", fitted)
    assert x == again, "it moves while nothing is played"
    assert [shape.text for shape in drawn.iter("title")][1:] == ["version a", "version b"]
    assert [shape.text for shape in drawn.iter("text")][-3:] == ["01 Nov", "03 Nov", "05 Nov"]


def test_histograms_have_every_value_and_marks_that_fit_it() -> None:
    times = think_times.histogram([900, 1_100, 1_200, 2_000_000])
    drawn = ET.fromstring(str(think_histogram(times)))
    assert drawn[0].text == "Decisions by think time: 4 in all, at most 2 in a bar"
    assert [each.text for each in drawn.iter("text")] == ["100 µs", "10 ms", "1 s"]
    drawn = ET.fromstring(str(bank_histogram([0, 0.55, 1, 1])))
    assert drawn[0].text == "Matches by the share of the bank that was left: 4 in all, at most 2 in a bar"
    assert [each.text for each in drawn.iter("text")] == ["0 %", "50 %", "100 %"]
    assert think_histogram({}) == bank_histogram([]) == ""


def test_many_who_ask_for_a_table_size_have_it_fitted_once(played: Played) -> None:
    fitted = []

    @contextmanager
    def counted() -> Iterator[DataSource]:
        fitted.append(1)
        with open_directory(played.data) as directory:
            yield directory

    async def ask_together() -> None:
        ladders, found = TableLadders(Reader(counted)), list[LadderRows]()

        async def ask_once() -> None:
            found.append(await ladders.ladder("sixth_sense", "", 0, 3))

        async with trio.open_nursery() as nursery:
            for _ in range(8):
                nursery.start_soon(ask_once)
        assert len(found) == 8
        assert all(each is found[0] for each in found)
        with pytest.raises(Missing, match="is played by 2 to 6, not by 9"):
            await ladders.ladder("sixth_sense", "", 0, 9)

    trio.run(ask_together)
    assert len(fitted) == 2
