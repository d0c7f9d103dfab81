"""The matches that the TV page shows: their choice and order. It shows no faulty match."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from arena.queries.directory import open_directory
from arena.queries.programme import SHOWING, programme
from arena.replay.hash_chain import pack
from arena.store.matches import matches
from arena.store.opening import open_to_amend
from engine.nullern import NULLERN
from tests.cli.test_cli_web_replays import keep
from tests.cli.web_data import DAY, directory_of, pages_of
from tests.replay.recorded import STARTED


def on_board(text: str) -> int:
    """Return the match that a TV page plays."""
    found = re.search(r'data-tv data-number="(\d+)"', text)
    assert found, text
    return int(found[1])


def queue(text: str) -> list[int]:
    return [int(each) for each in re.findall(r'<li><a href="/matches/(\d+)"', text)]


def following(text: str) -> str:
    """Return the URL from which the page's script gets the next match."""
    found = re.search(r'data-next="([^"]+)"', text)
    assert found
    return found[1].replace("&amp;", "&")


def test_the_tv_shows_the_strongest_tables_first_and_all_of_them_in_turn(tmp_path: Path) -> None:
    path = directory_of(tmp_path / "data", 2, 3, 4, 3, 2)
    with open_directory(path) as directory:
        rows = programme(directory)
        ratings = {row.bot: row.rating for row in directory.ladder("sixth_sense").standings}
    means = [sum(ratings[seat.bot] for seat in row.seats) / len(row.seats) for row in rows]
    assert means == sorted(means, reverse=True)
    assert {row.match_id for row in rows} == {1, 2, 3, 4, 5}
    assert [row.match_id for row in rows if len(row.seats) == 2] == [5, 1], "of equal tables the newest first"
    pages, address, played = pages_of(path), "/tv", list[int]()
    for _ in rows:
        text = pages.get(address).text
        played.append(on_board(text))
        assert played[-1] not in queue(text)
        address = following(text)
    assert played == [row.match_id for row in rows]
    assert on_board(pages.get(address).text) == played[0], "then it begins again"


def test_nothing_void_spoilt_pruned_running_or_broken_off_is_on_tv(tmp_path: Path) -> None:
    path = directory_of(tmp_path / "data", 2, 2, 2, 2)
    with open_to_amend(path) as connection:
        own = [row.bot for row in matches.list_matches(connection)[0].seats]
        matches.void(connection, 1, "agreed", STARTED + DAY)
        keep(connection, 2, b"")
        keep(connection, 3, pack(['{"arena_replay":99}']))
    assert own
    pages = pages_of(path)
    assert on_board(pages.get("/tv").text) == 4, "3 is of a format to come"
    assert on_board(pages.get("/tv?seen=4").text) == 4
    with open_directory(path) as directory:
        assert {row.match_id for row in programme(directory)} == {3, 4}


def test_the_tv_shows_one_game_if_it_is_asked_to(tmp_path: Path) -> None:
    path = directory_of(tmp_path / "data", 3, 3, game=NULLERN)
    pages = pages_of(path)
    assert on_board(pages.get("/tv?game=nullern").text) in {1, 2}
    text = pages.get("/tv?game=sixth_sense").text
    assert "No rated match of 6th Sense is over yet" in text
    assert "arena demo" in text, "what to start"
    assert pages.get("/tv?game=skat").status == 404


@pytest.mark.parametrize("seen", ["x", "1,,2", "-1", ",".join(map(str, range(99)))])
def test_an_odd_list_of_seen_matches_is_refused(tmp_path: Path, seen: str) -> None:
    answer = pages_of(directory_of(tmp_path / "data", 2)).get(f"/tv?seen={seen}")
    assert (answer.status, "numbers of matches" in answer.text) == (404, True)


def test_the_tv_keeps_to_the_newest_matches(tmp_path: Path) -> None:
    path = directory_of(tmp_path / "data", *[2] * (SHOWING + 2), errs=False)
    with open_directory(path) as directory:
        assert [row.match_id for row in programme(directory)] == [*range(SHOWING + 2, 2, -1)]
