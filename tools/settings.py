"""Check that a setting has one name from its flag to its use: `python tools/settings.py`, a part of `make check`.

A setting is a field of `Config` or of a dataclass that `Config` holds. Its flag and its key in a file are derived from
its name. This program checks the use in the sources: every setting is read somewhere, no two have the same name, and
code that receives `limits.byte_rate` unchanged, by assignment, keyword or parameter, also calls it `byte_rate`. A
computed value may have another name. So may a variable that is assigned again, and a parameter of a function or class
that takes numbers of many kinds (`GENERAL`).
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

ROOT: Final = Path(__file__).resolve().parents[1]
HOLDERS: Final = {
    "config": ("arena/server/config.py", "Config"),
    "limits": ("arena/server/sessions/limits.py", "Limits"),
    "policy": ("arena/match/policy.py", "Policy"),
    "settings": ("trio_grpc/limits/settings.py", "TransportSettings"),
}
"""Files that define the dataclasses of settings, by the name of the variable or attribute that holds one."""
TABLES: Final = {"limits", "policy", "transport"}
"""Fields of `Config` that contain settings but are not settings themselves."""
GENERAL: Final = {
    "OpenByOrigin": "so many of anything that is open at once",
    "TokenBucket": "so much of anything a second",
    "begin_drain": "a limit of this stop: an operator's call has its own",
    "load_credentials": "the files of any TLS server",
    "sleep": "any time",
    "_ms": "any time, in other units",
}
"""Functions and classes that may give a setting another name, each with the reason."""

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Settings: TypeAlias = Mapping[str, frozenset[str]]
"""The names of the settings, by holder."""
Carried: TypeAlias = frozenset[tuple[str, str]]
"""Pairs of a function or class and a parameter that carries the setting of the same name."""


def main() -> None:
    """Check the arena; exit with a line for each fault."""
    paths = sorted(path for package in ("arena", "trio_grpc") for path in (ROOT / package).rglob("*.py"))
    wrong = violations({path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths})
    sys.exit("\n".join(wrong) or None)


def violations(texts: Mapping[str, str]) -> list[str]:
    """Return the faults in `texts`, the modules by path from the root, including those that define settings."""
    trees = {path: ast.parse(text) for path, text in texts.items()}
    settings = {holder: _fields(trees[path], name) for holder, (path, name) in HOLDERS.items()}
    named = Counter(name for names in settings.values() for name in names)
    read = {found for tree in trees.values() for node in ast.walk(tree) if (found := _setting(node, settings))}
    wrong = [f"{name} is the name of {count} settings" for name, count in named.items() if count > 1]
    wrong += [f"nothing reads the setting {name}" for name in sorted(named) if name not in read]
    parameters = _parameters(trees.values())
    before, carried = None, Carried()
    while carried != before:  # a parameter that carries a setting may pass it on
        before, followed = carried, [Follow(path, settings, parameters, carried) for path in trees]
        for follow in followed:
            follow.visit(trees[follow.path])
        carried = carried.union(*(follow.carried for follow in followed))
    return wrong + [line for follow in followed for line in follow.renamed]


class Follow(ast.NodeVisitor):
    """Visitor that follows the settings through a module."""

    def __init__(
        self, path: str, settings: Settings, parameters: Mapping[str, Sequence[str]], carried: Carried
    ) -> None:
        self.path = path
        self.carried: set[tuple[str, str]] = set()
        """Parameters that receive a setting in this module."""
        self.renamed: list[str] = []
        self._settings = settings
        self._parameters = parameters
        self._known = carried
        self._class: ast.ClassDef | None = None
        self._function: Function | None = None

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Follow the settings inside the class."""
        outer, self._class = self._class, node
        self.generic_visit(node)
        self._class = outer

    def visit_FunctionDef(self, node: Function) -> None:
        """Follow the settings inside the function."""
        outer, self._function = self._function, node
        self.generic_visit(node)
        self._function = outer

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_Assign(self, node: ast.Assign | ast.AnnAssign | ast.NamedExpr) -> None:
        """Check a name or attribute to which a setting is assigned, if it is assigned only once."""
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            for place, value in _pairs(target, node.value):
                scope = self._class if isinstance(place, ast.Attribute) else self._function
                if self._setting(value) is not None and _stores(scope, _last(place)) <= 1:
                    self._hand(node, value, _last(place))
        self.generic_visit(node)

    visit_AnnAssign = visit_NamedExpr = visit_Assign  # noqa: N815

    def visit_Call(self, node: ast.Call) -> None:
        """Check that parameters have the names of the settings passed to them."""
        function, values = node.func, node.args
        if _last(function) == "partial" and values:
            function, *values = values
        called = _last(function)
        handed = [(each.arg, each.value) for each in node.keywords if each.arg is not None]
        for name, value in [*zip(self._parameters.get(called, ()), values, strict=False), *handed]:
            if called not in GENERAL and (setting := self._hand(node, value, name)) is not None:
                self.carried.add((called, setting))
        self.generic_visit(node)

    def _setting(self, value: ast.expr | None) -> str | None:
        """Return the name of the setting that an expression reads; None for other expressions."""
        if isinstance(value, ast.Name) and self._function is not None:
            begins = self._class is not None and self._function.name == "__init__"
            within = self._class.name if self._class is not None and begins else self._function.name
            return value.id if (within, value.id) in self._known else None
        return _setting(value, self._settings)

    def _hand(self, node: ast.stmt | ast.expr, value: ast.expr | None, name: str) -> str | None:
        """Return the setting that an expression reads; record a fault if it is passed on under another name."""
        setting = self._setting(value)
        if setting is not None and name.lstrip("_") != setting:
            self.renamed.append(f"{self.path}:{node.lineno}: the setting {setting} is called {name}")
        return setting


def _fields(tree: ast.Module, name: str) -> frozenset[str]:
    """Return the settings among the fields of a dataclass."""
    [found] = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name]
    return frozenset(_last(node.target) for node in found.body if isinstance(node, ast.AnnAssign)) - TABLES


def _setting(node: ast.AST | None, settings: Settings) -> str | None:
    """Return the setting that an expression reads unchanged from its holder; None for other expressions."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        holder = _last(node.value).lstrip("_").replace("transport", "settings")
        return node.attr if node.attr in settings.get(holder, ()) else None
    return None


def _parameters(trees: Iterable[ast.Module]) -> dict[str, list[str]]:
    """Return the positional parameters of functions and constructors by name, without names that occur twice."""
    found: dict[str, list[str]] = {}
    count: Counter[str] = Counter()
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.ClassDef):
            called = [each for each in node.body if isinstance(each, Function) and each.name == "__init__"]
        elif isinstance(node, Function):
            called = [node]
        else:
            continue
        for function in called:
            names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
            found[node.name] = names[1:] if names[:1] in (["self"], ["cls"]) else names
            count[node.name] += 1
    return {name: names for name, names in found.items() if count[name] == 1}


def _pairs(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for inner, part in zip(target.elts, value.elts, strict=False):
            yield from _pairs(inner, part)
    elif isinstance(target, ast.Name | ast.Attribute):
        yield target, value


def _stores(scope: ast.AST | None, name: str) -> int:
    """Return the number of assignments to this name in a class or function."""
    nodes = ast.walk(scope) if scope is not None else ()
    return sum(isinstance(getattr(node, "ctx", None), ast.Store) and _last(node) == name for node in nodes)


def _last(node: ast.AST) -> str:
    """Return the last name in an expression: "rate" for `self.limits.rate`; "" if it does not end with a name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


if __name__ == "__main__":
    main()
