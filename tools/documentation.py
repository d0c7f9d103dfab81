"""Builds the documentation site and its wheel: `make docs`.

The pages are those that docs/index.md links to, in its four groups. Sphinx reads a copy of each page, in which a link
to another file leads to a page with the file's text.
"""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "clients" / "python")]

from arena.version import __version__  # noqa: E402
from arena.wheels import files_of, packed_wheel  # noqa: E402
from tools.vendor import Vendored, downloaded  # noqa: E402

INDEX: Final = "docs/index.md"
BUILD: Final = ROOT / "build" / "docs"
PACKAGE: Final = BUILD / "arena_docs"
METADATA: Final = f"""\
Metadata-Version: 2.4
Name: arena-docs
Version: {__version__}+file
Summary: The Arena's documentation as a site, which the pages of a server show at /docs.
License-Expression: Apache-2.0 AND BSD-2-Clause AND MIT
Classifier: Private :: Do Not Upload
Requires-Python: >=3.11
"""
"""The description of the wheel. Sphinx's scripts have the BSD licence, Furo's and Mermaid the MIT licence."""
MERMAID: Final = Vendored(
    "mermaid",
    "12.3.0",
    "4113TdXeLAsMruJ79OpFL5O8+LTFXhQqZ260rF3tgUmiNAtRm4Uume04I+65PRN6yZ69J4f8rVYWW8zRk65UYw==",
    "build/mermaid",
    {},
)
"""The library that draws the diagrams in the reader's browser."""
API: Final = {
    "engine": ("The engine, module by module", ROOT / "engine"),
    "arena_client": ("The Python client, module by module", ROOT / "clients" / "python" / "arena_client"),
}
"""For each documented package, the title of its page and its folder."""
CLIENT: Final = (
    "bot",
    "decision",
    "engine",
    "errors",
    "kept_decisions",
    "nullern",
    "receipts",
    "running",
    "sixth_sense",
)
"""The client's modules that bots import from."""
LANGUAGES: Final = {
    ".cc": "cpp",
    ".go": "go",
    ".h": "cpp",
    ".java": "java",
    ".js": "js",
    ".json": "json",
    ".mjs": "js",
    ".proto": "protobuf",
    ".py": "python",
    ".rs": "rust",
    ".ts": "ts",
    ".yaml": "yaml",
}
"""Pygments' names of languages, by the suffix of a file."""
REPAIRS: Final = {
    'class="caption" role="heading"': r'\g<0> aria-level="2"',
    '<aside class="sidebar-drawer"': r'\g<0> aria-label="Pages"',
    '<aside class="toc-drawer[^"]*"': r'\g<0> aria-label="On this page"',
    # a focusable element can be scrolled with the keyboard
    '<pre(?=>)|<div class="table-wrapper[^"]*"': r'\g<0> tabindex="0"',
    "<th([^>]*)><p></p></th>": r"<td\1></td>",
    r'(searchText = document\.createElement\(")h2': r"\1h1",
}
"""Regular expressions that match HTML of Sphinx and Furo, each with its replacement."""
PICTURES: Final = (".svg", ".webp", ".png")
LINK: Final = re.compile(
    r'(?<=\]\()([^)\s#]*)(#[^)\s]*)?(?=\))|(?<=(?:src|ref)=")([^"#]*)(?=")|(?<=srcset=")([^"#]*)(?=")'
)
FENCE: Final = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
DIAGRAM: Final = re.compile(r"^```mermaid\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def groups() -> dict[str, list[str]]:
    """Return the pages of each group in the order of the index, relative to the root of the repository."""
    _, *parts = re.split(r"^## (.*)$", (ROOT / INDEX).read_text("utf-8"), flags=re.MULTILINE)
    found = {
        title: [_path(INDEX, link) for link in re.findall(r"\]\(([^)#]+\.md)\)", text)]
        for title, text in zip(parts[::2], parts[1::2], strict=True)
    }
    found["Play"].insert(0, "README.md")
    return found


def _path(page: str, link: str) -> str:
    """Return the path of a link's target, relative to the root of the repository."""
    return os.path.normpath(PurePosixPath(page).parent / link)


def document_name(path: str) -> str:
    """Return Sphinx's name for a page."""
    return path.removeprefix("docs/").removesuffix(".md")


class Site:
    """The site: the pages written so far, and the files to which they link."""

    def __init__(self) -> None:
        self.pages = {INDEX, *(page for pages in groups().values() for page in pages)}
        self.files: set[str] = set()
        """Files and folders that have a page with their content."""
        self.pictures: set[str] = set()

    def place(self, path: str) -> str:
        """Return Sphinx's name for a page, or for the page with a file's text."""
        return document_name(path) if path in self.pages else f"files/{path}"

    def text(self, page: str) -> str:
        """Return a page as Sphinx gets it: links lead to pages of the site, and a browser draws the diagrams.

        Raises:
            SystemExit: A link leads nowhere.
        """
        text = (ROOT / page).read_text("utf-8")
        parts, done = [], 0
        for fence in FENCE.finditer(text):
            parts += [self._linked(page, text[done : fence.start()]), fence[0]]
            done = fence.end()
        text = "".join([*parts, self._linked(page, text[done:])])
        return DIAGRAM.sub(lambda found: f'<pre class="mermaid">\n{html.escape(found[1])}</pre>', text)

    def _linked(self, page: str, text: str) -> str:
        return LINK.sub(lambda found: self._link(page, found[0]), text)

    def _link(self, page: str, link: str) -> str:
        target, mark, anchor = link.partition("#")
        if not target or re.match(r"\w+:", target):
            return link
        path = _path(page, target)
        here = PurePosixPath(self.place(page)).parent
        if (ROOT / path).is_dir() and f"{path}/README.md" in self.pages:
            path = f"{path}/README.md"
        if path in self.pages:
            return os.path.relpath(f"{self.place(path)}.md", here) + mark + anchor
        if not (ROOT / path).exists():
            raise SystemExit(f"{page} links to {path}, which does not exist")
        if path.endswith(PICTURES):
            self.pictures.add(path)
            return os.path.relpath(f"pictures/{path}", here)
        self.files.add(path)
        return os.path.relpath(f"{self.place(path)}.md", here)

    def file(self, path: str) -> str:
        """Return the page that shows a file's text, or the names in a folder."""
        there = ROOT / path
        head = f"---\nnosearch: true\norphan: true\n---\n\n# `{path}`\n\n"
        if there.is_dir():
            names = sorted(f"{each.name}/" if each.is_dir() else each.name for each in there.iterdir())
            shown = [self._named(path, name) for name in names if not name.startswith(("_", "."))]
            return head + "\n".join(f"- {each}" for each in shown) + "\n"
        text = there.read_text("utf-8")
        if there.suffix == ".ipynb":
            return head + self._linked(path, "\n\n".join(_cells(text))) + "\n"
        return f"{head}{_fenced(text, LANGUAGES.get(there.suffix, 'text'))}\n"

    def _named(self, folder: str, name: str) -> str:
        path = f"{folder}/{name}"
        if path not in self.files:
            return f"`{name}`"
        return f"[`{name}`]({os.path.relpath(f'files/{path}.md', f'files/{PurePosixPath(folder).parent}')})"


def _fenced(text: str, language: str) -> str:
    return f"``````{language}\n{text.rstrip()}\n``````"


def _cells(notebook: str) -> Iterator[str]:
    for cell in json.loads(notebook)["cells"]:
        text = "".join(cell["source"])
        yield re.sub(r"^#", "##", text) if cell["cell_type"] == "markdown" else _fenced(text, "python")


def modules(package: str) -> list[str]:
    """Return the public modules within a package."""
    folder = API[package][1]
    found = []
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        name = ".".join([package, *(part for part in parts if part != "__init__")])
        if package == "arena_client" and parts[0] not in CLIENT:
            continue
        if name not in (package, f"{package}.version") and not any(
            part.startswith("_") and part != "__init__" for part in parts
        ):
            found.append(name)
    return found


def stage(folder: Path) -> None:
    """Write the copy of the pages that Sphinx reads."""
    site = Site()
    written = {document_name(page): site.text(page) for page in sorted(site.pages)}
    while missing := sorted(path for path in site.files if site.place(path) not in written):
        written |= {site.place(path): site.file(path) for path in missing}  # a notebook contains links, too
    for package, (title, _) in API.items():
        names = [f"api/{name}" for name in modules(package)]
        head = f"# {title}\n\nFor authors of bots.\n\n"
        written[f"api/{package}"] = head + _module(package, ":no-members:") + _contents("", names)
        written |= {f"api/{name}": f"# `{name}`\n\n{_module(name)}" for name in modules(package)}
    trees = {title: [*map(document_name, pages)] for title, pages in groups().items()}
    trees["Write a bot"] += [f"api/{package}" for package in API]
    written["index"] += "".join(_contents(title, names, "hidden") for title, names in trees.items())
    for name, text in written.items():
        (folder / f"{name}.md").parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.md").write_text(text, "utf-8")
    for path in sorted(site.pictures):
        for place in (
            folder / "pictures",
            folder / "_extra" / "pictures",
        ):  # once for links in Markdown, once for links in HTML
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, place / path)
    shutil.copytree(ROOT / "docs" / "site", folder / "_static", ignore=shutil.ignore_patterns("*.py", "__pycache__"))


