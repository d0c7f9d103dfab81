"""The rules of `tools/prose.py`, each with a text that breaks it and a text that follows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import prose

SOURCE = Path("module.py")
PAGE = Path("page.md")


@pytest.mark.parametrize(
    ("docstring", "faults"),
    [
        ("What is sent.", 1),
        ("Of a stream.", 1),
        ("See `Client.games`.", 1),
        ("Send a frame on a stream.", 0),
        ("Return a match; MissingMatchError.", 1),
        ("Return a match. UnknownBot, OfTheHouse.", 1),
        ("Return a match.\\n\\n    Raises:\\n        MissingMatchError: no such match.", 0),
        ("Catch OSError while a file is read.", 0),
    ],
)
def test_a_docstring_stands_alone_and_names_exceptions_under_raises(docstring: str, faults: int) -> None:
    source = f'def function() -> None:\n    """{docstring}"""\n'.replace("\\n", "\n")
    assert len([*prose.faults_of_source(SOURCE, source)]) == faults


def test_sentences_of_a_page_are_counted_without_code_tables_and_links() -> None:
    page = "# Title\n\nOne [two](three.md) `four five`.\n\n```sh\nsix\n```\n\n| seven |\n|---|\n\n- Eight. Nine ten.\n"
    assert [prose.words(each) for each in prose.prose(page)] == [3, 1, 2]


def test_a_page_of_long_sentences_is_refused() -> None:
    assert [*prose.faults_of_document(PAGE, "It is so. " * 9)] == []
    average, *longest = prose.faults_of_document(PAGE, f"This {'long ' * 50}sentence.")
    assert "52.0 words a sentence on average" in average.text
    assert len(longest) == 1
