"""The default version of a bot: a digest of everything that affects its decisions.

It covers the bot's module, the modules imported so far from its project folder, the files named in `Bot.files`, and the
arguments of its constructor. Comments and formatting do not count. The digest is the same in every version of Python
from 3.11 on.
"""

from __future__ import annotations

import ast
import inspect
import logging
import secrets
import sys
import sysconfig
import time
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any

from arena_client.errors import ArgumentError

DIGITS = 12
"""Number of hexadecimal digits of a digest."""
NO_CODE = frozenset({"name", "owner", "games", "capacity", "version"})
"""Arguments of `Bot` that do not affect its decisions."""
_INSTALLED = ("site-packages", "dist-packages")
_STANDARD = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")}
_SCRIPTS = Path(sysconfig.get_path("scripts")).resolve()
"""Folder of installed programs such as `arena`; it may lie in a bot's project."""
_CLIENT = Path(__file__).resolve().parent
_CHECKOUT = _CLIENT.parents[2] if _CLIENT.parts[-3:-1] == ("clients", "python") else None
"""Arena's checkout, if the client is used from it."""
_OF_ARENA = ("arena", "engine", "trio_grpc")
"""Packages of the checkout that are libraries to a bot, even if the bot lies beside them."""
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
ATTEMPTS = 10
PAUSE = 0.005
"""Number of seconds between two attempts to parse a source."""
_parsing = Lock()
_log = logging.getLogger("arena_client")


def source_digest(bot: object, arguments: tuple[Sequence[object], Mapping[str, object]], files: Sequence[str]) -> str:
    """Return the digest of a bot created with these arguments.

    If its code is not in a file, log a warning and return a random digest. `files` are relative to the folder of the
    bot's module.

    Raises:
        ArgumentError: One of `files` cannot be read.
    """
    module = inspect.getmodule(type(bot))
    code = None if module is None else _file(module)
    if module is None or code is None:
        _log.warning("the bot's code is in no file, so its version is random: state one whenever it has changed")
        return secrets.token_hex(DIGITS // 2)
    digest = sha256(type(bot).__qualname__.encode())
    for path, content in sorted(_modules(module, code)):
        digest.update(f"\nmodule {path} {content}".encode())
    for name in sorted(files):
        try:
            content = sha256((code.parent / name).read_bytes()).hexdigest()
        except OSError as error:
            raise ArgumentError(f"the bot's files name {name!r}, which cannot be read: {error}") from error
        digest.update(f"\nfile {name} {content}".encode())
    positional, named = arguments
    of_play = {name: value for name, value in named.items() if name not in NO_CODE}
    digest.update(f"\narguments {_argument(positional)} {_argument(of_play)}".encode())
    return digest.hexdigest()[:DIGITS]


def canonical(source: str | bytes) -> str:
    """Convert Python source to a form without comments and formatting that is the same in every version of Python.

    Empty fields of the syntax tree are left out, since newer versions have more of them. Raises: SyntaxError.
    """
    return _tree(_parsed(source))


def _parsed(source: str | bytes) -> ast.AST:
    """Parse one source at a time: before Python 3.11.8, parsing in two threads raises SystemError (gh-106905).

    A traceback created at the same time, by a finalizer or in another thread, has the same effect despite the lock.
    So failures are retried. Raises: SyntaxError, SystemError.
    """
    with _parsing:
        for _ in range(ATTEMPTS - 1):
            with suppress(SystemError):
                return ast.parse(source)
            time.sleep(PAUSE)
        return ast.parse(source)


def _modules(entry: ModuleType, code: Path) -> Iterator[tuple[str, str]]:
    """Yield the path and the digest of the entry module, and of the modules imported from its project folder."""
    name = entry.__spec__.name if entry.__spec__ is not None else entry.__name__
    parents = name.split(".")[:-1]
    if code.name == "__init__.py":
        parents = name.split(".")
    project = code.parents[len(parents)] if parents else code.parent
    package = project / parents[0] if parents else None
    folder = package if package is not None and _is_installed(code) else project
    for module in list(sys.modules.values()):
        path = _file(module)
        if (
            path is not None
            and path.is_relative_to(folder)
            and (_is_installed(code) or path == code or not _is_library(module, path))
        ):
            yield path.relative_to(project).as_posix(), _content(path.suffix, path.read_bytes())


def _is_library(module: ModuleType, path: Path) -> bool:
    """Return true for a module that does not belong to the bot, even if it lies in the project folder."""
    return (
        _is_installed(path)
        or path.parent == _SCRIPTS
        or module.__name__.partition(".")[0] == "arena_client"
        or (_CHECKOUT is not None and any(path.is_relative_to(_CHECKOUT / each) for each in _OF_ARENA))
    )


def _is_installed(path: Path) -> bool:
    """Return true if a file belongs to Python or to an installed library."""
    return any(part in _INSTALLED for part in path.parts) or any(path.is_relative_to(each) for each in _STANDARD)


def _file(module: ModuleType) -> Path | None:
    name = getattr(module, "__file__", None)
    if not isinstance(name, str):
        return None
    path = Path(name).resolve()
    return path if path.is_file() else None


@cache
def _content(suffix: str, content: bytes) -> str:
    """Return the digest of a module's source in `canonical` form, or of its bytes if it is not Python source."""
    if suffix == ".py":
        with suppress(SyntaxError, ValueError, RecursionError):
            content = canonical(content).encode()
    return sha256(content).hexdigest()


def _tree(node: object) -> str:
    if isinstance(node, ast.AST):
        if isinstance(node, ast.JoinedStr):  # only Python 3.12 creates empty parts
            node = ast.JoinedStr([each for each in node.values if getattr(each, "value", None) != ""])
        fields = [(name, getattr(node, name, None)) for name in node._fields if name not in ("kind", "type_comment")]
        told = ", ".join(f"{name}={_tree(value)}" for name, value in fields if not _is_empty(node, value))
        return f"{type(node).__name__}({told})"
    if isinstance(node, list):
        return f"[{', '.join(map(_tree, node))}]"
    return repr(node)


def _is_empty(node: ast.AST, value: object) -> bool:
    return value == [] or (value is None and not isinstance(node, ast.Constant))


def _argument(value: Any) -> str:
    """Describe a value: numbers, strings and containers of them by value, anything else by its class."""
    if type(value) in _PLAIN:
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(sorted(f"{_argument(key)}: {_argument(each)}" for key, each in value.items())) + "}"
    if isinstance(value, Set):
        return "{" + ", ".join(sorted(map(_argument, value))) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_argument, value)) + "]"
    return f"<{type(value).__module__}.{type(value).__qualname__}>"
