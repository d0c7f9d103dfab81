"""Check the prose of docstrings, comments and documents by rules that a program can check.

    python tools/prose.py [--count] [PATH …]

Exits with 1 and a line for each fault. `--count` prints the faults by folder instead.

- The first line of a docstring stands alone: an imperative sentence or a noun phrase. It does not begin with What, Who,
  How, Whether, Of, Those or Its, and is not "See `x`".
- Exceptions stand under `Raises:`, not as bare names at the end of a sentence.
- The sentences of a document have at most 20 words on average and 45 each. Code and tables do not count.
- `MOST_VAGUE` bounds the uses of words that say nothing about the data flow. The bound may only fall.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
SOURCES: Final = (
    "engine",
    "trio_grpc",
    "arena",
    "clients/python/arena_client",
    "clients/python/client_tests",
    "bench",
    "tools",
    "examples",
    "tests",
)
DOCUMENTS: Final = ("README.md", "CONTRIBUTING.md", "docs", "clients", "engine/README.md")
FROZEN: Final = re.compile(
    r"arena/house/(random_bot|search)\.py|arena/house/\w+/(careful|counter|planner|search|situation)\.py|/v1/"
    r"|tests/house/frozen\.py|node_modules|/build/|/target/|/dist/"
)
"""Files that are not checked: frozen house bots, generated code, and files installed by tools."""
FIRST: Final = re.compile(r"(What|Who|How|Whether|Of|Those|Its)\b|See `")
BARE: Final = re.compile(r"(?:^|[.;]\s+)(?:[A-Z][a-z]+[A-Z]\w*|[A-Z]\w+Error)(?:(?:, | and | or |; )`?\w+`?)*\.?\s*$")
VAGUE: Final = re.compile(
    r"\b(told|said|heard|kept|taken|made|become|becomes|nobody|somebody|so many|that there is|which is its own)\b",
    re.IGNORECASE,
)
MOST_VAGUE: Final = 310
"""Maximum number of such words in all docstrings, comments and documents."""
MEAN_WORDS: Final = 20
LONGEST: Final = 45


class Fault(NamedTuple):
    """A place in the prose, and its fault."""

    place: str
    text: str


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every docstring of a module with its line, including those of attributes."""
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            if (
                isinstance(child, ast.Expr)
                and isinstance(child.value, ast.Constant)
                and isinstance(child.value.value, str)
            ):
                yield child.lineno, child.value.value


def comments(source: str) -> Iterator[tuple[int, str]]:
    """Every comment for human readers, with its line."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not re.match(r"#\s*(noqa|type:|pragma|!|ruff|Compiled:)", token.string):
            yield token.start[0], token.string.lstrip("# ")


def faults_of_source(path: Path, source: str) -> Iterator[Fault]:
    """Faults in the docstrings of a module."""
    for line, text in docstrings(ast.parse(source)):
        first = text.strip().split("\n\n")[0]
        if FIRST.match(first):
            yield Fault(f"{path}:{line}", f"a docstring that does not stand alone: {first.splitlines()[0]!r}")
        if "Raises:" not in text and BARE.search(" ".join(text.split()).rstrip("\"'")):
            yield Fault(f"{path}:{line}", f"exceptions without Raises: {' '.join(text.split())[-60:]!r}")


def prose(document: str) -> list[str]:
    """The sentences of a document, without code, tables, headings and link targets."""
    text = re.sub(r"```.*?```|<!--.*?-->|<table>.*?</table>", "\n\n", document, flags=re.DOTALL)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "X", text)  # a sentence may begin with code
    found: list[str] = []
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)", text):
        lines = [line.strip() for line in block.strip().splitlines()]
        if not lines or lines[0].startswith(("#", "|", "<")) or block.startswith("    "):
            continue
        flat = re.sub(r"^(?:[-*]|\d+\.)\s+", "", " ".join(lines))
        found += [each for each in re.split(r"(?<=[.!?:])\s+(?=[A-Z`\"*(\[]|$)", flat) if re.search(r"[a-z]", each)]
    return found


def words(sentence: str) -> int:
    """Return the number of words in a sentence."""
    return len(re.findall(r"[A-Za-z0-9][\w'’.-]*", sentence))


def faults_of_document(path: Path, document: str) -> Iterator[Fault]:
    """Faults in the sentences of a document."""
    sentences = prose(document)
    counts = [words(each) for each in sentences]
    if counts and sum(counts) / len(counts) > MEAN_WORDS:
        yield Fault(str(path), f"{sum(counts) / len(counts):.1f} words a sentence on average; at most {MEAN_WORDS}")
    for sentence, count in zip(sentences, counts, strict=True):
        if count > LONGEST:
            yield Fault(str(path), f"a sentence of {count} words; at most {LONGEST}: {sentence[:70]!r}")


def files(roots: tuple[str, ...], suffix: str) -> Iterator[Path]:
    """The files below some folders, relative to the checkout, except `FROZEN` ones."""
    for root in roots:
        start = ROOT / root
        for path in [start] if start.is_file() else sorted(start.rglob(f"*{suffix}")):
            if not FROZEN.search(f"/{path.relative_to(ROOT)}") and path.suffix == suffix:
                yield path.relative_to(ROOT)


def main() -> int:
    """Print the faults, or count them by folder; return 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", action="store_true", help="count the faults and vague words by folder")
    parser.add_argument("paths", nargs="*", help="only files below these paths")
    arguments = parser.parse_args()
    faults: list[Fault] = []
    vague: Counter[Path] = Counter()
    for path in [*files(SOURCES, ".py"), *files(DOCUMENTS, ".md")]:
        if arguments.paths and not str(path).startswith(tuple(arguments.paths)):
            continue
        text = (ROOT / path).read_text("utf-8")
        if path.suffix == ".py":
            faults += faults_of_source(path, text)
            pieces = [each for _, each in (*docstrings(ast.parse(text)), *comments(text))]
        else:
            faults += faults_of_document(path, text)
            pieces = prose(text)
        vague[path] = sum(len(VAGUE.findall(re.sub(r"`[^`]*`", "", piece))) for piece in pieces)
    total = sum(vague.values())
    if arguments.count:
        by_folder = Counter(str(Path(each.place.split(":")[0]).parent) for each in faults)
        words_by_folder: Counter[str] = Counter()
        for path, count in vague.items():
            words_by_folder[str(path.parent)] += count
        for folder in sorted({*by_folder, *words_by_folder}):
            print(f"{folder:45} faults {by_folder[folder]:4} vague words {words_by_folder[folder]:4}")
        print(f"{'all':45} faults {len(faults):4} vague words {total:4}")
        return 0
    if not arguments.paths and total > MOST_VAGUE:
        worst = ", ".join(f"{path} ({count})" for path, count in vague.most_common(5))
        faults.append(Fault("everywhere", f"{total} uses of {VAGUE.pattern}; at most {MOST_VAGUE}; most in {worst}"))
    for fault in faults:
        print(f"{fault.place}: {fault.text}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
