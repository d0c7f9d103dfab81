"""`arena why` on real matches and on recorded matches with many faults."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.analysis.timeline import Blame, EventKind, SeatTimeline
from arena.analysis.timeline_builder import timelines
from arena.match.effects import Cause
from arena.replay.read import read
from engine.nullern import NULLERN
from tests.cli.cli_rig import BOTS, arena, serving, shown
from tests.end_to_end.e2e_rig import Crowd
from tests.replay.recorded import play, rated

WIDE = {"COLUMNS": "200"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a replay file of a four-seat match with many faults."""
    path = tmp_path / "match.jsonl.gz"
    path.write_bytes(rated(chance=4))
    return path


def timelines_of(source: Path | bytes) -> tuple[SeatTimeline, ...]:
    replay = read(source)
    return timelines(replay.header, replay.inputs)


def test_why_without_a_seat_has_a_line_and_a_sentence_a_seat(file: Path) -> None:
    text = shown("why", file, env=WIDE)
    assert "\x1b" not in text
    assert text.startswith("6th Sense, match 104: what was lost, and how")
    for seat in timelines_of(file):
        assert f"{seat.bot.name}" in text
        lost = ", ".join(f"{count} to {cause.value}" for cause, count in seat.lost.items())
        assert f"(seat {seat.seat}) lost {seat.lost.total()} decisions: {lost}; slowest at decision " in text
    worst = max(timelines_of(file), key=lambda seat: seat.troubles.total())
    assert f"Decision by decision: arena why {file} --seat {worst.seat}\n" in text


def found(file: Path, holds: Callable[[SeatTimeline], object]) -> SeatTimeline:
    """Find the first match in which some seat is in the wanted state. Write the match to the file and return the
    seat.
    """
    for chance in range(1, 100):
        content = rated(chance=chance)
        for seat in timelines_of(content):
            if holds(seat):
                file.write_bytes(content)
                return seat
    raise AssertionError("in no match")


def much_went_wrong(seat: SeatTimeline) -> bool:
    lost = seat.lost[Cause.TIME] and seat.lost[Cause.SUSPENSION]
    happened = seat.count(EventKind.REFUSED) and seat.count(EventKind.GONE)
    return bool(lost and happened and seat.troubles[Blame.BOT] and seat.troubles[Blame.EITHER])


def test_why_of_a_seat_shows_every_decision_and_trouble_in_order(file: Path) -> None:
    seat = found(file, much_went_wrong)
    text = shown("why", file, "--seat", seat.seat, env=WIDE)
    assert f", seat {seat.seat} ({seat.bot.name}): what happened" in text.splitlines()[0]
    rows = [line for line in text.splitlines() if line.startswith("│")][1:]
    assert len(rows) == len(seat.decisions) + len(seat.events)
    assert sum("time ran out" in row for row in rows) == seat.lost[Cause.TIME] > 0
    assert sum("the seat was suspended" in row for row in rows) == seat.lost[Cause.SUSPENSION] > 0
    assert sum("refused: " in row for row in rows) == seat.count(EventKind.REFUSED) > 0
    assert sum(" to come back" in row for row in rows) == seat.count(EventKind.GONE) > 0
    for blame in (Blame.BOT, Blame.EITHER):
        assert sum(row.rstrip("│ ").endswith(f" {blame.value}") for row in rows) >= seat.troubles[blame] > 0
    times = [row.split()[1] for row in rows]
    assert times == sorted(times, key=lambda time: (int(time.split(":")[0]), float(time.split(":")[1])))


def test_why_shows_the_slowest_decisions_only_when_asked_to(file: Path) -> None:
    text = shown("why", file, "--seat", "1", "--slowest", "2", env=WIDE)
    assert text.startswith("6th Sense, match 104, seat 1 (bot-1): the 2 slowest decisions")
    rows = [line.split() for line in text.splitlines() if line.startswith("│")][1:]
    slowest = timelines_of(file)[1].slowest(2)
    assert [row[2] for row in rows] == [str(decision.number) for decision in slowest]
    assert [row.count("out;") + row.count("out:") for row in rows] == [1, 1]
    everybody = shown("why", file, "--slowest", "1", env=WIDE)
    assert everybody.count("the 1 slowest decisions") == 4


def test_why_as_json_says_the_same(file: Path) -> None:
    document = json.loads(shown("why", file, "--json"))
    assert (document["match"], document["game"]) == (104, "sixth_sense")
    assert document["policy"] == {"soft_limit_ms": 100, "bank_ms": 1000, "lag_allowance_ms": 250}
    for told, seat in zip(document["seats"], timelines_of(file), strict=True):
        assert (told["seat"], told["bot"], told["house"]) == (seat.seat, seat.bot.name, seat.bot.house)
        assert told["lost"] == {cause.value: count for cause, count in seat.lost.items()}
        assert told["troubles"] == {blame.value: count for blame, count in seat.troubles.items()}
        assert told["median_ms"] == (seat.took(50) or 0) / 1000
        assert len(told["events"]) == len(seat.events)
        decisions: list[dict[str, Any]] = told["decisions"]
        assert [each["decision"] for each in decisions] == [each.number for each in seat.decisions]
        for each, decision in zip(decisions, seat.decisions, strict=True):
            assert each["forced"] == (decision.forced and decision.forced.value)
            assert each["clock_ms"] == decision.spent / 1000
            assert each["bank_after_ms"] == decision.bank_after / 1000
            assert len(each["sent"]) == len(decision.sendings)
            assert each["name"]
    [only] = json.loads(shown("why", file, "--seat", "2", "--slowest", "3", "--json"))["seats"]
    assert only["seat"] == 2
    assert len(only["decisions"]) == 3


