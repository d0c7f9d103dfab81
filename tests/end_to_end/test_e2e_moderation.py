"""The operator's decisions about bots and owners, while their bots are connected to a real server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.cli_rig import shown
from tests.end_to_end.e2e_rig import Server, program, server


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server(tmp_path_factory.mktemp("moderation") / "data", "--drain", "0") as running:
        yield running


def test_a_bot_of_the_sdk_that_is_deleted_is_told_to_take_another_name(tmp_path: Path, running: Server) -> None:
    """The bot is connected, returns with its token, or registers again."""
    file = tmp_path / "token"
    command = ("-m", "arena_client.samples.random_bot", "--name", "gone", "--token-file", str(file))
    where = ("--server", running.address)
    with program(*command, *where) as bot:
        assert bot.stdout is not None
        assert any("is connected" in line for line in bot.stdout)
        shown("bots", "delete", "gone", "--reason", "as asked", "--data", running.data)
        assert bot.wait(60) == 3
        last = bot.stdout.read().splitlines()[-1]
        assert last.endswith("its name is given to nobody: register another bot, under another name")
    with program(*command, *where) as bot:
        assert bot.stdout is not None
        assert bot.wait(60) == 3
        last = bot.stdout.read().splitlines()[-1]
        assert last.endswith("remove it to register the bot anew, and under another name if it was deleted here)")
    file.unlink()
    with program(*command, *where) as bot:
        assert bot.stdout is not None
        assert bot.wait(60) == 3
        last = bot.stdout.read().splitlines()[-1]
        assert last.endswith("if it was deleted, or is not yours, register under another name")


def test_an_owner_s_name_that_is_not_allowed_is_called_his(tmp_path: Path, running: Server) -> None:
    command = ("-m", "arena_client.samples.random_bot", "--token-file", str(tmp_path / "token"))
    for options, words in (
        (("--owner", "no good"), "the owner's name 'no good' is not allowed: 1 to 40 letters"),
        (("--owner", "admin"), "the owner's name 'admin' is not allowed: admin is reserved"),
        (("--name", "no good", "--owner", "no good"), ": the name 'no good' is not allowed"),
        (("--name", "admin", "--owner", "me"), ": the name 'admin' is not allowed"),
    ):
        with program(*command, "--server", running.address, *options) as bot:
            assert bot.stdout is not None
            assert bot.wait(60) == 3
            assert words in bot.stdout.read()
