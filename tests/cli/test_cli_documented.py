"""docs/commands.md agrees with the program and names every verb as users type it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_cli_main import ALL

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "commands.md").read_text()


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_the_page_of_commands_has_every_verb(words: tuple[str, ...]) -> None:
    assert f"| `arena {' '.join(words)}` |" in PAGE


def test_the_page_of_commands_is_generated_from_the_program(tmp_path: Path) -> None:
    script = tmp_path / "commands.py"
    script.write_text((DOCS / "commands.py").read_text())
    exec(compile(script.read_text(), str(script), "exec"), {"__name__": "__main__", "__file__": str(script)})
    assert (tmp_path / "commands.md").read_text() == PAGE, "python docs/commands.py writes it"
