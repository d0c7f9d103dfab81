"""The notebooks of `examples/`, run cell by cell with small numbers, as a notebook program runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parents[2]
EXAMPLES: Final = ROOT / "examples"
SMALL: Final = {
    "search.ipynb": "WORLDS, SETS = 6, 2",
    "learning.ipynb": "BATCHES, GAMES, HIDDEN, DEALS = 6, 4, 16, 2",
}
SHOWN: Final = {
    "search.ipynb": "normalised Elo",
    "learning.ipynb": "['curve.json', 'curve.svg', 'network.npz', 'training.npz']",
}
RUN: Final = """
import ast, json, sys
names = {"__name__": "__main__"}
for cell in json.load(sys.stdin):
    *before, last = ast.parse(cell).body
    if not isinstance(last, ast.Expr):
        before, last = [*before, last], None
    exec(compile(ast.Module(before, []), "<cell>", "exec"), names)
    if last is not None:
        print(eval(compile(ast.Expression(last.value), "<cell>", "eval"), names))
"""

pytestmark = pytest.mark.process


def test_every_notebook_is_run() -> None:
    assert {path.name for path in EXAMPLES.glob("**/*.ipynb")} == set(SMALL)


@pytest.mark.parametrize("name", SMALL)
def test_a_notebook_runs_from_its_first_cell_to_its_last(name: str) -> None:
    notebook: dict[str, Any] = json.loads((EXAMPLES / name).read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] for cell in cells), "outputs are not kept"
    sources = [
        SMALL[name] if "parameters" in cell["metadata"].get("tags", ()) else "".join(cell["source"]) for cell in cells
    ]
    assert SMALL[name] in sources
    words = [sys.executable, "-W", "error", "-c", RUN]
    ran = subprocess.run(
        words, input=json.dumps(sources), capture_output=True, text=True, timeout=300, check=False, cwd=EXAMPLES
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert SHOWN[name] in ran.stdout
