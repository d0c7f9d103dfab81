"""Every test that the threat model names exists, and the threat model marks tests that need minutes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "threat-model.md").read_text()
LONG = "pytest.mark.long"


def written_in(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield the tests of a file, each with True if the test needs minutes."""
    tree = ast.parse(path.read_text())
    marks = [
        mark
        for line in tree.body
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "pytestmark"
        for mark in (line.value.elts if isinstance(line.value, ast.List) else [line.value])
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node.name, LONG in map(ast.unparse, [*marks, *node.decorator_list])


@pytest.mark.thorough
def test_every_claim_names_a_test_that_exists_and_those_are_marked_that_take_minutes() -> None:
    claimed = set(re.findall(r"`(test_\w+)`", TEXT))
    rooms = (ROOT / "tests", ROOT / "clients" / "python" / "client_tests")
    there = [test for room in rooms for path in room.rglob("test_*.py") for test in written_in(path)]
    assert len(claimed) > 20
    assert claimed - {name for name, _ in there} == set()
    quick = {name for name, long in there if not long}
    assert set(re.findall(r"`(test_\w+)` \(long\)", TEXT)) == claimed - quick
    rows = [line for line in TEXT.splitlines() if line.startswith("|")][2:]
    assert [row for row in rows if "`" not in row.rpartition(" | ")[2]] == [], "a claim without its test"
