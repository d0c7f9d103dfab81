"""Ladders of the past on the pages, and how old the present one is when newer results cannot be fitted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from urllib.parse import quote

import pytest

from arena.ladder.ladder import FlagKind
from arena.queries.directory import Directory, open_directory
from arena.queries.figures import leaders
from arena.queries.source import DataSource
from arena.store.base.rows import FlagRow, LadderRows, LuckRow
from tests.cli.cli_rig import Played
from tests.cli.ladder_rows import SECOND, SETTLED
from tests.cli.web_rig import WebPages

GAME = "sixth_sense"


class _Changed:
    """A directory whose present ladder is different."""

    def __init__(self, directory: Directory, **changes: object) -> None:
        self._directory, self._changes = directory, changes

    def __getattr__(self, name: str) -> object:
        return getattr(self._directory, name)

    def ladder(self, game: str, seats: int = 0) -> LadderRows:
        return replace(self._directory.ladder(game, seats), **self._changes)  # type: ignore[arg-type]


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
    """Return the cells of a bot's row in the first ladder of a page, by heading."""
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
