"""`arena ladder rebuild` computes the ladder of a real directory again and compares it bit for bit."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, delete, select, update

from arena.store import schema
from arena.store.opening import open_to_amend
from engine.registry import GAMES
from tests.cli.cli_rig import Played, arena, plain, shown, terminal
from tests.cli.conftest import MATCHES
from tests.cli.test_cli_ladder_void import finished


@pytest.fixture(scope="session")
def ended(played: Played, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the server's directory, made like a backup, with a published ladder."""
    copy = tmp_path_factory.mktemp("ended")
    for file in played.data.glob("arena.db*"):
        shutil.copy(file, copy)
    return copy


@pytest.fixture
def data(ended: Path, tmp_path: Path) -> Path:
    """A second copy, which a test may change."""
    return Path(shutil.copytree(ended, tmp_path / "copy"))


@contextmanager
def tampering(data: Path) -> Iterator[Connection]:
    """Drop the triggers that protect the log, so that a test can change it."""
    with open_to_amend(data) as connection:
        for guard in ("rated_results_stay", "rated_results_remain"):
            connection.exec_driver_sql(f"DROP TRIGGER {guard}")
        yield connection


def verdicts(data: Path, *options: str) -> dict[str, Any]:
    """Return the output of --json by game. The exit status is 1 if there is a difference."""
    result = arena("ladder", "rebuild", "--verify", "--json", "--data", data, *options)
    told = {each["game"]: each for each in json.loads(result.stdout)["ladders"]}
    assert result.exit_code == any(each["differences"] for each in told.values())
    return told


def test_what_a_running_server_published_is_what_its_events_give(played: Played) -> None:
    text = shown("ladder", "rebuild", "--verify", "--data", played.data)
    [served] = json.loads(shown("ladder", "--game", "sixth_sense", "--json", "--server", played.server))["ladders"]
    assert text.splitlines() == [
        f"sixth_sense: identical up to event {MATCHES}, SHA-256 {served['digest']}.",
        *(f"{name}: no ladder is published yet." for name in GAMES if name != "sixth_sense"),
    ]
    told = verdicts(played.data)["sixth_sense"]
    assert told == {
        "game": "sixth_sense",
        "through": MATCHES,
        "published": served["digest"],
        "recomputed": served["digest"],
        "identical": True,
        "differences": [],
    }
    assert list(verdicts(played.data, "--game", "nullern")) == ["nullern"]


def test_a_figure_that_was_changed_is_named(data: Path) -> None:
    figures, who = schema.standings, schema.versions.join(schema.bots)
    with tampering(data) as connection:
        node, bot, version, rating = connection.execute(
            figures.join(who)
            .select()
            .with_only_columns(figures.c.node, schema.bots.c.name, schema.versions.c.version, figures.c.rating)
            .order_by(figures.c.node.desc())
            .limit(1)
        ).one()
        changed = rating + 2**-40
        assert changed != rating
        connection.execute(update(figures).where(figures.c.node == node).values(rating=changed))
    result = arena("ladder", "rebuild", "--verify", "--game", "sixth_sense", "--data", data)
    assert result.exit_code == 1
    assert bot in result.stdout
    assert f"rating was {changed!r} where the events give {rating!r}.\n" in result.stdout
    (difference,) = verdicts(data)["sixth_sense"]["differences"]
    assert difference == {
        "node": node,
        "bot": bot,
        "version": version,
        "figure": "rating",
        "published": changed,
        "recomputed": rating,
    }


def test_a_changed_result_shows(data: Path) -> None:
    with tampering(data) as connection:
        first = schema.rated_results.c.number == 1
        places = connection.execute(schema.rated_results.select().where(first)).one().places
        passed_on = places[1:] + places[:1]  # several bots may share places, so these places are valid, too
        connection.execute(update(schema.rated_results).where(first).values(places=passed_on))
    told = verdicts(data)["sixth_sense"]
    assert told["published"] != told["recomputed"]
    assert len({difference["bot"] for difference in told["differences"]} - {None}) >= 2
    text = arena("ladder", "rebuild", "--verify", "--data", data).stdout
    assert f", and {len(told['differences']) - 1} more." in text


def test_a_changed_digest_shows(data: Path) -> None:
    with tampering(data) as connection:
        connection.execute(update(schema.ladders).values(digest="00" * 32))
    result = arena("ladder", "rebuild", "--verify", "--data", data)
    assert result.exit_code == 1
    assert "the digest was '0000" in result.stdout


