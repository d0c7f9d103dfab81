"""`arena bots show` and `arena matches --lost`: summaries of a bot's matches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.console import Console

from arena.cli.bots.profile import drawn_profile
from arena.queries.profile import MatchPoints, SeatRecord, lost, profile
from arena.store.base.rows import MatchRow, MatchState, SeatRow
from tests.cli.cli_rig import arena, let_play, serving, shown

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
Seat = tuple[str, int, int]


def match(number: int, *seats: Seat, state: MatchState = MatchState.FINISHED, voided: str = "") -> MatchRow:
    """Return a match with these bots, scores and places by seat."""
    rows = [SeatRow(bot, score, place, None, None, 1, "", spoilt=score == 0) for bot, score, place in seats]
    return MatchRow(number, "nullern", state, NOON, NOON, "", tuple(rows), voided, pruned=False)


MATCHES: Sequence[MatchRow] = (
    match(5, ("ann", 10, 1), ("bob", 4, 2), ("cid", 0, 3)),
    match(4, ("bob", 8, 1), ("ann", 8, 1), ("cid", 2, 3)),
    match(3, ("ann", 0, 2), ("bob", 9, 1)),
    match(2, ("bob", 99, 1), ("ann", 0, 2), voided="a fault"),
    match(1, ("bob", 99, 1), ("ann", 0, 2), state=MatchState.INTERRUPTED),
)


def test_a_profile_sums_up_the_matches_that_count() -> None:
    found = profile(MATCHES, "Ann")
    assert found is not None
    assert (found.bot, found.game, found.matches, found.wins) == ("ann", "nullern", 3, 2)
    assert (found.forced, found.spoilt) == (3, 1)
    assert found.seats == (
        SeatRecord(2, 0, 1, 2.0, -9.0, None),
        SeatRecord(3, 0, 1, 1.0, 8.0, None),
        SeatRecord(3, 1, 1, 1.0, 3.0, None),
    )
    assert [(each.opponent, each.matches, each.score) for each in found.opponents] == [("bob", 3, 0.5), ("cid", 2, 1.0)]
    assert found.opponents[1].error == pytest.approx((4 / 6 * 2 / 6 / 6) ** 0.5), "two of two are no certainty"
    assert found.best == (MatchPoints(5, 8.0, 1), MatchPoints(4, 3.0, 1), MatchPoints(3, -9.0, 2, spoilt=True))
    assert found.worst == found.best[::-1]


def test_a_profile_in_words_has_times_as_people_read_them_and_names_who_played_on() -> None:
    found = profile(MATCHES, "ann")
    assert found is not None
    console = Console(width=120)
    with console.capture() as text:
        console.print(drawn_profile(replace(found, think_95_us=3_010_000)))
    assert "95 % of decisions within 3.01 s" in text.get()
    assert "2 ⚠ played on" in text.get()


def test_the_error_of_points_is_that_of_their_mean() -> None:
    rows = [match(number, ("ann", score, 1), ("bob", 0, 2)) for number, score in enumerate((1, 2, 3, 4))]
    found = profile(rows, "ann")
    assert found is not None
    [seat] = found.seats
    assert seat.points == 2.5
    assert seat.points_error == pytest.approx((5 / 3 / 4) ** 0.5)


def test_a_bot_with_several_seats_or_another_name_meanwhile() -> None:
    rows = [match(2, ("house", 5, 1), ("house", 3, 2), ("new", 1, 3)), match(1, ("new", 5, 1), ("other", 3, 2))]
    house, renamed = profile(rows[:1], "house"), profile(rows, "old")
    assert house is not None
    assert renamed is not None
    assert (house.matches, house.wins) == (2, 1)
    assert [each.opponent for each in house.opponents] == ["new"]
    assert (renamed.bot, renamed.matches, renamed.wins) == ("new", 2, 1)


def test_who_has_finished_nothing_has_no_profile() -> None:
    assert profile(MATCHES[3:], "ann") is None


def test_a_match_is_lost_by_whoever_finished_it_and_did_not_win() -> None:
    assert [lost(row, "ANN") for row in MATCHES] == [False, False, True, True, True]
    seat = SeatRow("ann", None, None, None, None, 0, "")
    assert not lost(MatchRow(6, "nullern", MatchState.PLAYING, NOON, None, "", (seat,), "", pruned=False), "ann")


# --- the commands ---


def test_what_a_bots_matches_say(source: tuple[str, str]) -> None:
    [found] = json.loads(shown("bots", "show", "COUNTER", "--json", *source))["games"]
    rows = [
        row
        for row in json.loads(shown("matches", "--bot", "counter", "--limit", 1000, "--json", *source))["matches"]
        if row["state"] == "finished"
    ]
    own = [seat for row in rows for seat in row["seats"] if seat["bot"] == "counter"]
    assert (found["bot"], found["matches"]) == ("counter", len(rows))
    assert found["wins"] == sum(seat["place"] == 1 for seat in own)
    assert sum(each["matches"] for each in found["seats"]) == len(rows)
    assert 0 <= found["kept"] <= found["bids"]
    assert found["bids"] >= min(len(rows), 20)
    assert found["think_95_us"] > 0
    text = shown("bots", "show", "counter", *source)
    assert text.startswith(f"counter in sixth_sense: {len(rows)} match")
    assert f"{found['kept']} of its last {found['bids']} bids kept" in text
    for each in found["opponents"]:
        assert each["opponent"] in text
    assert f"arena why {found['worst'][0]['match']} --game" in text


def test_only_the_latest_matches(source: tuple[str, str]) -> None:
    [found] = json.loads(shown("bots", "show", "counter", "--last", 1, "--json", *source))["games"]
    assert found["matches"] == 1


def test_matches_that_a_bot_lost(source: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    every = json.loads(shown("matches", "--bot", "random", "--limit", 1000, "--json", *source))["matches"]
    expected = [
        row["match"]
        for row in every
        if any(seat["bot"] == "random" and (seat["place"] or 1) > 1 for seat in row["seats"])
    ]
    assert expected
    monkeypatch.setattr("arena.cli.data_source.LARGEST_PAGE", 1)
    found = json.loads(shown("matches", "--bot", "random", "--lost", "--limit", 1000, "--json", *source))["matches"]
    assert [row["match"] for row in found] == expected
    text = shown("matches", "--bot", "random", "--lost", "--limit", 1, *source)
    assert f"Older ones: arena matches --bot random --lost --before {expected[0]}" in text


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("bots", "show", "nobody"), 1, "there is no bot 'nobody'"),
        (("bots", "show", "Counter", "--game", "nullern"), 0, "Counter has finished no match of nullern yet."),
        (("matches", "--lost"), 2, "--lost needs a bot that lost"),
    ],
)
def test_what_there_is_not(source: tuple[str, str], words: tuple[str, ...], status: int, said: str) -> None:
    result = arena(*words, *source)
    assert result.exit_code == status
    assert said in result.output


def test_bids_are_those_of_the_replays_that_are_left(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        let_play(server.server, tmp_path, 4, bots=["random"])
    place = "--data", tmp_path / "data"
    [before] = json.loads(shown("bots", "show", "random", "--json", *place))["games"]
    shown("prune", "--keep", 2, *place)  # leaves the replays of the last two matches, of which one was interrupted
    [after] = json.loads(shown("bots", "show", "random", "--json", *place))["games"]
    assert 0 < after["bids"] < before["bids"]
    assert {**after, "bids": 0, "kept": 0} == {**before, "bids": 0, "kept": 0}
