"""The package plays every conversation of clients/conformance, and works out what its vectors say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from client_tests import corpus

CONVERSATIONS = corpus.conversations()


@pytest.mark.parametrize("conversation", CONVERSATIONS.values(), ids=CONVERSATIONS.keys())
def test_the_package_plays_as_every_client_does(
    conversation: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus.check(conversation, tmp_path / "bot.token", monkeypatch)
