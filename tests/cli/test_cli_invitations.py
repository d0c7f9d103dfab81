"""`arena bots invite` for several bots, `invitations`, `revoke-invitation`, `join`, and `arena ladder reset`."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import grpc
import pytest
from arena_client.v1 import bots_pb2, bots_pb2_grpc
from sqlalchemy import select

from arena.store import schema
from arena.store.bots import bots
from arena.store.ladder import seasons
from arena.store.opening import open_readonly, open_to_amend
from tests.cli.cli_rig import PATIENCE, Played, arena, serving, shown
from tests.store.jobs import GAME, NOW, add_bots, begin

LADDERS = """
[[ladders]]
name = "class"
game = "sixth_sense"
entry = "invited"

[[ladders]]
name = "listed"
game = "sixth_sense"
entry = ["anna"]
"""


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """A server with one ladder by invitation and one ladder for a listed owner."""
    folder = tmp_path_factory.mktemp("class")
    (folder / "arena.toml").write_text(f"house = false\n{LADDERS}")
    with serving(folder / "data", "--config", str(folder / "arena.toml")) as server:
        yield server


def register(server: str, name: str, code: str = "") -> str:
    with grpc.insecure_channel(server) as channel:
        request = bots_pb2.RegisterBotRequest(name=name, invitation=code)
        return bots_pb2_grpc.BotServiceStub(channel).RegisterBot(request, timeout=PATIENCE).token


def listed(data: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(shown("bots", "invitations", "--data", data, "--json"))["invitations"]
    return rows


def invited(data: Path, *options: object) -> list[tuple[str, str]]:
    document = json.loads(shown("bots", "invite", "--data", data, "--json", *options))
    return [(each["owner"], each["invitation"]) for each in document["invitations"]]


def test_a_class_is_invited_by_csv_with_a_server_and_without_one(empty: Path, room: Played) -> None:
    for data, asked in ((room.data, True), (empty, False)):
        words = ("bots", "invite", "--count", 3, "--owner-prefix", "csv-", "--ladder", "class", "--expires", "14d")
        result = arena(*words, "--csv", "--data", data)
        assert result.exit_code == 0, result.output
        rows = [*csv.DictReader(StringIO(result.stdout))]
        assert [row["owner"] for row in rows] == ["csv-1", "csv-2", "csv-3"]
        assert len({row["invitation"] for row in rows}) == 3
        assert ("was not checked" in result.stderr) is not asked
        (*_, last) = (row for row in listed(data) if row["owner"].startswith("csv-"))
        assert (last["owner"], last["ladder"], last["used_by"], last["revoked"]) == ("csv-3", "class", "", None)
        left = datetime.fromisoformat(last["expires"]) - datetime.now(UTC)
        assert timedelta(days=13, hours=23) < left <= timedelta(days=14)
    lines = shown("bots", "invite", "--count", 2, "--owner-prefix", "csv-", "--data", empty).split()
    assert lines[::2] == ["csv-4", "csv-5"], "owners that have an invitation are left out"


def test_the_operator_sees_the_state_of_each_invitation(empty: Path) -> None:
    assert shown("bots", "invitations", "--data", empty) == "No invitation was made yet.\n"
    codes = [code for _, code in invited(empty, "--count", 3, "--owner-prefix", "class-", "--ladder", "slow")]
    with open_to_amend(empty) as connection:
        bots.register(connection, "ann", "", NOW, codes[0])
        bots.invite(connection, "bob", NOW, expires=NOW + 1)
    assert shown("bots", "revoke-invitation", 2, "--data", empty) == "Invitation 2 is no longer valid.\n"
    text = " ".join(shown("bots", "invitations", "--data", empty).split())
    for words in ("1 class-1 slow used by ann", "2 class-2 slow revoked", "3 class-3 slow unused", "4 bob expired"):
        assert words in text
    for number, why in ((1, "used already"), (2, "nothing to change: invitation 2 is revoked"), (9, "no invitation 9")):
        result = arena("bots", "revoke-invitation", number, "--data", empty)
        assert (result.exit_code, why in result.output) == (1, True), result.output


def test_a_server_revokes_and_lets_bots_join(room: Played, tmp_path: Path) -> None:
    (_, first), (_, second), (_, third) = invited(
        room.data, "--count", 3, "--owner-prefix", "join-", "--ladder", "class"
    )
    number = next(row["number"] for row in listed(room.data) if row["owner"] == "join-3")
    assert json.loads(shown("bots", "revoke-invitation", number, "--data", room.data, "--json")) == {"number": number}
    token = tmp_path / "joiner.token"
    token.write_text(register(room.server, "joiner"))
    there = ("--token-file", token, "--server", room.server)
    for ladder, code, why in (
        ("class", third, "was revoked"),
        ("class", "guess", "there is no such invitation"),
        ("listed", first, "its owner, joiner, is not listed there"),
        ("nowhere", first, "there is no ladder 'nowhere'; there is"),
    ):
        result = arena("bots", "join", ladder, code, *there)
        assert (result.exit_code, why in result.output) == (1, True), result.output
    assert shown("bots", "join", "class", first, *there) == "The bot may play on class now.\n"
    again = arena("bots", "join", "class", second, *there)
    assert (again.exit_code, "nothing to change: joiner is on the ladder class" in again.output) == (1, True)


def test_a_bot_that_may_not_play_on_a_ladder_ends_with_the_remedy(room: Played, tmp_path: Path) -> None:
    where = ("--server", room.server, "--token-file", str(tmp_path / "token"))
    command = (sys.executable, "-m", "arena_client.samples.random_bot", *where, "--name", "stranger")
    ended = subprocess.run(
        [*command, "--ladder", "class"], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert ended.returncode == 3
    assert "stranger may not enter the ladder class: it is by invitation" in ended.stderr
    assert "`arena-bot join stranger class CODE`" in ended.stderr


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "say for whom: --owner NAME, or --owner-prefix TEXT with --count N"),
        (("--owner", "ann", "--owner-prefix", "class-", "--count", 2), "--owner is for one invitation"),
        (("--owner", "ann", "--count", 2), "say for whom"),
        (("--owner-prefix", "class-"), "say for whom"),
        (("--owner-prefix", "class-", "--count", 0), "0 is not in the range 1<=x<=1000"),
        (("--owner-prefix", "class-", "--count", 10**6), "1000000 is not in the range 1<=x<=1000"),
        (("--owner", "ann", "--expires", "0d"), "'0d' is no number of hours, days or weeks, such as 12h, 30d or 8w"),
        (("--owner", "ann", "--expires", "2001-01-01"), "'2001-01-01' is no number of hours"),
        (("--owner", "ann", "--csv", "--json"), "--csv and --json are different forms"),
    ],
)
def test_wrong_usage_of_invite_is_named(empty: Path, words: tuple[object, ...], why: str) -> None:
    result = arena("bots", "invite", "--data", empty, *words)
    assert (result.exit_code, why in " ".join(result.output.split())) == (2, True), result.output
    assert listed(empty) == []


def test_names_and_times_that_are_not_allowed_fail(empty: Path, room: Played) -> None:
    for data in (empty, room.data):
        before = listed(data)
        for words, why in (
            (("--owner-prefix", "a class ", "--count", 2), "'a class 2' is not allowed"),
            (("--owner-prefix", "house-", "--count", 2), "the server's own"),
            (("--owner", "ann", "--expires", "999999w"), "expires in the future, before the year 10000"),
        ):
            result = arena("bots", "invite", "--data", data, *words)
            assert (result.exit_code, why in result.output) == (1, True), result.output
        assert listed(data) == before
    result = arena("bots", "invite", "--owner", "ann", "--ladder", "clas", "--data", room.data)
    assert (result.exit_code, "there is no ladder 'clas'; there is sixth_sense" in result.output) == (1, True)


def test_a_ladder_is_reset_without_a_server_if_it_has_matches(empty: Path) -> None:
    with open_to_amend(empty) as connection:
        begin(connection, add_bots(connection, "ann", "bob"))
    assert shown("ladder", "reset", GAME, "--data", empty) == f"Season 2 of {GAME} begins.\n"
    document = json.loads(shown("ladder", "reset", GAME, "--data", empty, "--json"))
    assert document == {"ladder": GAME, "season": 3}
    unknown = arena("ladder", "reset", "nullern", "--data", empty)
    assert (unknown.exit_code, f"there is no ladder 'nullern'; there is {GAME}" in unknown.output) == (1, True)
    with open_readonly(empty) as connection:
        assert [season.number for season in seasons.list_seasons(connection, GAME)] == [1, 2, 3]


def test_a_server_begins_a_season_itself_and_the_audit_knows_it(room: Played) -> None:
    assert shown("ladder", "reset", "class", "--data", room.data) == "Season 2 of class begins.\n"
    unknown = arena("ladder", "reset", "clas", "--data", room.data)
    assert (unknown.exit_code, "there is no ladder 'clas'; there is" in unknown.output) == (1, True)
    with open_readonly(room.data) as connection:
        kinds = connection.scalars(select(schema.log.c.kind)).all()
    assert kinds[-1] == "season"
    assert "1 season" in " ".join(shown("log", "audit", "--data", room.data).split())
