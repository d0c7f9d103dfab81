"""Past ladders on the pages, and the age of the current ladder when newer results cannot be fitted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any
from urllib.parse import quote

import pytest

from arena.ladder.ladder import FlagKind
from arena.queries.directory import Directory, open_directory
from arena.queries.figures import leaders
from arena.queries.live import GameStatusRow
from arena.queries.source import DataSource
from arena.store.base.rows import FlagRow, LadderRows, LuckRow
from arena.web.answers.responses import fragment
from arena.web.live.feed import LiveTable
from tests.cli.cli_rig import Played
from tests.cli.ladder_rows import SECOND, SETTLED
from tests.cli.web_data import pages_of, with_ladders
from tests.cli.web_rig import WebPages

GAME = "sixth_sense"


class _Changed:
    """A directory whose current ladder differs from the past one."""

    def __init__(self, directory: Directory, **changes: object) -> None:
        self._directory, self._changes = directory, changes

    def __getattr__(self, name: str) -> object:
        return getattr(self._directory, name)

    def ladder(self, *words: Any, **named: Any) -> LadderRows:
        return replace(self._directory.ladder(*words, **named), **self._changes)  # type: ignore[arg-type]


def pages(played: Played, **changes: object) -> WebPages:
    @contextmanager
    def source() -> Iterator[DataSource]:
        with open_directory(played.data) as directory:
            yield _Changed(directory, **changes)  # type: ignore[misc]

    return WebPages(source)


def test_a_ladder_of_the_past_is_the_one_published_until_then(played: Played) -> None:
    with open_directory(played.data) as directory:
        kept = directory.past_ladder(GAME, datetime.now(UTC))
    assert kept.published is not None
    browser = pages(played)
    page = browser.get(f"/ladder/{GAME}?at=2999-01-01")
    assert page.status == 200
    assert f"up to event {kept.through}" in page.text
    for row in kept.standings:
        assert f"<strong>{row.rating:.0f}</strong>" in page.text
    stamp = re.search(r"\?at=(\S+)\">the one before", page.text)
    assert stamp
    before = datetime.fromisoformat(stamp[1]).replace(tzinfo=UTC)
    assert before == kept.published - timedelta(microseconds=1)
    assert f"up to event {kept.through}" not in browser.get(f"/ladder/{GAME}?at={stamp[1]}").text
    assert "No ladder is kept that was published until 2001-02-03 23:59:59 UTC" in (
        browser.get(f"/ladder/{GAME}?at=2001-02-03").text
    )
    zoned = kept.published.astimezone().isoformat()
    assert f"up to event {kept.through}" in browser.get(f"/ladder/{GAME}?at={quote(zoned)}").text


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("at=yesterday", "at is a date or an instant such as 2026-11-23T18:30, not &#39;yesterday&#39;"),
        ("at=9999-12-31T23:59-05:00", "at is a date or an instant"),
        ("at=2026-01-01&seats=3", "ladders of the past are of all tables"),
    ],
)
def test_what_is_no_instant_is_named(played: Played, query: str, why: str) -> None:
    answer = pages(played).get(f"/ladder/{GAME}?{query}")
    assert (answer.status, why in answer.text) == (404, True), answer.text


def test_a_ladder_that_is_not_fitted_any_more_says_how_old_it_is_and_why(played: Played) -> None:
    published = datetime.now(UTC) - timedelta(hours=5, minutes=1)
    since = datetime(2026, 11, 23, 18, tzinfo=UTC)
    page = pages(played, published=published, not_fitted_since=since, not_fitted_reason="no memory <was> left")
    text = page.get(f"/ladder/{GAME}").text
    assert "This ladder is 5 hours old." in text
    assert "Newer results have not been fitted since 2026-11-23 18:00:00 UTC: no memory &lt;was&gt; left" in text
    assert "not fitted" not in pages(played).get(f"/ladder/{GAME}").text


def test_what_stands_out_is_a_sentence_and_no_verdict(played: Played) -> None:
    flag = FlagRow(FlagKind.PAIR, "rules", "", "rules", "random", "random", 312, 0.181, 8.12)
    text = pages(played, flags=(flag,)).get(f"/ladder/{GAME}").text
    assert "rules scores 18 points in 100 more against random than their ratings say" in text
    assert "in 312 results; 8.1 standard errors" in text
    assert "It is no verdict" in text
    assert text.count('href="#flags"') == 1


def cells(text: str, bot: str) -> dict[str, str]:
    """Return the cells of a bot's row by heading, from the first ladder of a page."""
    text = text.partition('<table class="ladder">')[2]
    head, body = (text.partition(f"<{part}>")[2].partition(f"</{part}>")[0] for part in ("thead", "tbody"))
    (row,) = (each for each in body.split("<tr>") if f">{bot}</a>" in each)

    def plain(part: str) -> list[str]:
        return [
            unescape(re.sub("<[^>]*>", "", cell)).strip() for cell in re.findall(r"<t[hd].*?</t[hd]>", part, re.DOTALL)
        ]

    return dict(zip(plain(head), plain(row), strict=True))


