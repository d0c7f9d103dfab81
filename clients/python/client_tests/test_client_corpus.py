"""The package plays every conversation of clients/conformance and computes the results in its vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from client_tests import corpus, vectors

CONVERSATIONS = corpus.conversations()


@pytest.mark.parametrize("conversation", CONVERSATIONS.values(), ids=CONVERSATIONS.keys())
def test_the_package_plays_as_every_client_does(
    conversation: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus.check(conversation, tmp_path / "bot.token", monkeypatch)


def test_the_vectors_are_what_is_worked_out_here() -> None:
    there = {path.name: path.read_text("utf-8") for path in vectors.FOLDER.iterdir()}
    assert there == vectors.files(), "run python -m client_tests.vectors in clients/python"