def _module(name: str, option: str = "") -> str:
    return f"```{{eval-rst}}\n.. automodule:: {name}\n   {option}\n```\n"


def _contents(caption: str, names: list[str], *options: str) -> str:
    lines = [f":caption: {caption}"] * bool(caption) + [f":{option}:" for option in options]
    return "\n".join(["\n```{toctree}", *lines, "", *(f"/{name}" for name in names), "```\n"])


def unpack_mermaid(folder: Path) -> None:
    """Put Mermaid's modules into a folder. Raises: SystemExit: The modules are not as expected."""
    wanted = re.compile(r"package/(dist/(mermaid\.esm\.min\.mjs|chunks/mermaid\.esm\.min/.*\.mjs)|LICENSE)")
    with tarfile.open(downloaded(MERMAID)) as files:
        for member in files:
            if (found := wanted.fullmatch(member.name)) and (content := files.extractfile(member)):
                place = folder / found[1].removeprefix("dist/")
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content.read())


def accessible(text: str) -> str:
    """Return a page of the site with additions that WCAG 2.2 requires and the theme lacks."""
    for before, after in REPAIRS.items():
        text = re.sub(before, after, text)
    return text


def packed_site(files: dict[str, bytes]) -> tuple[str, bytes]:
    """Return the file name and content of the site's wheel."""
    return packed_wheel("arena-docs", f"{__version__}+file", files, {"METADATA": METADATA})