def test_a_version_that_is_gone_from_the_ladder_shows(data: Path) -> None:
    with tampering(data) as connection:
        best = connection.scalar(select(schema.standings.c.node).order_by(schema.standings.c.rank).limit(1))
        connection.execute(delete(schema.standings).where(schema.standings.c.node == best))
    differences = verdicts(data)["sixth_sense"]["differences"]
    assert {difference["published"] for difference in differences} == {None}
    assert len({difference["bot"] for difference in differences}) == 1


def test_events_that_are_not_sound_are_named(data: Path) -> None:
    with tampering(data) as connection:
        connection.execute(delete(schema.rated_results).where(schema.rated_results.c.number == 2))
    for options in (("--verify",), ()):
        result = arena("ladder", "rebuild", *options, "--data", data)
        assert result.exit_code == 1
        assert "event 3 follows where event 2 should" in result.output
    of_tables = arena("ladder", "--seats", "3", "--game", "sixth_sense", "--data", data)
    assert of_tables.exit_code == 1
    assert "event 3 follows where event 2 should" in of_tables.output


def test_events_that_are_gone_are_noticed_and_the_ladder_kept(data: Path) -> None:
    with tampering(data) as connection:
        connection.execute(delete(schema.rated_results).where(schema.rated_results.c.number == MATCHES))
    told = verdicts(data)["sixth_sense"]
    assert told["differences"][-2] | {"node": None} == {
        "node": None,
        "bot": None,
        "version": None,
        "figure": "through",
        "published": MATCHES,
        "recomputed": MATCHES - 1,
    }
    result = arena("ladder", "rebuild", "--data", data)
    assert result.exit_code == 1
    assert f"goes up to event {MATCHES}, but the list ends with event {MATCHES - 1}" in result.output
    assert verdicts(data)["sixth_sense"] == told


def test_a_rebuild_repairs_and_says_what_was_wrong(data: Path) -> None:
    with tampering(data) as connection:
        connection.execute(update(schema.standings).values(error=1.0))
    text = shown("ladder", "rebuild", "--game", "sixth_sense", "--data", data)
    assert text.startswith(f"sixth_sense: published up to event {MATCHES}; before, ")
    assert "error was 1.0 where the events give " in text
    again = shown("ladder", "rebuild", "--game", "sixth_sense", "--data", data)
    assert again == f"sixth_sense: published up to event {MATCHES}.\n"
    assert not verdicts(data)["sixth_sense"]["differences"]


def test_a_ladder_that_was_never_fitted_is_published(empty: Path) -> None:
    finished(empty)
    assert "not fitted yet" in shown("ladder", "--data", empty)
    assert verdicts(empty)["sixth_sense"]["published"] == ""
    assert "sixth_sense: published up to event 1." in shown("ladder", "rebuild", "--data", empty)
    assert verdicts(empty)["sixth_sense"]["identical"] is True
    [ladder] = json.loads(shown("ladder", "--game", "sixth_sense", "--json", "--data", empty))["ladders"]
    assert ladder["through"] == 1
    assert [row["best"] is None for row in ladder["standings"]] == [False, False]
    assert "not fitted yet" not in shown("ladder", "--game", "sixth_sense", "--data", empty)


def test_an_empty_ladder_is_rebuilt(empty: Path) -> None:
    assert "sixth_sense: published up to event 0." in shown("ladder", "rebuild", "--data", empty)
    assert verdicts(empty)["sixth_sense"]["identical"] is True
    assert shown("ladder", "--game", "sixth_sense", "--data", empty) == "No match of sixth_sense is finished yet.\n"


def test_only_verifying_is_done_beside_a_server(played: Played) -> None:
    result = arena("ladder", "rebuild", "--data", played.data)
    assert result.exit_code == 1
    assert f"process id {played.pid}" in result.output
    assert "--verify reads beside it" in result.output


def test_a_terminal_sees_what_takes_long(data: Path) -> None:
    with terminal("ladder", "rebuild", "--verify", "--game", "sixth_sense", "--data", data, columns=160) as screen:
        assert screen.end() == 0
    assert f"The ladder of sixth_sense from {MATCHES} events" in plain(screen.text)
    assert "identical" in plain(screen.text)


@pytest.mark.parametrize(
    ("options", "words"),
    [(("--game", "chess"), "there is no game 'chess'"), (("--data", "nowhere"), "a server started on it makes one")],
)
def test_what_is_asked_wrongly_is_named(options: tuple[str, ...], words: str, data: Path) -> None:
    result = arena("ladder", "rebuild", "--data", data, *options)
    assert result.exit_code == (2 if "--game" in options else 1)
    assert words in result.output
