"""`arena bots rotate`, `revoke` and `unpark`: by the operator and by the bot's author, with and without a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.store.base.errors import UnknownToken
from arena.store.bots import bots
from arena.store.bots.bots import BotId
from arena.store.moderation import parking
from arena.store.opening import open_readonly, open_to_amend
from tests.cli.cli_rig import Played, arena, serving, shown
from tests.store.jobs import NOW, begin, finish


@pytest.fixture
def token(empty: Path) -> str:
    """The token of the bot Ada, which is parked and has an opponent."""
    with open_to_amend(empty) as connection:
        registered = [bots.register(connection, name, "", NOW) for name in ("Ada", "Bob")]
        for _ in range(3):
            match = begin(connection, [BotId(each.bot.id) for each in registered])
            finish(connection, match, [1, 2])
            parking.count(connection, match, [True, False], 3, NOW)
    return registered[0].token


@pytest.fixture
def file(token: str, tmp_path: Path) -> Path:
    path = tmp_path / "ada.token"
    path.write_text(token)
    return path


def known(data: Path, token: str) -> bool:
    with open_readonly(data) as connection:
        try:
            return bots.authenticate(connection, token).name == "Ada"
        except UnknownToken:
            return False


def parked(*source: object) -> dict[str, str]:
    rows = json.loads(shown("bots", "list", "--json", *source))["bots"]
    return {row["bot"]: row["parked"] for row in rows if not row["house"]}


def test_the_operator_replaces_and_revokes_a_token_without_a_server(empty: Path, token: str) -> None:
    new = shown("bots", "rotate", "Ada", "--data", empty).strip()
    assert (known(empty, token), known(empty, new)) == (False, True)
    assert shown("bots", "revoke", "Ada", "--data", empty) == "The token of Ada is no longer valid.\n"
    assert not known(empty, new)
    newest = json.loads(shown("bots", "rotate", "Ada", "--data", empty, "--json"))
    assert newest["bot"] == "Ada"
    assert known(empty, newest["token"])


def test_the_operator_has_the_server_do_it_where_one_works(empty: Path, token: str) -> None:
    with serving(empty) as server:
        there = ("--data", empty)
        new = shown("bots", "rotate", "Ada", *there).strip()
        assert (known(empty, token), known(empty, new)) == (False, True)
        assert json.loads(shown("bots", "unpark", "Ada", *there, "--json")) == {"bot": "Ada"}
        assert parked("--server", server.server) == {"Ada": "", "Bob": ""}
        assert json.loads(shown("bots", "revoke", "Ada", *there, "--json")) == {"bot": "Ada"}
        assert not known(empty, new)


def test_the_author_does_it_with_the_token_and_finds_the_new_one_in_the_file(
    empty: Path, token: str, file: Path
) -> None:
    with serving(empty) as server:
        there = ("--token-file", file, "--server", server.server)
        new = shown("bots", "rotate", "Ada", *there).strip()
        assert (file.read_text(), known(empty, token), known(empty, new)) == (new, False, True)
        assert shown("bots", "unpark", "ada", *there) == "ada is given seats again.\n"
        assert shown("bots", "revoke", "Ada", *there) == "The token of Ada is no longer valid.\n"
        assert not known(empty, new)
        refused = arena("bots", "rotate", "Ada", *there)
        assert refused.exit_code == 1
        assert "only Ada itself and the operator" in refused.output


@pytest.mark.parametrize("verb", ["rotate", "revoke", "unpark"])
def test_nobody_does_it_to_another_bot(empty: Path, token: str, file: Path, verb: str) -> None:
    with serving(empty) as server:
        for name in ("Bob", "nobody"):
            result = arena("bots", verb, name, "--token-file", file, "--server", server.server)
            assert result.exit_code == 1
            assert f"only {name} itself and the operator" in result.output


def test_who_is_parked_is_shown_with_the_matches_that_led_to_it(empty: Path, token: str) -> None:
    why = "in matches 1, 2 and 3, in a row, it was suspended or a house bot had to play on"
    assert parked("--data", empty) == {"Ada": why, "Bob": ""}
    with serving(empty) as server:
        assert parked("--server", server.server) == {"Ada": why, "Bob": ""}
        assert "matches 1, 2 and 3" in " ".join(shown("bots", "list", "--server", server.server).split())
    assert shown("bots", "unpark", "Ada", "--data", empty)
    again = arena("bots", "unpark", "Ada", "--data", empty)
    assert again.exit_code == 1
    assert "Ada is not parked" in again.output


def test_what_cannot_be_done_is_named(empty: Path, token: str, file: Path, played: Played) -> None:
    unknown = arena("bots", "rotate", "Eve", "--data", empty)
    assert unknown.exit_code == 1
    assert "there is no bot 'Eve'" in unknown.output
    for both_or_none in ((), ("--data", empty, "--token-file", file)):
        result = arena("bots", "revoke", "Ada", *both_or_none)
        assert result.exit_code == 2
        assert "--data DIR for the operator, --token-file FILE for the bot's author" in result.output
    elsewhere = arena("bots", "rotate", "Ada", "--token-file", file, "--server", played.server)
    assert elsewhere.exit_code == 1
    assert file.read_text() == token