def build() -> None:
    """Build the site below build/docs, and its wheel below dist. Raises: SystemExit: Sphinx gave a warning."""
    from sphinx.cmd.build import build_main  # imported here because tests use the module without Sphinx

    shutil.rmtree(BUILD, ignore_errors=True)
    source = BUILD / "source"
    stage(source)
    unpack_mermaid(source / "_static" / "mermaid")
    words = ["-W", "--keep-going", "-q", "-b", "html", "-c", ROOT / "docs" / "site", "-d", BUILD / "doctrees"]
    if status := build_main([*map(str, words), str(source), str(PACKAGE / "site")]):
        raise SystemExit(status)
    for path in [
        *(PACKAGE / "site").rglob("*.map"),
        *(PACKAGE / "site" / name for name in (".buildinfo", "objects.inv")),
    ]:
        path.unlink()
    for path in [*(PACKAGE / "site").rglob("*.html"), PACKAGE / "site" / "_static" / "searchtools.js"]:
        path.write_text(accessible(path.read_text("utf-8")), "utf-8")
    (PACKAGE / "__init__.py").write_text('"""The documentation of the Arena, as a site."""\n', "utf-8")
    name, content = packed_site(files_of(PACKAGE.name, PACKAGE))
    for old in (ROOT / "dist").glob("arena_docs-*.whl"):
        old.unlink()
    (ROOT / "dist").mkdir(exist_ok=True)
    (ROOT / "dist" / name).write_bytes(content)
    print(f"{PACKAGE.relative_to(ROOT)}/site/index.html, dist/{name}")


if __name__ == "__main__":
    build()
