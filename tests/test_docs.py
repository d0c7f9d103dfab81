"""Names in documents exist: files, modules, commands, and members of classes and messages. Documents use no old names.

The documentation site has all pages, and its links are valid.
"""

from __future__ import annotations

import ast
import os
import re
from collections import defaultdict
from functools import cache
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import pytest

from tools import documentation

ROOT: Final = Path(__file__).parents[1]
DOCUMENTS: Final = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "clients").glob("*/*.md"),
    *(ROOT / "engine").rglob("*.md"),
    *(ROOT / "examples").rglob("*.md"),
]
SOURCES: Final = ("arena", "engine", "trio_grpc", "bench", "tools", "tests", "clients/python")
CODE: Final = re.compile(r"`([^`\n]+)`")
SUFFIXES: Final = r"(?:py|md|proto|toml|svg|mjs|json|perft|yaml)"
FILE: Final = re.compile(rf"(?:[\w.<>-]+/)+(?:[\w.<>-]+\.{SUFFIXES})?")
MEMBER: Final = re.compile(r"([A-Z]\w+)\.(\w+)")
MODULE: Final = re.compile(r"python -m ((?:arena|bench|engine|tests|arena_client)[\w.]*)")
OLD_NAMES: Final = (
    "hall",
    "lobby",
    "lobbies",
    "clerk",
    "scribe",
    "gathering",
    "contestant",
    "truth layer",
    "arena/wire",
)
"""Old names of things that were renamed."""

NOT_FOR_SOMEBODY: Final = {
    "README.md",
    "CHANGELOG.md",
    *(f"engine/{game}/rules.en.md" for game in ("nullern", "sixth_sense")),
}
"""Pages without a first line about their readers ("For …")."""

ids = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))


@cache
def members() -> dict[str, set[str]]:
    """Return the members of each class in the sources, and of each message, service and enum in the protocol."""
    found: dict[str, set[str]] = defaultdict(set)
    bases: dict[str, set[str]] = defaultdict(set)
    for source in SOURCES:
        for path in (ROOT / source).rglob("*.py"):
            if "v1" not in path.parts:
                for node in ast.walk(ast.parse(path.read_text())):
                    if isinstance(node, ast.ClassDef):
                        found[node.name] |= set(names(node))
                        bases[node.name] |= {base.id for base in node.bases if isinstance(base, ast.Name)}
    for _ in range(3):  # no class has a longer chain of ancestors
        for name, parents in bases.items():
            found[name] |= {member for parent in parents for member in found.get(parent, ())}
    for path in (ROOT / "proto").rglob("*.proto"):
        text = re.sub(r"//.*", "", path.read_text())
        for name, body in re.findall(r"\b(?:message|service|enum) (\w+) \{(.*?)^\}", text, re.DOTALL | re.MULTILINE):
            found[name] |= set(re.findall(r"(\w+) =", body)) | set(re.findall(r"(?:rpc|oneof) (\w+)", body))
    return found


