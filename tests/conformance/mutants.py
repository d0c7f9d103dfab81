"""Games with one fault each: a game's sources with one replaced text, loaded beside the original."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import engine
from engine.game import Game


class Mutant(NamedTuple):
    """A fault, and its place in the source."""

    rule: str
    """The faulty rule in words."""
    game: str
    module: str
    old: str
    """A text that occurs exactly once in the source."""
    new: str


class _Sources(MetaPathFinder, Loader):
    """An importer that loads one game from its source files."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant
        self._package = f"engine.{mutant.game}"

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != self._package and not name.startswith(f"{self._package}."):
            return None
        return spec_from_loader(name, self, is_package=name == self._package)

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__[len(self._package) + 1 :] or "__init__"
        text = source_of(self._mutant.game, name).read_text()
        if name == self._mutant.module:
            assert text.count(self._mutant.old) == 1, f"not once in {name}.py: {self._mutant.old}"
            text = text.replace(self._mutant.old, self._mutant.new)
        exec(compile(text, f"<{self._mutant.rule}: {name}>", "exec"), module.__dict__)


def source_of(game: str, module: str) -> Path:
    """Return the file of a game's module."""
    return Path(engine.__path__[0]) / game / f"{module}.py"


def mutated(mutant: Mutant) -> Game:
    """Return the mutant's game. All other imports find the original modules."""
    assert source_of(mutant.game, mutant.module).is_file(), f"engine/{mutant.game} has no module {mutant.module}"
    package = f"engine.{mutant.game}"
    real = {name: module for name, module in sys.modules.items() if f"{name}.".startswith(f"{package}.")}
    sources = _Sources(mutant)
    sys.meta_path.insert(0, sources)
    for name in real:
        del sys.modules[name]
    try:
        game: Game = getattr(import_module(package), mutant.game.upper())
    finally:
        sys.meta_path.remove(sources)
        for name in [name for name in sys.modules if f"{name}.".startswith(f"{package}.")]:
            del sys.modules[name]
        sys.modules.update(real)
        setattr(engine, mutant.game, real[package])
    return game
