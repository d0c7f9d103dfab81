"""Decisions read from a file equal those that a bot would receive, and errors name the line."""

from pathlib import Path

import pytest
from arena_client import ProtocolMismatchError, read_decisions
from arena_client.v1.play_pb2 import PlayResponse
from client_tests.peer import asks, welcome
from google.protobuf.json_format import MessageToJson


def written(folder: Path, *messages: PlayResponse) -> Path:
    file = folder / "decisions.jsonl"
    file.write_text("".join(MessageToJson(message, indent=None) + "\n" for message in messages))
    return file


def test_decisions_are_read_as_they_were_asked(tmp_path: Path) -> None:
    file = written(tmp_path, welcome(), asks((1, 7), legal=(1, 2)), asks((2, 8), (3, 9)))
    found = [(each.match_id, each.decision_id) for each in read_decisions(file)]
    assert found == [(1, 7), (2, 8), (3, 9)]
    first = next(read_decisions(str(file)))
    assert first.legal == [1, 2]
    assert first.game.name == "sixth_sense"
    assert [action.name for action in first.actions]


def test_a_line_that_is_none_is_named(tmp_path: Path) -> None:
    file = written(tmp_path, welcome())
    file.write_text(file.read_text() + "nonsense\n")
    with pytest.raises(ValueError, match=r"decisions.jsonl, line 2, is no message of a server"):
        list(read_decisions(file))


def test_a_decision_in_an_unknown_game_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProtocolMismatchError, match="unknown to this client"):
        list(read_decisions(written(tmp_path, asks((1, 7)))))
