"""Every test that the threat model names exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_claim_names_a_test_that_exists() -> None:
    text = (ROOT / "docs" / "threat-model.md").read_text()
    claimed = set(re.findall(r"`(test_\w+)`", text))
    rooms = (ROOT / "tests", ROOT / "clients" / "python" / "client_tests")
    sources = "".join(path.read_text() for room in rooms for path in room.rglob("test_*.py"))
    there = set(re.findall(r"def (test_\w+)\(", sources))
    assert len(claimed) > 20
    assert claimed - there == set()
    rows = [line for line in text.splitlines() if line.startswith("|")][2:]
    assert [row for row in rows if "`" not in row.rpartition(" | ")[2]] == [], "a claim without its test"
