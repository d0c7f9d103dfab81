"""Check structural rules that reviews would miss: unique names, and no import cycles.

    python tools/structure.py

Exits with 1 and a line for each fault. Type-only imports count like any other.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGES: Final = ("engine", "trio_grpc", "arena")
GAMES: Final = frozenset(path.parent.name for path in (ROOT / "engine").glob("*/game.py"))
LONGEST_CHAIN: Final = {"arena.server": 7}
"""Maximum length of a chain of imports within a package."""
DEFENDED: Final = {
    frozenset(
        {"trio_grpc.http2.http2", "trio_grpc.http2.http2_stream"}
    ): "a connection and its streams call each other",
    frozenset({"trio_grpc.http2.connection", "trio_grpc.http2.listener"}): "a connection ends itself at its listener",
    frozenset({"engine.nullern.observer", "engine.nullern.state"}): "a state has itself observed, type-only back",
    frozenset(
        {"engine.sixth_sense.observer", "engine.sixth_sense.state"}
    ): "a state has itself observed, type-only back",
}
"""Allowed import cycles, each with the reason."""


def modules() -> dict[str, ast.Module]:
    """Return every module of the packages, by dotted name."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts).removesuffix(".__init__")] = ast.parse(path.read_text("utf-8"))
    return found


def repeated_classes(trees: Mapping[str, ast.Module]) -> Iterator[str]:
    """Find public classes that share a name; only classes in corresponding modules of two games may."""
    places = defaultdict(list)
    for module, tree in trees.items():
        piece = ".".join("<game>" if part in GAMES else part for part in module.split("."))
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append((piece, module))
    for name, where in sorted(places.items()):
        if len({piece for piece, _ in where}) > 1:
            yield f"two public classes are called {name}: {', '.join(module for _, module in where)}"


def numbers_of_matches(trees: Mapping[str, ast.Module]) -> Iterator[str]:
    """Find the places where a match's number is not called `match_id`; JSON documents call it match."""
    for module, tree in trees.items():
        keys = {
            id(key)
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef) and "TypedDict" in map(ast.unparse, node.bases)
            for key in node.body
        }
        for node in ast.walk(tree):
            if id(node) in keys:
                continue
            if isinstance(node, ast.arg):
                name, annotation = node.arg, node.annotation
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                name, annotation = node.target.id, node.annotation
            else:
                continue
            if (
                name == "match"
                and annotation is not None
                and ast.unparse(annotation).split(".")[-1] in ("int", "MatchId")
            ):
                yield f"{module}, line {node.lineno}: a match's number is called match_id, not match"


def imports(trees: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    """Return the imported modules of each module."""
    graph: dict[str, set[str]] = {}
    for module, tree in trees.items():
        wanted = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                wanted |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
            elif isinstance(node, ast.Import):
                wanted |= {alias.name for alias in node.names}
        graph[module] = {each for each in wanted if each in trees and each != module and not _is_package(each, trees)}
    return graph


def _is_package(module: str, trees: Mapping[str, ast.Module]) -> bool:
    return any(other.startswith(f"{module}.") for other in trees)


def circles(graph: Mapping[str, set[str]]) -> list[frozenset[str]]:
    """Return groups of modules that import each other, directly or indirectly; any other module is a group of its
    own.
    """
    reached = {module: _reached(graph, module) for module in graph}
    return list(
        {frozenset({module, *(other for other in reached[module] if module in reached[other])}) for module in graph}
    )


def _reached(graph: Mapping[str, set[str]], module: str) -> set[str]:
    seen: set[str] = set()
    todo = [module]
    while todo:
        new = graph[todo.pop()] - seen
        seen |= new
        todo += new
    return seen


def forbidden_circles(graph: Mapping[str, set[str]]) -> Iterator[str]:
    """Find import cycles that are not allowed, and allowed cycles that no longer exist."""
    found = {circle for circle in circles(graph) if len(circle) > 1}
    for circle in found - DEFENDED.keys():
        yield f"these import each other: {', '.join(sorted(circle))}"
    for circle in DEFENDED.keys() - found:
        yield f"this circle is gone, take it off the list: {', '.join(sorted(circle))}"


def chain(graph: Mapping[str, set[str]], package: str) -> list[str]:
    """Return the longest chain of imports within a package; a cycle counts as all its modules."""
    inside = {module: graph[module] & graph.keys() for module in graph if module.startswith(f"{package}.")}
    inside = {module: {each for each in wanted if each in inside} for module, wanted in inside.items()}
    group = {module: circle for circle in circles(inside) for module in circle}

    @cache
    def longest(circle: frozenset[str]) -> tuple[str, ...]:
        below = {group[each] for module in circle for each in inside[module]} - {circle}
        deepest: tuple[str, ...] = max(map(longest, below), key=len, default=())
        return (*sorted(circle), *deepest)

    deepest: tuple[str, ...] = max(map(longest, set(group.values())), key=len, default=())
    return list(deepest)


def long_chains(graph: Mapping[str, set[str]]) -> Iterator[str]:
    """Find packages with a chain of imports that is too long."""
    for package, most in LONGEST_CHAIN.items():
        found = chain(graph, package)
        if len(found) > most:
            yield f"{len(found)} modules of {package} lie one above the other, {most} may: {' → '.join(found)}"


def faults() -> list[str]:
    """Return all faults."""
    trees = modules()
    graph = imports(trees)
    return [*repeated_classes(trees), *numbers_of_matches(trees), *forbidden_circles(graph), *long_chains(graph)]


if __name__ == "__main__":
    found = faults()
    for fault in found:
        print(fault)
    sys.exit(1 if found else 0)