def test_why_of_a_match_that_was_played_finds_nothing_lost(source: tuple[str, str]) -> None:
    text = shown("why", "1", *source, env=WIDE)
    for name in BOTS:
        assert f"{name} (seat " in text
    assert text.count("made every decision itself; slowest at decision ") == 3
    assert "Decision by decision: arena why 1 --seat 0 --" in text
    seats = json.loads(shown("why", "1", "--json", *source))["seats"]
    assert {seat["bot"] for seat in seats} == set(BOTS)
    for seat in seats:
        assert seat["lost"] == seat["troubles"] == {}
        assert 0 < seat["median_ms"] <= seat["p95_ms"]
        assert all(len(each["sent"]) == 1 and each["took_ms"] > 0 for each in seat["decisions"])


def test_why_of_nullern_and_of_a_match_that_was_broken_off(tmp_path: Path) -> None:
    from arena.replay.record import encode

    header, entries = play(3, game=NULLERN, interrupted_after=60)
    path = tmp_path / "nullern.jsonl.gz"
    path.write_bytes(encode(header, entries))
    text = shown("why", path, "--seat", "1", env=WIDE)
    assert text.startswith("Nullern, match 101, seat 1 (bot-1): what happened")
    assert "broken off" in text


@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        (("--seat", "4"), 1, "there is no seat 4; there are seats 0 to 3"),
        (("--seat", "-1"), 2, "-1 is not in the range"),
        (("--slowest", "0"), 2, "0 is not in the range"),
    ],
)
def test_why_of_what_there_is_not_fails(file: Path, options: tuple[str, ...], status: int, words: str) -> None:
    result = arena("why", file, *options)
    assert result.exit_code == status
    assert words in result.output


def test_why_of_an_unknown_match_fails(source: tuple[str, str]) -> None:
    result = arena("why", "999", *source)
    assert result.exit_code == 1
    assert "there is no match 999" in result.output


def test_why_of_a_running_match_is_for_the_operator(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "--seats", "sixth_sense:2") as server, Crowd(server.server) as crowd:
        silent = crowd.come("silent")
        silent.read_until(lambda: silent.decisions)
        seat = silent.starts[0].seat
        [told] = json.loads(shown("why", "1", "--json", "--data", server.data, "--seat", seat))["seats"]
        assert (told["bot"], told["lost"]) == ("silent", {})
        [due] = told["decisions"]
        assert (due["decision"], due["made_ms"]) == (silent.decisions[0].decision_id, None)
        result = arena("why", "1", "--server", server.server)
        assert result.exit_code == 1
        assert "match 1 is playing" in result.output


def test_why_the_game_was_lost_beside_the_house(file: Path) -> None:
    replay = read(file)
    text = shown("why", file, "--game", env=WIDE)
    assert text.startswith("6th Sense, match 104, beside the house")
    document = json.loads(shown("why", file, "--game", "--json"))
    bots = [seat for seat in document["seats"] if not replay.header.bots[seat["seat"]].house]
    worst = min(bots, key=lambda seat: seat["points"] - seat["house"])["seat"]
    assert f"Choices that cost most: arena why {file} --game --seat {worst}" in text
    assert document["house"].startswith("house-planner ")
    assert tuple(seat["points"] for seat in document["seats"]) == replay.result.scores
    for seat in document["seats"]:
        assert re.search(rf"│ +{seat['seat']}  {seat['bot']}.* {seat['points']} +{seat['house']} ", text)
        assert seat["costly"] is None
        assert [each["round"] for each in seat["rounds"]] == [0, 1, 2, 3]


def test_why_a_game_was_lost_that_no_house_bot_plays(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.analysis.game_review.HOUSE_BOTS", {})
    result = arena("why", file, "--game")
    assert result.exit_code == 1
    assert result.output == "Error: no house bot plays 6th Sense, so there is none to compare with\n"


def test_why_the_game_was_lost_by_choices_is_found_once(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.analysis.review.FIRST_WORLDS", 2)
    monkeypatch.setattr("arena.analysis.review.WORLDS", 20)
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "settings")}
    document = json.loads(shown("why", file, "--game", "--seat", 1, "--json", env=home))
    [kept] = (tmp_path / "settings" / "arena" / "reviews").iterdir()
    [seat] = document["seats"]
    costs = [each["cost"] for each in seat["costly"]]
    assert costs
    assert costs == sorted(costs, reverse=True)
    text = shown("why", file, "--game", "--seat", 1, env=WIDE | home)
    for each in seat["costly"]:
        line = f"Round {each['round'] + 1}, decision {each['decision']}: {each['name']} cost {each['cost']:.1f} ± "
        assert line in text
        assert f" points against {each['better_name']}\n" in text
    kept.write_text("[]")
    assert "No choice surely cost anything." in shown("why", file, "--game", "--seat", 1, env=home)
    kept.write_text("damaged")
    assert json.loads(shown("why", file, "--game", "--seat", 1, "--json", env=home)) == document


@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        (("--game", "--seat", "4"), 1, "there is no seat 4; there are seats 0 to 3"),
        (("--game", "--slowest", "4"), 2, "--slowest is about time"),
    ],
)
def test_why_the_game_was_lost_of_what_there_is_not(
    file: Path, options: tuple[str, ...], status: int, words: str
) -> None:
    result = arena("why", file, *options)
    assert result.exit_code == status
    assert words in result.output
