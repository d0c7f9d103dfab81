"""Sphinx's settings for the site that `make docs` builds from the pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.version import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SOURCE = Path(__file__).parents[2] / "build" / "docs" / "source"
"""The metadata that `tools/documentation.py` writes for Sphinx."""

project = "Arena"
version = release = __version__
author = project_copyright = ""
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_extra", "_static"]
suppress_warnings = ["ref.python"]  # both games have classes of the same names
default_role = "code"  # docstrings write names as Markdown does
myst_heading_anchors = 6
myst_enable_extensions = ["attrs_inline"]
autodoc_default_options = {"members": True, "ignore-module-all": True, "show-inheritance": True}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
toc_object_entries_show_parents = "hide"
highlight_language = "none"
html_theme = "furo"
html_favicon = str(SOURCE.parents[2] / "arena" / "web" / "static" / "favicon.svg")
html_title = f"Arena {__version__}"
html_static_path = [str(SOURCE / "_static")]
html_extra_path = [str(SOURCE / "_extra")]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_permalinks_icon = "#"
html_use_index = False


def load_diagrams(app: Sphinx, page: str, template: str, context: dict[str, Any], document: object) -> None:
    """Load the script that draws diagrams, on pages that have one."""
    if 'class="mermaid"' in context.get("body", ""):
        app.add_js_file("diagrams.mjs", type="module")


def list_errors(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Convert the lines below `Raises:` in a docstring to fields of Sphinx."""
    text = "\n".join(lines)
    text = re.sub(r"(?<=\S) (?=Raises: )|^(?=Raises: )", "\n\n", text, flags=re.MULTILINE)
    text = re.sub(r"^Raises:\n((?: +.*\n?)+)", lambda found: "\n" + _fields(found[1]), text, flags=re.MULTILINE)
    text = re.sub(r"^Raises: (\w+): ", r":raises \1: ", text, flags=re.MULTILINE)
    lines[:] = re.sub(r"^Raises: (\w+(?:, \w+)*)\.$", r":raises \1:", text, flags=re.MULTILINE).split("\n")


def _fields(text: str) -> str:
    shortest = min(len(line) - len(line.lstrip()) for line in text.splitlines() if line.strip())
    return re.sub(rf"^ {{{shortest}}}(?=\S)", ":raises ", text, flags=re.MULTILINE)


def setup(app: Sphinx) -> None:
    """Register the handlers."""
    app.connect("autodoc-process-docstring", list_errors)
    app.connect("html-page-context", load_diagrams)