def names(node: ast.ClassDef) -> list[str]:
    """Return the methods and attributes of a class."""
    own = [each.name for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    own += [
        each.target.id for each in node.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    ]
    for each in ast.walk(node):
        if isinstance(each, ast.Assign | ast.AnnAssign):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            own += [target.attr for target in targets if isinstance(target, ast.Attribute)]
            own += [target.id for target in targets if isinstance(target, ast.Name)]
    return own


def there(document: Path, name: str) -> bool:
    """Return True if a path exists in the repository, from its root or beside the document. <…> matches any text."""
    pattern = re.sub(r"<[^>]*>", "*", name).rstrip("/")
    return any(any(base.glob(pattern)) for base in (ROOT, document.parent))


def headings(document: Path) -> set[str]:
    """Return the anchors that GitHub generates for a document."""
    lines = re.findall(r"^#+ (.*)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}


@ids
def test_every_link_leads_somewhere(document: Path) -> None:
    text = document.read_text()
    pictures = [(link, "") for link in re.findall(r'(?:src|srcset|href)="(?!https?:)([^"#]*)', text)]
    for link, anchor in [*re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", text), *pictures]:
        target = document.parent / link if link else document
        assert target.exists(), link
        assert not anchor or anchor in headings(target), f"{link}#{anchor}"


@ids
def test_every_path_named_exists(document: Path) -> None:
    paths = {name for code in CODE.findall(document.read_text()) for name in re.split(r"[\s,]+", code)}
    made = ("build/", "journal/", "replays/", "dist/", "data/")  # not in the repository
    named = [path for path in paths if FILE.fullmatch(path) and not path.startswith(made)]
    assert [path for path in named if not there(document, path)] == []


@ids
def test_every_module_that_is_run_exists(document: Path) -> None:
    assert [name for name in MODULE.findall(document.read_text()) if find_spec(name) is None] == []


@pytest.mark.thorough
@ids
def test_every_member_named_exists(document: Path) -> None:
    named = [MEMBER.fullmatch(code.removesuffix("()")) for code in CODE.findall(document.read_text())]
    known = members()
    missing = [each[0] for each in named if each and each[1] in known and each[2] not in known[each[1]]]
    unknown = [each[0] for each in named if each and each[1] not in known]
    assert missing + unknown == []


@ids
def test_no_old_names(document: Path) -> None:
    text = document.read_text().lower()
    assert [name for name in OLD_NAMES if re.search(rf"\b{name}\b", text)] == []


def test_the_index_names_every_document() -> None:
    index = ROOT / "docs" / "index.md"
    linked = {(index.parent / link).resolve() for link in re.findall(r"\]\(([^)#]+\.md)\)", index.read_text())}
    assert {path for path in (ROOT / "docs").rglob("*.md") if path != index} <= linked


def test_every_word_of_the_glossary_has_its_module() -> None:
    rows = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \|$", (ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE)
    words = [row for row in rows if row[0] not in ("word", "---")]
    assert len(words) > 60
    assert [
        word for word, meaning, module in words if not (meaning.endswith(".") and CODE.fullmatch(module.split(",")[0]))
    ] == []


def test_the_site_has_four_groups_and_every_document_in_one() -> None:
    groups = documentation.groups()
    assert [*groups] == ["Play", "Write a bot", "Run a server", "Work on it"]
    pages = [page for group in groups.values() for page in group]
    assert len(pages) == len({*pages})
    documents = {str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")} - {documentation.INDEX}
    assert documents | {"README.md", "CONTRIBUTING.md"} <= {*pages}


def test_every_page_of_the_site_begins_with_for_whom_it_is() -> None:
    pages = {documentation.INDEX, *(page for group in documentation.groups().values() for page in group)}
    first = {page: (ROOT / page).read_text().split("\n\n")[1] for page in pages - NOT_FOR_SOMEBODY}
    assert {page: text for page, text in first.items() if not text.startswith("For ")} == {}


def test_every_link_of_what_the_site_is_built_from_leads_to_a_file_of_it(tmp_path: Path) -> None:
    documentation.stage(tmp_path)
    links = {
        (page, link)
        for page in tmp_path.rglob("*.md")
        if "files" not in page.relative_to(tmp_path).parts[:1]
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", re.sub(documentation.FENCE, "", page.read_text()))
    }
    assert len(links) > 200
    assert [(str(page), link) for page, link in links if not (page.parent / link).is_file()] == []
    tree = re.findall(r"^/(.*)$", (tmp_path / "index.md").read_text(), re.MULTILINE)
    assert {documentation.document_name(page) for group in documentation.groups().values() for page in group} <= {*tree}


@pytest.mark.skipif(
    not (documentation.PACKAGE / "site" / "index.html").is_file() and os.environ.get("CI") != "true",
    reason="make docs has not built the site",
)
def test_every_link_within_the_built_site_leads_somewhere_and_nothing_is_loaded_from_elsewhere() -> None:
    site = documentation.PACKAGE / "site"
    texts = {page: page.read_text() for page in site.rglob("*.html")}
    marks = {page: {*re.findall(r'\sid="([^"]+)"', text)} for page, text in texts.items()}
    wrong = []
    for page, text in texts.items():
        for link in {*re.findall(r'\s(?:href|src|srcset)="(?!\w+:)([^"]*)"', text)}:
            path, _, mark = unescape(link).partition("#")
            target = (page.parent / unquote(path.partition("?")[0])).resolve() if path else page
            if not target.is_file() or (mark and target.suffix == ".html" and unquote(mark) not in marks[target]):
                wrong.append((str(page.relative_to(site)), link))
    assert wrong == []
    loaded = re.compile(r'<(?:script|img|source|iframe|link)\b[^>]*\s(?:src|srcset|href)="(?:https?:)?//[^"]*"')
    assert [found for text in texts.values() for found in loaded.findall(text)] == []
    assert len(texts) > 100