def test_points_are_plain_as_in_the_terminal_and_luck_adjusted_ones_have_a_column_of_their_own(played: Played) -> None:
    luck = LuckRow(matches=40, plain=12.34, plain_error=2.0, adjusted=10.06, adjusted_error=1.5)
    rows = (replace(SETTLED, luck=luck), replace(SECOND, luck=replace(luck, plain_error=None, adjusted_error=None)))
    page = pages(played, standings=rows)
    for path in (f"/ladder/{GAME}", "/"):
        text = page.get(path).text
        ann, bob = cells(text, "ann"), cells(text, "bob")
        assert (ann["Points"], ann["Luck-adjusted"]) == ("12.3 ± 3.9", "10.1 ± 2.9"), path
        assert (bob["Points"], bob["Luck-adjusted"]) == ("12.3", "10.1"), "one match has no interval"
    assert "luck-adjusted points exclude the luck of the deals" in page.get(f"/ladder/{GAME}").text
    half = pages(played, standings=(rows[0], SECOND)).get(f"/ladder/{GAME}").text
    assert (cells(half, "bob")["Points"], cells(half, "bob")["Luck-adjusted"]) == ("–", "–")
    unknown = cells(pages(played, standings=(SETTLED,)).get(f"/ladder/{GAME}").text, "ann")
    assert unknown.keys().isdisjoint({"Points", "Luck-adjusted"}), "no column has nothing but dashes"


def test_an_axis_stands_over_the_intervals_and_cut_ends_are_marked(played: Played) -> None:
    wide = replace(SECOND, rating=1500.0, deviation=900.0, provisional=True)
    text = (
        pages(played, standings=(replace(SETTLED, rating=1640.0, deviation=10.0, provisional=False), wide))
        .get(f"/ladder/{GAME}")
        .text
    )
    axis = re.search(r'data-scale="(\d+) (\d+)".*?</svg>', text)
    assert axis
    assert (int(axis[1]), int(axis[2])) == (1500, 1700)
    assert re.findall(r">(\d+)</text>", axis[0]) == ["1500", "1600", "1700"]
    drawn = re.findall(r"<svg data-of-scale=.*?</svg>", text)
    assert [each.count('class="cut"') for each in drawn] == [0, 2]
    assert all('data-of-scale="1500 1700"' in each for each in drawn)


def test_mean_points_and_the_last_match_are_drawn_where_they_are_known(played: Played) -> None:
    rows = (SETTLED, replace(SECOND, mean_points=None, last_match=None))
    text = pages(played, standings=rows).get(f"/ladder/{GAME}").text
    ann, bob = cells(text, "ann"), cells(text, "bob")
    assert (ann["Mean points"], ann["Last match"]) == ("61.3", "2026-03-01 12:00:00 UTC")
    assert (bob["Mean points"], bob["Last match"]) == ("–", "–"), "a server of before does not report them"
    of_size = pages(played, standings=rows, seats=3).get(f"/ladder/{GAME}").text
    assert "Mean points" not in of_size
    assert "Last match" not in of_size


def test_bots_that_cannot_be_told_apart_share_a_rank_and_the_chance_of_being_best(played: Played) -> None:
    first = tuple(replace(SETTLED, rank=rank, bot=f"copy-{rank}", rank_high=3, best=0.3) for rank in (1, 2, 3))
    behind = replace(SECOND, rank=4, bot="dan", rank_low=2, rank_high=4, best=0.1)
    page = pages(played, standings=(*first, behind))
    for path in (f"/ladder/{GAME}", "/"):
        text = page.get(path).text
        rows = [cells(text, bot) for bot in ("copy-1", "copy-2", "copy-3", "dan")]
        assert [row["#"] for row in rows] == ["1", "1", "1", "4"]
        assert [row["P(best)"] for row in rows] == ["one of 3: 90 %", "″", "″", "10 %"]
    assert "Rank 1 is shared by bots that the results cannot tell apart" in page.get(f"/ladder/{GAME}").text
    alone = pages(played, standings=(replace(SETTLED, rank_high=1), replace(SECOND, rank_low=2)))
    assert cells(alone.get(f"/ladder/{GAME}").text, "ann")["P(best)"] == "70 %"
    assert "is shared" not in alone.get(f"/ladder/{GAME}").text


