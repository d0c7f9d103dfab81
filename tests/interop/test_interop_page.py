"""What the page about generating code shows is in the clients that are tested."""

from __future__ import annotations

import re

import pytest

from tests.end_to_end.e2e_rig import ROOT

PAGE = (ROOT / "docs" / "generating.md").read_text()
BLOCKS = re.findall(r"^```\w+\n\W+ ([\w/.]+)(?: -->)?\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_there_are_blocks_of_every_language() -> None:
    shown = {path.removeprefix("tests/interop/").partition("/")[0] for path, _ in BLOCKS}
    assert shown == {"buf.gen.yaml", "go", "cpp", "java", "rust", "javascript"}


@pytest.mark.parametrize(("path", "block"), BLOCKS, ids=[path for path, _ in BLOCKS])
def test_what_is_shown_is_cut_from_what_is_tested(path: str, block: str) -> None:
    assert block in (ROOT / path).read_text()
