"""A bot's page: figures from its replays, faults, and the operator's decisions. Each replay is read only once."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from statistics import fmean

import pytest
import trio
from sqlalchemy import update

from arena.analysis import game_review
from arena.analysis.game_review import GameReview
from arena.analysis.review import Costly
from arena.analysis.timeline_builder import timelines
from arena.match.effects import Cause
from arena.queries.directory import open_directory
from arena.queries.source import DataSource
from arena.replay.read import read
from arena.replay.render.show import renderer_of
from arena.replay.steps import Course
from arena.store import schema
from arena.store.base.rows import MatchState
from arena.store.matches import matches
from arena.store.moderation import moderation
from arena.store.opening import open_readonly, open_to_amend
from arena.web.answers.addresses import Addresses
from arena.web.pages import bots
from arena.web.reading.bot_records import BotRecords
from arena.web.reading.reader import FreshRows, Reader
from arena.web.reading.reviews import MOST_OF_ADDRESS
from arena.web.requests.each_request import RequestRules
from tests.cli.web_data import DAY, directory_of, pages_of
from tests.cli.web_rig import WebPages
from tests.processes.children import children
from tests.replay.recorded import STARTED

PATIENCE = 300.0


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return directory_of(tmp_path_factory.mktemp("bots") / "data", 3, 3, 2)


def settled(pages: WebPages, path: str) -> str:
    """Return the text of a page after all its replays have been read."""
    until = time.monotonic() + PATIENCE
    while "data-waiting" in (answer := pages.get(path)).text:
        assert time.monotonic() < until, answer.text
        time.sleep(0.05)
    assert answer.status == 200, answer.text
    return answer.text


def test_the_list_has_ratings_first_and_the_last_match_and_who_gets_no_seats(tmp_path: Path) -> None:
    path = directory_of(tmp_path / "data", 3, 3)
    with open_to_amend(path) as connection:
        parked = schema.bots.c.key == "bot-1"
        connection.execute(update(schema.bots).where(parked).values(parked=STARTED, troubles="[1, 2]"))
        moderation.ban(connection, "owner-bot-2", "many names", STARTED + DAY)
    with open_directory(path) as directory:
        ladder = directory.ladder("sixth_sense").standings
    text = pages_of(path).get("/bots").text
    rows = re.findall(r'<th scope="row"><a href="/bots/(bot-\d)">.*?</tr>', text, re.DOTALL)
    assert rows == [*(row.bot for row in ladder), "bot-3"], "those with the highest rating come first"
    assert re.findall(r'elo" data-game="6th Sense"><strong>(\d+)', text) == [f"{row.rating:.0f}" for row in ladder]
    assert ladder[0].last_match is not None
    assert text.count(f'<time datetime="{ladder[0].last_match.isoformat()}">') == 3
    assert re.search(r'in matches 1 and 2, in a row[^"]*">parked<', text)
    assert re.search(r'many names">banned<', text)
    assert '<th scope="col">Now</th>' not in text, "without a server nobody knows"


def test_points_by_round_and_bids_are_those_of_the_replays(data: Path) -> None:
    pages = pages_of(data)
    first = pages.get("/bots/bot-1")
    assert "3 of its newest replays are being read" in first.text
    text = settled(pages, "/bots/bot-1")
    points: dict[int, list[int]] = {}
    bids: list[bool] = []
    with open_directory(data) as directory:
        for number in (1, 2, 3):
            course = Course(read(directory.replay(number)))
            renderer = renderer_of(course.replay.header.game)
            for report in course.reports:
                points.setdefault(report.round, []).append(renderer.worth(report)[1])
                bids.append((renderer.kept(report) or ())[1])
    assert f"It kept {sum(bids)} of its last {len(bids)} bids. From 3 of its newest replays." in text
    means = re.search(r"Mean points</th>(.*?)</tr>", text)
    assert means
    shown = re.findall(r'<td class="number">([^<]+)</td>', means[1])
    assert shown == [f"{fmean(each):+.1f}".replace("-", "−") for _, each in sorted(points.items())]


def test_faults_lead_to_the_first_choice_that_was_made_for_it(data: Path) -> None:
    pages = pages_of(data)
    text = pages.get("/bots/bot-1").text
    with open_readonly(data) as connection:
        rows = matches.list_matches(connection)
    expected = [(str(row.match_id), str(row.seats[1].forced)) for row in rows if row.seats[1].forced]
    assert expected
    assert re.findall(r'/faults\?seat=1">Match (\d+)</a>: (\d+) made for it', text) == expected
    number = int(expected[0][0])
    answer = pages.get(f"/matches/{number}/faults?seat=1")
    with open_directory(data) as directory:
        steps = Course(read(directory.replay(number))).steps
    first = next(i for i, each in enumerate(steps, 1) if each.made and each.made.forced and each.made.seat == 1)
    assert (answer.status, answer.headers["location"]) == (303, f"/matches/{number}/steps/{first}?seat=1")
    none = pages.get(f"/matches/{number}/faults?seat=9")
    assert (none.status, "the server made no choice for seat 9" in none.text) == (404, True)


def test_a_match_that_a_house_bot_played_on_is_among_the_faults_and_named_wherever_it_stands(tmp_path: Path) -> None:
    path = directory_of(tmp_path / "data", 3, errs=False)
    seat = schema.match_seats.c
    with open_to_amend(path) as connection:
        connection.execute(update(schema.match_seats).where(seat.seat == 1).values(spoilt=1, forced=0, place=3))
    pages = pages_of(path)
    text = pages.get("/bots/bot-1").text
    assert '/faults?seat=1">Match 1</a>: <span class="ink-red">a house bot played on</span></li>' in text
    assert re.search(
        r'Best matches: <a href="/matches/1">1</a> \([^<]*<span class="ink-red">a house bot played on', text
    )
    for wanted in ("faults=1", "lost=1", "faults=1&lost=1"):
        assert '<a href="/matches/1">1</a>' in pages.get(f"/matches?bot=bot-1&{wanted}").text


def test_the_round_from_which_a_house_bot_played_on_is_named_once_the_replay_is_read(tmp_path: Path) -> None:
    path = directory_of(tmp_path / "data", 3, stays_away=True)
    with open_directory(path) as directory:
        replay = read(directory.replay(1))
        spoilt = [seat.spoilt for seat in directory.matches()[0].seats]
    seats = timelines(replay.header, replay.inputs)
    away = {
        seat.seat: min(each.round + 1 for each in seat.decisions if each.forced is Cause.ABSENCE)
        for seat in seats
        if Cause.ABSENCE in seat.lost
    }
    assert len(away) > spoilt.count(True) > 0, "a house bot played more seats than it spoilt"
    pages = pages_of(path)
    for number, first in away.items():
        words = f'<span class="ink-red">a house bot played on from round {first}</span>'
        text = settled(pages, f"/bots/bot-{number}")
        assert len(re.findall(rf">Match 1</a>: place .*{words}", text)) == spoilt[number], "among its losses"
        assert len(re.findall(rf"made for it, {words}", text)) == 1, "among its faults"
    for address in ("/matches/1", "/matches/1/steps/5?seat=0", "/bots/bot-0"):
        change = r'(?:<span class="dim">[^<]*</span> )?'
        seat = rf"/bots/bot-(\d)[^>]*>bot-\d</a> [^<]+{change}<span[^>]*>a house bot played on from round (\d+)"
        found = re.findall(seat, settled(pages, address))
        assert {(int(number), int(first)) for number, first in found} == {*away.items()}, address


def test_a_parked_bot_has_the_word_the_matches_and_the_command_with_this_server(tmp_path: Path) -> None:
    path = directory_of(tmp_path / "data", 2)
    with open_to_amend(path) as connection:
        own = schema.bots.c.key == "bot-0"
        connection.execute(update(schema.bots).where(own).values(parked=STARTED, troubles="[1, 27]"))

    @contextmanager
    def source() -> Iterator[DataSource]:
        with open_directory(path) as directory:
            yield directory

    rules = RequestRules(addresses=Addresses(public_address="https://arena.example:443"))
    text = WebPages(source, rules).get("/bots/bot-0").text
    assert "<strong>Parked</strong>: in matches " in text
    assert '<a href="/matches/1">1</a> and <a href="/matches/27">27</a>, in a row' in text
    assert "<code>arena-bot unpark bot-0 --server arena.example:443 --tls</code>" in text
    assert "Parked" not in WebPages(source, rules).get("/bots/bot-1").text


def test_last_losses_are_those_in_which_it_came_last(tmp_path: Path) -> None:
    path = directory_of(tmp_path / "data", *[3] * 7)
    text = pages_of(path).get("/bots/bot-1").text
    with open_readonly(path) as connection:
        rows = matches.list_matches(connection)
    places = {row.match_id: [seat.place or 0 for seat in row.seats] for row in rows}
    lost = [number for number, each in places.items() if 1 < each[1] == max(each)]
    assert lost
    shown = re.findall(r">Match (\d+)</a>: place (\d) of 3, [^ ]+ points against the others", text)
    assert shown == [(str(number), str(places[number][1])) for number in lost[:5]]
    assert f'/matches/{lost[0]}/why?seat=1">where its time went' in text


def test_the_last_losses_are_analysed_within_the_readers_share_and_the_costliest_choices_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = directory_of(tmp_path / "data", *[3] * 7)
    pages = pages_of(path)
    text = pages.get("/bots/bot-1").text
    lost = [int(number) for number in re.findall(r">Match (\d+)</a>: place", text)][:MOST_OF_ADDRESS]
    assert "None of its last 7 matches was analysed yet." in text
    chosen: dict[int, int] = {}
    for number in lost:
        with open_directory(path) as directory:
            replay = read(directory.replay(number))
        steps = [(place, each.made) for place, each in enumerate(Course(replay).steps, 1)]
        chosen[number], made = next((place, it) for place, it in steps if it and it.seat == 1 and not it.forced)
        costly = Costly(made.decision, 0, made.action, made.action + 1, float(number), 0.5)
        # stored in the format of `arena why --game`, so that the pages need not compute the analysis
        for seat in range(3):
            game_review._store(GameReview(replay)._key(f"seat {seat}"), [costly] if seat == 1 else [])
    asked = pages.get("/bots/bot-1?game=sixth_sense", "POST")
    assert (asked.status, asked.headers["location"]) == (303, "/bots/bot-1?game=sixth_sense#costliest")
    text = settled(pages, "/bots/bot-1")
    assert f"Of its last 7 matches {len(lost)} w" in text
    shown = re.findall(r'href="/matches/(\d+)/steps/(\d+)\?seat=1">Match \d+, round 1</a>[^<]*<strong>([\d.]+)', text)
    assert shown == [(str(each), str(chosen[each]), f"{each}.0") for each in sorted(lost, reverse=True)]
    none = pages.get("/bots/bot-3?game=sixth_sense", "POST")
    assert (none.status, "no loss of &#39;bot-3&#39; is left to be analysed" in none.text) == (404, True)


def test_where_its_time_went_is_drawn_from_its_replays(data: Path) -> None:
    pages = pages_of(data)
    text = settled(pages, "/bots/bot-1")
    decisions = 0
    for number in (1, 2, 3):
        with open_directory(data) as directory:
            replay = read(directory.replay(number))
        own = timelines(replay.header, replay.inputs)[1].decisions
        decisions += sum(each.own and bool(each.sendings) for each in own)
    assert f"Decisions by think time: {decisions} in all" in text
    assert "Matches by the share of the bank that was left: 3 in all" in text


def test_opponents_lead_to_the_matches_against_them(data: Path) -> None:
    text = unescape(pages_of(data).get("/bots/bot-0").text)
    assert "/matches?game=sixth_sense&bot=bot-0&opponent=bot-1" in text
    assert '<a href="/matches/3/check">the check of match 3</a>' in text


def test_all_opponents_are_on_pages_of_their_own(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = pages_of(data)
    assert "/opponents?game" not in pages.get("/bots/bot-0").text, "the bot's own page has all two"
    monkeypatch.setattr(bots, "OPPONENTS", 1)
    monkeypatch.setattr(bots, "ALL_LISTED", 1)
    link = re.search(r'<a href="([^"]*)">all opponents</a>', unescape(pages.get("/bots/bot-0").text))
    assert link
    first = pages.get(link[1]).text
    found = re.findall(r'<th scope="row"><a href="/bots/([^"]+)">', first)
    further = re.search(r'<a href="([^"]*)">Met less often</a>', unescape(first))
    assert further
    second = pages.get(further[1]).text
    found += re.findall(r'<th scope="row"><a href="/bots/([^"]+)">', second)
    assert found == ["bot-1", "bot-2"]
    assert "Met less often" not in second
    assert f'<a href="{link[1]}">Met more often</a>' in unescape(second)
    assert "It has met no further one." in pages.get(f"{link[1]}&after=2").text
    for path, why in {
        "/bots/bot-0/opponents": "say of which game",
        "/bots/bot-0/opponents?game=chess": "there is no game",
        "/bots/bot-0/opponents?game=nullern&after=-1": "after is a whole number",
        "/bots/nobody/opponents?game=nullern": "nobody",
    }.items():
        answer = pages.get(path)
        assert (answer.status, why in answer.text) == (404, True), (path, answer.text)


def test_a_bot_is_shown_in_the_game_that_is_asked_for(data: Path) -> None:
    pages = pages_of(data)
    assert '<a href="/bots/bot-0?game=sixth_sense" aria-current="true">' in pages.get("/bots/bot-0").text
    assert "It has finished no match of Nullern yet." in pages.get("/bots/bot-0?game=nullern").text
    assert pages.get("/bots/bot-3").status == 200
    assert "It has finished no match yet." in pages.get("/bots/bot-3").text


def test_what_the_operator_did_is_said(tmp_path: Path) -> None:
    path = directory_of(tmp_path / "data", 4)
    with open_to_amend(path) as connection:
        moderation.rename(connection, "bot-0", "new-name", "it was <rude>", STARTED + DAY)
        moderation.ban(connection, "owner-bot-1", "many names", STARTED + DAY)
        moderation.delete(connection, "bot-2", "its author wished it", STARTED + DAY)
        moderation.hide(connection, "bot-3", "", STARTED + DAY)
    pages = pages_of(path)
    for name in ("new-name", "bot-0"):
        text = settled(pages, f"/bots/{name}")
        assert "<h1>new-name" in text
        assert "bot-0 was renamed new-name: it was &lt;rude&gt;" in text
        assert "many names" not in text
    banned = settled(pages, "/bots/bot-1")
    assert "owner-bot-1 was banned: many names" in banned
    assert "Given no seats: owner-bot-1 is banned: many names" in banned
    deleted = settled(pages, "/bots/bot-2")
    assert "The operator has deleted it" in deleted
    assert "owner-bot-2" not in deleted
    assert "bot-2 was deleted: its author wished it" in deleted
    assert "The operator has taken it off the list of bots." in settled(pages, "/bots/bot-3")


def test_what_many_ask_for_is_read_once_a_second(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now, asked = [100.0], list[int]()
    monkeypatch.setattr("arena.web.caches.monotonic", lambda: now[0])

    @contextmanager
    def counted() -> Iterator[DataSource]:
        asked.append(1)
        with open_directory(data) as directory:
            yield directory

    async def ask() -> None:
        fresh = FreshRows(Reader(counted))

        async def once() -> None:
            assert len(await fresh.read("bots", lambda source: source.bots())) >= 4

        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(once)
        assert len(asked) == 1
        now[0] += 0.9
        await once()
        assert len(asked) == 1
        now[0] += 0.2
        await once()
        assert len(asked) == 2
        for number in range(200):
            await fresh.read(number, lambda source: 0)
        assert len(fresh._cache._made) == len(fresh._cache._turns) <= 64

    trio.run(ask)


def test_a_replay_whose_reader_is_killed_is_left_out_and_the_others_are_read(data: Path) -> None:
    """Neither the page nor a request for another bot waits for the killed reader process."""
    killed = False

    @contextmanager
    def opened() -> Iterator[DataSource]:
        nonlocal killed
        with open_directory(data) as directory:
            for pid in () if killed else children(os.getpid(), "arena.web.reading.record_process"):
                os.kill(pid, signal.SIGKILL)
                killed = True
            yield directory

    records = BotRecords(opened)
    with open_readonly(data) as connection:
        rows = [row for row in matches.list_matches(connection) if row.state is MatchState.FINISHED]
    until = time.monotonic() + PATIENCE
    while (found := records.record(rows, "bot-1")).waiting:
        assert time.monotonic() < until, found
        time.sleep(0.05)
    assert killed
    assert found.known == len(rows) - 1
