"""The files in which tokens are stored."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest
from arena_client.tokens import NewToken, default_token_file, read_token


def test_each_bot_on_each_server_has_a_file_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    file = default_token_file("Example.org:50051", "My-Bot")
    assert file == tmp_path / ".arena" / "tokens" / "example.org_50051-my-bot.token"
    assert default_token_file("unix:/run/arena", "../../x").parent == file.parent


def test_a_token_is_kept_whole_and_to_its_owner(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "down" / "bot.token"
    assert read_token(file) is None
    new = NewToken(file)
    assert read_token(file) is None
    new.keep(new.token)
    assert read_token(file) == new.token
    assert os.listdir(file.parent) == ["bot.token"]  # noqa: PTH208 - the names are needed
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_token_is_as_long_as_servers_want_it_and_another_for_every_bot(tmp_path: Path) -> None:
    tokens = {NewToken(tmp_path / f"{number}.token").token for number in range(20)}
    assert len(tokens) == 20
    assert all(re.fullmatch(r"arena_[A-Za-z0-9_-]{43}", token) for token in tokens)


def test_a_token_is_offered_again_until_it_is_kept_or_dropped(tmp_path: Path) -> None:
    file = tmp_path / "bot.token"
    new = NewToken(file)
    assert NewToken(file).token == new.token
    new.drop()
    assert not list(tmp_path.iterdir())
    another = NewToken(file)
    assert another.token != new.token
    another.keep("the server's own")
    assert read_token(file) == "the server's own"
    assert list(tmp_path.iterdir()) == [file]


def test_an_empty_file_is_no_token(tmp_path: Path) -> None:
    (tmp_path / "bot.token").write_text("\n")
    assert read_token(tmp_path / "bot.token") is None


def test_a_disk_that_takes_nothing_is_noticed_before_there_is_a_token(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        NewToken(tmp_path / "file" / "bot.token")
