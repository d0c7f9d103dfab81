"""A match on the pages: the controls, the check, the analysis, and matches that cannot be shown."""

from __future__ import annotations

import json
import re
import time
from hashlib import sha256
from html import unescape
from pathlib import Path

import pytest
from sqlalchemy import Connection, update

from arena.analysis import game_review
from arena.analysis.game_review import GameReview
from arena.analysis.review import Costly
from arena.house import title
from arena.queries.directory import open_directory
from arena.replay.hash_chain import pack, unpack, without_chain
from arena.replay.read import read
from arena.replay.steps import Course
from arena.store import schema
from arena.store.bots import bots
from arena.store.matches import matches
from arena.store.opening import open_to_amend
from arena.store.replays.files import IN_ROW, packed
from arena.web.reading import reviews
from arena.web.reading.reviews import Reviews, TooManyReviews
from tests.cli.web_data import DAY, directory_of, pages_of
from tests.replay.recorded import STARTED
from trio_grpc.limits.connection_limits import LOOPBACK, Origin

PATIENCE = 300.0


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Match 1 is complete, 2 pruned, 3 damaged, 4 in a future format, 5 interrupted, and 6 still running."""
    path = directory_of(tmp_path_factory.mktemp("replays") / "data", 3, 2, 2, 2)
    with open_to_amend(path) as connection:
        own = [bots.known(connection, name).id for name in ("bot-0", "bot-1")]
        for _ in range(2):
            matches.begin(connection, "sixth_sense", {}, own, STARTED + 10 * DAY)
        matches.interrupt(connection, [matches.MatchId(5)], "the <server> died", STARTED + 11 * DAY)
        for number, content in ((2, b""), (3, b"no gzip"), (4, pack(['{"arena_replay":99}']))):
            keep(connection, number, content, bytes(32) if number == 3 else None)
    return path


def course_of(data: Path, number: int = 1) -> Course:
    with open_directory(data) as directory:
        return Course(read(directory.replay(number)))


def plain(text: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", text))


def test_every_legal_action_is_listed_and_the_one_that_was_chosen_is_marked(data: Path) -> None:
    pages, course = pages_of(data), course_of(data)
    actions = course.replay.header.game.actions
    for index in (1, 5, 20, len(course.steps) - 1):
        text = pages.get(f"/matches/1/steps/{index}").text
        listed = re.findall(r'<p class="legal">(.*?)</p>', text)
        owing = course.steps[index - 1].state.waiting()
        assert len(listed) == len(owing)
        following = course.steps[index].made
        assert following is not None
        for seat, line in zip(owing, listed, strict=True):
            names = [actions[action].name for action in course.steps[index - 1].state.legal(seat)]
            assert plain(line).endswith(f"{seat} bot-{seat} may choose: {' · '.join(names)}")
            if seat == following.seat:
                assert f"<strong>{actions[following.action].name}</strong>" in line
    for seat in range(3):
        text = pages.get(f"/matches/1/steps/1?seat={seat}").text
        others = [other for other in range(3) if other != seat]
        assert not any(f"{other} bot-{other} may choose" in plain(text) for other in others)
    assert '<p class="legal">' not in pages.get(f"/matches/1/steps/{len(course.steps)}").text


def test_a_list_of_rounds_leads_to_where_each_begins(data: Path) -> None:
    course, pages = course_of(data), pages_of(data)
    starts = [course.begins(number) + 1 for number in range(course.rounds)]
    text = pages.get("/matches/1/steps/3?seat=1").text
    found = re.findall(r'data-round="(\d+)" data-to="(\d+)" href="([^"]+)"', text)
    assert found == [(str(i), str(at), f"/matches/1/steps/{at}?seat=1") for i, at in enumerate(starts, 1)]
    for at in starts:
        assert f'href="/matches/1/steps/{at}"' in pages.get("/matches/1").text
    assert f'<input type="range" min="1" max="{len(course.steps)}" value="3">' in text


def test_what_cannot_be_stepped_through_says_why_with_its_status(data: Path) -> None:
    pages = pages_of(data)
    expected = {
        2: (410, "the replay of match 2 was removed to save room; its result stays"),
        3: (501, "the stored replay of match 3 is damaged: its SHA-256 does not agree"),
        4: (501, "the replay cannot be shown here, only downloaded: match 4, line 1"),
        5: (404, "match 5 was interrupted and has no replay: the &lt;server&gt; died"),
        6: (404, "match 6 is still being played; its replay is there when it is over"),
        7: (404, "there is no match 7"),
    }
    for number, (status, why) in expected.items():
        for page in ("steps/1", "rounds/1", "check", "analysis"):
            answer = pages.get(f"/matches/{number}/{page}")
            assert (answer.status, why in answer.text) == (status, True), (page, answer)
        for name in ("steps/1", "why", "check", "analysis"):
            answer = pages.get(f"/api/v1/matches/{number}/{name}")
            assert answer.status == status, (name, answer)
            assert unescape(why) in json.loads(answer.text)["detail"]
    for number in (2, 3, 5, 6):
        assert pages.get(f"/matches/{number}/replay").status == expected[number][0]
    for number in range(2, 7):
        answer = pages.get(f"/matches/{number}")
        assert answer.status == 200
        assert ("Download the replay" in answer.text) == (number in {3, 4})
    assert pages.get("/matches/1/rounds/99").status == 404


def test_a_void_result_says_so(tmp_path: Path) -> None:
    path = directory_of(tmp_path / "data", 2)
    with open_to_amend(path) as connection:
        matches.void(connection, 1, "two bots of <one>", STARTED + DAY)
    text = pages_of(path).get("/matches/1").text
    assert "Its result is void, and counts for no rating: two bots of &lt;one&gt;" in text


def test_the_check_says_what_was_checked_and_what_was_not(data: Path) -> None:
    text = plain(pages_of(data).get("/matches/1/check").text)
    lines = len(course_of(data).replay.lines)
    assert f"✔ the chain of {lines} lines is unbroken" in text
    assert "the seed opens the commitment in the file" in text
    assert "Yes. What was checked:" in text
    assert "the log of results as it is now: leaf 2 of 5 says the same" in text
    assert "What was not:" not in text


def test_a_replay_that_differs_is_no_secret(tmp_path: Path) -> None:
    path = directory_of(tmp_path / "data", 2, 2)
    with open_to_amend(path) as connection:
        own = unpack(matches.get_replay(connection, 1)).decode().splitlines()
        lines = [without_chain(line) or "" for line in own]
        lines[0] = lines[0].replace('"bot-1"', '"bot-2"')
        keep(connection, 1, pack(lines))
        other = connection.execute(schema.replays.select().where(schema.replays.c.match_id == 1)).one()
        keep(connection, 2, packed(connection, other))
    pages = pages_of(path)
    text = plain(pages.get("/matches/1/check").text)
    assert 'result: the file has "bot-1" in "bots[1]" where re-playing gives "bot-2"' in text
    assert "Yes." not in text
    answer = pages.get("/matches/2/check")
    assert (answer.status, "the replay stored of match 2 is one of match 1" in answer.text) == (501, True)


def keep(connection: Connection, number: int, content: bytes, digest: bytes | None = None) -> None:
    """Replace the stored content of a replay. None marks it as pruned."""
    row = {"content": content, "segment": IN_ROW if content else None, "start": 0, "length": 0}
    row["sha256"] = digest or sha256(content).digest()
    connection.execute(update(schema.replays).where(schema.replays.c.match_id == number).values(row))


def test_the_analysis_is_worked_out_by_a_process_of_its_own_and_kept(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with open_directory(data) as directory:
        replay = read(directory.replay(1))
    review, course = GameReview(replay), course_of(data)
    own = next(step.made for step in course.steps if step.made and step.made.seat == 1 and not step.made.forced)
    costly = Costly(own.decision, 0, own.action, own.action + 1, 2.5, 0.5)
    # stored in the format of `arena why --game`, so that the pages need not compute the analysis
    for seat in range(3):
        game_review._store(review._key(f"seat {seat}"), [costly] if seat == 1 else [])
    pages = pages_of(data)
    before = pages.get("/matches/1/analysis")
    assert 'method="post" action="/matches/1/analysis"' in before.text
    assert "data-waiting" not in before.text
    unasked = {"match": 1, "state": "none", "reason": "", "found": None}
    assert json.loads(pages.get("/api/v1/matches/1/analysis").text) == unasked
    asked = pages.get("/matches/1/analysis", "POST")
    assert (asked.status, asked.headers["location"]) == (303, "/matches/1/analysis")
    until = time.monotonic() + PATIENCE
    while "data-waiting" in (answer := pages.get("/matches/1/analysis")).text:
        assert time.monotonic() < until, answer.text
        time.sleep(0.1)
    assert "All 3 seats were looked at." in answer.text
    found = json.loads(pages.get("/api/v1/matches/1/analysis").text)
    assert (found["state"], found["reason"], found["found"]["house"]) == ("over", "", title(review.house))
    assert [len(seat["costly"]) for seat in found["found"]["seats"]] == [0, 1, 0]
    step = next(i for i, each in enumerate(course.steps, 1) if each.made and each.made.decision == own.decision)
    name = replay.header.game.actions[own.action].name
    assert f'<a href="/matches/1/steps/{step}?seat=1">Round 1, decision {own.decision}</a>' in answer.text
    assert f"{name} cost <strong>2.5</strong> ± 1.0 points against" in answer.text
    assert answer.text.count("No choice surely cost anything.") == 2
    shown = pages.get(f"/matches/1/steps/{step}").text
    assert f"This choice, {name}, cost 2.5 ± 1.0 points against" in shown
    assert f'data-way="next costly" data-to="{step}"' in pages.get("/matches/1/steps/1").text if step > 1 else True
    assert 'data-way="next costly" data-to=""' in pages.get("/matches/1/steps/1?seat=0").text
    frames = json.loads(pages.get("/matches/1/rounds/1").text)["frames"]
    assert sum("This choice" in frame["html"] for frame in frames) == 1


def test_no_more_analyses_wait_than_are_worked_on_in_some_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Reviews()
    monkeypatch.setattr(kept, "_working", True)  # simulates an analysis that takes very long
    for number in range(reviews.MOST):
        for _ in range(2):
            kept.ask(number, b"", LOOPBACK)
    with pytest.raises(TooManyReviews, match="8 analyses wait already; come back in some minutes"):
        kept.ask(99, b"", Origin("192.0.2.1"))
    assert kept.of(99) is None


def test_an_analysis_that_fails_says_why_and_can_be_asked_for_again() -> None:
    kept = Reviews()
    until = time.monotonic() + PATIENCE
    for _ in range(reviews.MOST_OF_ADDRESS + 1):
        kept.ask(1, b"no replay", Origin("192.0.2.1"))
        while not ((found := kept.of(1)) and found.over):
            assert time.monotonic() < until
            time.sleep(0.05)
        assert "ReplayError" in found.failed