def test_a_ladder_of_the_past_shares_the_first_rank_likewise(played: Played) -> None:
    with open_directory(played.data) as directory:
        (*rows,) = directory.past_ladder(GAME, datetime.now(UTC)).standings
    shared = leaders(rows)
    assert len(shared.names) > 1, "few matches tell nobody apart"
    text = pages(played).get(f"/ladder/{GAME}?at=2999-01-01").text
    assert cells(text, rows[0].bot)["P(best)"] == shared.chance(rows[0])
    assert {cells(text, name)["#"] for name in shared.names} == {"1"}
    assert "Rank 1 is shared by bots" in text


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> WebPages:
    """The pages over a directory with the default ladder and a ladder "slow" with two seasons."""
    return pages_of(with_ladders(tmp_path_factory.mktemp("several") / "data"))


def links(text: str) -> set[str]:
    return {unescape(each) for each in re.findall(r'href="([^"]*)"', text)}


def test_a_ladder_has_a_page_and_each_season_of_it(several: WebPages) -> None:
    new, old, usual = (several.get(f"/ladder/{path}").text for path in ("slow", "slow?season=1", GAME))
    assert "<h1>Ladder of slow (6th Sense), season 2</h1>" in new
    assert "<h1>Ladder of slow (6th Sense)</h1>" in old
    assert "<h1>Ladder of 6th Sense</h1>" in usual
    assert [text.count("/bots/bot-3") for text in (new, old, usual)] == [0, 1, 1], "it played three matches"
    assert {"/ladder/slow?season=1", "/ladder/slow", "/ladder/slow?seats=4", "/matches?ladder=slow"} <= links(new)
    assert {"/ladder/slow?seats=4&season=1", "/matches?ladder=slow&season=1"} <= links(old)
    assert ["data-live" in text for text in (new, old)] == [True, False], "a past season does not change"
    assert 'name="season" value="1"' in old, "its form asks for the same season"
    past = several.get("/ladder/slow?season=1&at=2999-01-01").text
    assert "from results up to event 2" in past
    assert {"/ladder/slow?season=1"} <= links(past)
    assert "up to event 1" in several.get("/ladder/slow?at=2999-01-01").text
    assert "Season" not in usual, "it has one season"
    assert "of 3" in several.get("/ladder/slow?seats=3").text
    for path, why in (
        ("/ladder/fast", "there is no ladder"),
        ("/ladder/slow?season=3", "numbered from 1 to 2"),
        ("/ladder/slow?season=x", "season is a whole number"),
        ("/matches?ladder=slow&game=nullern", "of sixth_sense, not of nullern"),
        ("/matches?season=2", "season 2 of which ladder"),
        ("/bots/bot-0?ladder=fast", "there is no ladder"),
    ):
        answer = several.get(path)
        assert (answer.status, why in unescape(answer.text)) == (404, True), path


def test_the_first_page_lists_the_ladders_where_there_are_more(several: WebPages, played: Played) -> None:
    text = several.get("/").text
    [table] = re.findall(r'aria-label="Ladders".*?</table>', text, re.DOTALL)
    rows = [re.sub(r"<[^>]*>", " ", row).split() for row in re.findall(r"<tr>.*?</tr>", table, re.DOTALL)[1:]]
    assert rows == [
        ["sixth_sense", "6th", "Sense", "4", "1", "1"],
        ["nullern", "Nullern", "0", "0", "1"],
        ["slow", "6th", "Sense", "3", "1", "2"],
    ]
    assert "/ladder/slow" in links(table)
    assert 'aria-label="Ladders"' not in pages(played).get("/").text


def test_matches_name_their_ladder_and_are_found_by_it(several: WebPages) -> None:
    def numbers(query: str) -> list[int]:
        return [
            int(each) for each in re.findall(r'<th scope="row" class="number"><a[^>]*>(\d+)<', several.get(query).text)
        ]

    assert numbers("/matches") == numbers(f"/matches?game={GAME}") == [4, 3, 2, 1]
    assert numbers("/matches?ladder=slow") == [4]
    assert numbers("/matches?ladder=slow&season=1&bot=bot-0") == [3, 2]
    assert numbers(f"/matches?game={GAME}&season=1") == [1]
    text = several.get("/matches").text
    assert '6th Sense, <a href="/ladder/slow?season=2">slow, season 2</a>' in text
    assert '6th Sense, <a href="/ladder/slow?season=1">slow</a>' in text
    assert '<option value="slow"' in text
    assert '6th Sense, <a href="/ladder/slow?season=2">slow, season 2</a></h1>' in several.get("/matches/4").text


