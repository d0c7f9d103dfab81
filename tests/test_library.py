"""What docs/library.md shows is run, from its first line to its last."""

from __future__ import annotations

import re
from doctest import DocTestParser, DocTestRunner
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "library.md"


def test_everything_shown_about_the_library_works() -> None:
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"```pycon\n(.*?)```", text, re.DOTALL)
    assert text.count(">>> ") == sum(block.count(">>> ") for block in blocks), "every prompt is in a block"
    test = DocTestParser().get_doctest("".join(blocks), {}, "library.md", str(PAGE), 0)
    said: list[str] = []
    results = DocTestRunner(verbose=False).run(test, out=said.append)
    assert results.attempted > 20
    assert not results.failed, "".join(said)


def test_every_file_linked_exists() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", PAGE.read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (PAGE.parent / link).exists()] == []
