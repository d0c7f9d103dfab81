"""Wheels packed from files: those of the installed Python client and engine, and of any other package.

A project with these files needs a registry only for their dependencies. A registry may one day contain other packages
under these two names, but a file in the project does not change. The same sources always give the same bytes.
"""

from __future__ import annotations

import zipfile
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Final

WHEEL: Final = "Wheel-Version: 1.0\nGenerator: arena\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
NO_SOURCES: Final = (*EXTENSION_SUFFIXES, "pyproject.toml")
"""Suffixes of files that a wheel of the sources omits: compiled modules, and the build settings of a checkout."""


def client_wheel() -> tuple[str, bytes]:
    """Return the file name and content of the client's wheel. Raises: ModuleNotFoundError: It is not installed."""
    return _installed("arena-client", "arena_client")


def engine_wheel() -> tuple[str, bytes]:
    """Return the name and content of the engine's wheel of sources. Raises: ModuleNotFoundError: It is missing."""
    return _installed("arena-engine", "engine")


def _installed(name: str, package: str) -> tuple[str, bytes]:
    spec = find_spec(package)
    try:
        installed = distribution(name)
    except PackageNotFoundError as error:
        raise ModuleNotFoundError(str(error), name=package) from error
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"there is no package {package}", name=package)
    described = {part: installed.read_text(part) or "" for part in ("METADATA", "entry_points.txt")}
    return packed_wheel(name, installed.version, files_of(package, Path(spec.origin).parent), described)


def files_of(package: str, folder: Path) -> dict[str, bytes]:
    """Return the files of a package by their paths in a wheel of its sources."""
    return {
        f"{package}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts and not path.name.endswith(NO_SOURCES)
    }


def packed_wheel(
    name: str, version: str, files: Mapping[str, bytes], described: Mapping[str, str]
) -> tuple[str, bytes]:
    """Return the file name and content of a wheel. `described` are the texts of METADATA and of the files beside it."""
    stem = f"{name.replace('-', '_')}-{version}"
    about = {**described, "WHEEL": WHEEL}
    files = {**files, **{f"{stem}.dist-info/{part}": text.encode() for part, text in sorted(about.items()) if text}}
    record = f"{stem}.dist-info/RECORD"
    lines = [f"{path},sha256={_digest(content)},{len(content)}\n" for path, content in files.items()]
    files[record] = "".join([*lines, f"{record},,\n"]).encode()
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path)  # dated 1980, so that the bytes depend only on the content
            entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return f"{stem}-py3-none-any.whl", packed.getvalue()


def _digest(content: bytes) -> str:
    return urlsafe_b64encode(sha256(content).digest()).rstrip(b"=").decode()
