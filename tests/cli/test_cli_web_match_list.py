"""The list of matches with its filters, which the links to further pages preserve."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html import unescape
from pathlib import Path

import pytest

from arena.store.matches import matches
from arena.store.matches import search as match_search
from arena.store.opening import open_readonly
from arena.web.pages import matches as match_pages
from tests.cli.web_data import directory_of, pages_of
from tests.cli.web_rig import WebPages
from tests.replay.recorded import STARTED

TABLES = (2, 3, 4, 4, 2)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return directory_of(tmp_path_factory.mktemp("list") / "data", *TABLES)


def listed(pages: WebPages, query: str) -> list[int]:
    answer = pages.get(f"/matches?{query}")
    assert answer.status == 200, answer.text
    return [int(number) for number in re.findall(r'<a href="/matches/(\d+)">\1</a>', answer.text)]


def test_matches_are_found_by_size_bots_days_faults_and_place(data: Path) -> None:
    pages = pages_of(data)
    with open_readonly(data) as connection:
        rows = {row.match_id: row for row in matches.list_matches(connection)}
    assert listed(pages, "") == [5, 4, 3, 2, 1]
    assert listed(pages, "seats=4") == [4, 3]
    assert listed(pages, "bot=bot-2") == [4, 3, 2]
    assert listed(pages, "bot=bot-0&opponent=BOT-3") == [4, 3]
    forced = [number for number, row in rows.items() if row.seats[1].forced]
    assert listed(pages, "bot=bot-1&faults=1") == forced
    assert forced
    lost = [number for number, row in rows.items() if row.seats[0].place == max(seat.place or 0 for seat in row.seats)]
    assert listed(pages, "bot=bot-0&lost=1") == lost
    assert 0 < len(lost) < len(rows)
    second = datetime.fromtimestamp(STARTED / 1e6 + 86400, UTC).date()
    assert listed(pages, f"since={second}&until={second}") == [2]
    assert listed(pages, f"until={second}") == [2, 1]
    assert listed(pages, "state=interrupted") == []


def test_further_pages_keep_the_filters(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_pages, "LISTED", 1)
    pages, found = pages_of(data), []
    query: str | None = "bot=bot-0&opponent=bot-3&seats=4"
    while query is not None:
        text = pages.get(f"/matches?{query}").text
        found += listed(pages, query)
        further = re.search(r'<a rel="next" href="/matches\?([^"]+)"', text)
        query = unescape(further[1]) if further else None
        if query is not None:
            assert query.startswith("bot=bot-0&opponent=bot-3&seats=4&before=")
            assert 'name="opponent" value="bot-3"' in pages.get(f"/matches?{query}").text
    assert found == [4, 3]


def test_a_page_says_when_it_looked_through_many_matches_in_vain(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_search, "SEARCHED", 1)
    text = pages_of(data).get("/matches?seats=4").text
    assert "None among the 2000 matches that were looked through; there are older ones." in text
    assert 'rel="next"' in text


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("lost=1", "a search for lost matches needs a bot; name one"),
        ("bot=bot-0&faults=yes", "faults is 1 or 0, not &#39;yes&#39;"),
        ("state=void", "a match is finished, playing, interrupted, not &#39;void&#39;"),
        ("since=soon", "since is a date or an instant"),
        ("seats=many", "seats is a whole number"),
    ],
)
def test_what_cannot_be_filtered_by_is_named(data: Path, query: str, why: str) -> None:
    answer = pages_of(data).get(f"/matches?{query}")
    assert (answer.status, why in answer.text) == (404, True), answer.text
