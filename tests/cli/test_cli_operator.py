"""The operator's verbs contact the server that uses the data directory, wherever it listens, and no other server."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click
import pytest
import trio

from arena.cli.main import main
from arena.store.base.directory import database_of
from arena.store.base.lock import LockHolder, holder
from arena.store.store import open_store
from tests.cli.cli_rig import Played, arena, serving, shown

VERBS = (
    ("bots", "invite", "--owner", "alice"),
    ("bots", "invitations"),
    ("bots", "revoke-invitation", "9"),
    ("bots", "rotate", "Ada"),
    ("bots", "revoke", "Ada"),
    ("bots", "unpark", "Ada"),
    ("bots", "rename", "Ada", "Eva"),
    ("bots", "ban", "eve"),
    ("bots", "unban", "eve"),
    ("bots", "hide", "Ada"),
    ("bots", "unhide", "Ada"),
    ("bots", "delete", "Ada"),
    ("ladder", "void", "1", "--reason", "a ring"),
    ("ladder", "void", "--bot", "Ada", "--since", "2026-01-31", "--reason", "a ring"),
    ("ladder", "reset", "nullern"),
    ("event", "create", "friday", "--ladder", "nullern", "--start", "+1h", "--budget", "9"),
    ("event", "enter", "friday", "Ada"),
    ("event", "start", "friday"),
    ("event", "cancel", "friday"),
    ("drain",),
)
"""Every verb that sends a server the operator's token."""
THERE = {
    "there is no bot 'Ada'",
    "there is no match 1",
    "nothing to change: eve is not banned",
    "no invitation 9",
    "there is no event 'friday'",
    "the ladder nullern has no house bots",
}
"""The directory's own server answers with errors about missing objects. The other server would refuse the token."""


def test_every_verb_asks_the_server_of_its_directory_whatever_other_server_is_meant_else(
    empty: Path, played: Played
) -> None:
    with serving(empty, "--no-house"):
        for verb in VERBS:
            result = arena(*verb, "--data", empty, env={"ARENA_SERVER": played.server})
            assert result.exit_code == 0 or any(words in result.output for words in THERE), (verb, result.output)
    assert shown("matches", "--server", played.server), "it was not drained"


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_no_other_server_can_be_named_beside_the_directory(empty: Path, verb: tuple[str, ...]) -> None:
    result = arena(*verb, "--data", empty, "--server", "127.0.0.1:1")
    assert result.exit_code == 2
    assert "--server" in result.output


def test_these_are_all_verbs_whose_help_says_that_a_server_is_asked() -> None:
    context = click.Context(main)
    asking = set()
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        inner = command.commands if isinstance(command, click.Group) else {}
        for words, each in [((name,), command), *[((name, word), each) for word, each in inner.items()]]:
            helps = [option.help or "" for option in each.params if isinstance(option, click.Option)] if each else []
            if any("which is asked if it runs" in text for text in helps):
                asking.add(words)
    assert asking == {verb[:2] for verb in VERBS}


def ways(tmp_path: Path) -> dict[str, tuple[Path, tuple[str, ...]]]:
    """Return a data directory and the arguments of a server on it, by name."""
    cert, key = tmp_path / "tls" / "cert.pem", tmp_path / "tls" / "key.pem"
    return {
        "everywhere": (tmp_path / "data", ("--address", "0.0.0.0:0")),
        "tls": (tmp_path / "data", ("--tls-cert", str(cert), "--tls-key", str(key))),
        "processes": (tmp_path / "data", ("--processes", "2")),
        "a socket elsewhere": (tmp_path / "data", ("--unix-socket", str(tmp_path / "socket"))),
        "a long path": (tmp_path / ("long" * 30) / "data", ()),
        "a strange name": (tmp_path / "a%20b #?ä", ()),
        "a name with a comma": (tmp_path / "a,b", ()),
        "pages": (tmp_path / "data 100%", ("--web", "127.0.0.1:0")),
    }


@pytest.mark.parametrize("way", ways(Path()))
def test_a_server_is_found_wherever_it_listens(tmp_path: Path, way: str) -> None:
    data, options = ways(tmp_path)[way]
    if way == "tls":
        shown("cert", tmp_path / "tls")
    with serving(data, "--no-house", *options) as server:
        found = holder(data)
        assert found is not None
        assert found.socket is not None
        assert (found.pid, found.socket.stat().st_mode & 0o777) == (server.pid, 0o600)
        assert json.loads(shown("bots", "invite", "--owner", "alice", "--data", data, "--json"))["invitation"]
        assert shown("drain", "--data", data) == "Every match ended; the server is gone.\n"
        assert not found.socket.exists()
    assert holder(data) is None


def test_a_directory_under_another_path_leads_to_the_same_server(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "--no-house"):
        (tmp_path / "mounted").symlink_to(tmp_path / "data")
        found = holder(tmp_path / "mounted")
        assert found is not None
        assert found.socket == tmp_path / "mounted" / "arena.socket"
        assert shown("bots", "invite", "--owner", "alice", "--data", tmp_path / "mounted")


def test_a_server_that_was_killed_is_asked_no_more(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(data, "--no-house") as server:
        os.kill(server.pid, 9)
        os.waitpid(server.pid, 0)
        with database_of(data).locked():
            pass  # the server's writer process has also ended
        drained = arena("drain", "--data", data)
        assert (drained.exit_code, f"no server works on {data}" in drained.output) == (1, True)
        assert shown("bots", "invite", "--owner", "alice", "--data", data)
    with serving(data, "--no-house"):
        assert shown("drain", "--data", data) == "Every match ended; the server is gone.\n"


@pytest.mark.parametrize("verb", [("drain",), ("bots", "ban", "eve")], ids=" ".join)
def test_who_holds_the_directory_and_does_not_listen_is_named(empty: Path, verb: tuple[str, ...]) -> None:
    with database_of(empty).locked():
        result = arena(*verb, "--data", empty)
    assert result.exit_code == 1
    assert f"the process with id {os.getpid()}, which works on {empty}, does not listen" in result.output
    assert not (empty / "arena.socket").exists()


def test_who_announced_a_socket_at_which_nobody_listens_is_named(empty: Path) -> None:
    async def hold() -> None:
        async with open_store(empty, 0) as store:
            store.announce(empty / "arena.socket")
            assert holder(empty) == LockHolder(os.getpid(), empty / "arena.socket")
            result = await trio.to_thread.run_sync(lambda: arena("drain", "--data", empty))
            assert result.exit_code == 1
            assert "no arena answers at unix:" in result.output
            assert f"the process with id {os.getpid()}, which works on {empty}, has announced" in result.output

    trio.run(hold)