def test_a_bot_is_shown_on_the_ladder_of_its_newest_match_or_on_another(several: WebPages) -> None:
    newest = several.get("/bots/bot-0").text
    assert "<h2>slow (6th Sense), season 2</h2>" in newest
    assert "1 of its last 1<" in newest
    assert {"/ladder/slow", "/bots/bot-0/opponents?ladder=slow", "/matches?ladder=slow&bot=bot-0"} & links(newest)
    old = several.get("/bots/bot-0?ladder=slow&season=1").text
    assert "1 of its last 2<" in old
    assert {"/ladder/slow?season=1", "/bots/bot-0?ladder=slow", f"/bots/bot-0?game={GAME}"} <= links(old)
    usual = several.get(f"/bots/bot-0?game={GAME}").text
    assert "<h2>6th Sense</h2>" in usual
    assert "1 of its last 1<" in usual
    against = several.get("/bots/bot-3/opponents?ladder=slow&season=1").text
    assert "slow (6th Sense)</h1>" in against
    assert "/matches?ladder=slow&season=1&bot=bot-3&opponent=bot-0" in links(against)
    assert "It has met nobody" in several.get("/bots/bot-3/opponents?ladder=slow").text


def test_the_feed_of_a_ladder_is_that_of_its_season(several: WebPages) -> None:
    def feed(path: str) -> tuple[list[str], list[str]]:
        text = several.get(path).text
        return re.findall("<id>(.*)</id>", text), re.findall("<title>(.*)</title>", text)

    new, old = feed("/ladder/slow/feed.atom"), feed("/ladder/slow/feed.atom?season=1")
    assert new[1] == ["Ladder of slow (6th Sense), season 2", "Ladder of slow (6th Sense), season 2, 2026-09-27"]
    assert not {*new[0]} & {*old[0]}, "an entry of another season has another id"


def test_programs_read_ladders_and_seasons(several: WebPages) -> None:
    def read(path: str) -> Any:
        answer = several.get(f"/api/v1{path}")
        assert answer.status == 200, answer.text
        return json.loads(answer.text)

    listed = {each["name"]: each for each in read("/ladders")["ladders"]}
    assert [*listed] == [GAME, "nullern", "slow"]
    assert [(each["number"], each["events"], each["bots"]) for each in listed["slow"]["seasons"]] == [
        (1, 2, 4),
        (2, 1, 3),
    ]
    assert listed["slow"]["soft_limit_ms"] is None, "a directory does not have it"
    assert (read("/ladder/slow")["season"], read("/ladder/slow?season=1")["season"]) == (2, 1)
    assert not {"ladder", "season"} & read(f"/ladder/{GAME}").keys()
    assert read("/ladder/slow/past?at=2999-01-01&season=1")["through"] == 2
    assert read("/ladder/slow?seats=3")["ladder"] == "slow"
    [history] = read("/bots/bot-0/history?ladder=slow&season=1")["histories"]
    assert ([row["match"] for row in history.pop("matches")], history) == (
        [2, 3],
        {"game": GAME, "ladder": "slow", "season": 1},
    )
    assert read("/bots/bot-0/versions?ladder=slow")["games"][0]["season"] == 2
    assert read("/bots/bot-0?ladder=slow&season=1")["games"][0]["matches"] == 2
    assert read("/bots/bot-3/opponents/slow?season=1")["ladder"] == "slow"
    assert [row["match"] for row in read("/matches?ladder=slow")["matches"]] == [4]
    for path, why in (("/ladder/slow?season=9", "no season 9"), ("/bots/bot-0?season=2", "season 2 of which ladder")):
        answer = several.get(f"/api/v1{path}")
        assert (answer.status, why in answer.text) == (404, True)


def test_health_is_that_of_each_ladder(several: WebPages) -> None:
    assert several.get("/healthz").text == '{"healthy": true, "troubles": []}', "the newest match is of another ladder"


def test_a_running_match_and_the_status_name_the_ladder() -> None:
    table = LiveTable(7, GAME, "rated", ("ann", "bob"), [], ladder="slow", season=2)
    assert "<td>6th Sense, slow, season 2</td>" in fragment("live_parts.html", "match_row", "", table)
    assert "<td>6th Sense</td>" in fragment("live_parts.html", "match_row", "", replace(table, ladder="", season=0))
    row = GameStatusRow(GAME, 1, 2, 3, None, 0, "", "slow", 2)
    text = fragment("live_parts.html", "status_row", "", row, datetime.now(UTC))
    assert 'data-key="slow"' in text
    assert '<a href="/ladder/slow">slow (6th Sense), season 2</a>' in text
