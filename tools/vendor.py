"""Fetch the checked-in files of other projects, each with a fixed version, and check that they are unchanged.

python tools/vendor.py fetch each package with npm and write its files python tools/vendor.py --check only check that
each file is unchanged, without fetching
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from base64 import b64encode
from hashlib import sha256, sha512
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[1]


class Vendored(NamedTuple):
    """A package with some files that are checked in."""

    name: str
    version: str
    integrity: str
    """SHA-512 of the package, in npm's notation."""
    folder: str
    """Folder for its files, relative to the root of the repository."""
    files: dict[str, str]
    """SHA-256 of each file, by its path in the package."""


VENDORED: Final = (
    Vendored(
        "axe-core",
        "4.14.1",
        "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
        "tests/web/vendor/axe-core",
        {
            "axe.min.js": "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c",
            "LICENSE": "af175b9d96ee93c21a036152e1b905b0b95304d4ae8c2c921c7609100ba8df7e",
            "LICENSE-3RD-PARTY.txt": "4f8563870d0fca38bbc3e00b6f670cb7fa9f380ba9f26a7f7d1184a6b18b1653",
        },
    ),
)


def changed() -> list[str]:
    """Return the files that are missing or have changed since they were fetched."""
    return [
        f"{each.folder}/{name}"
        for each in VENDORED
        for name, digest in each.files.items()
        if not (path := ROOT / each.folder / name).is_file() or sha256(path.read_bytes()).hexdigest() != digest
    ]


def downloaded(package: Vendored) -> Path:
    """Return the archive of a package from npm; download it at most once.

    Raises:
        SystemExit: There is no npm, or the package does not have the expected digest.
    """
    folder = ROOT / "build" / "npm"
    archive = folder / f"{package.name}-{package.version}.tgz"
    if not archive.is_file():
        if shutil.which("npm") is None:
            raise SystemExit(f"npm is needed to fetch {package.name} {package.version}, and there is none here")
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "pack", "--silent", f"{package.name}@{package.version}"], check=True, cwd=folder)  # noqa: S607
    found = b64encode(sha512(archive.read_bytes()).digest()).decode()
    if found != package.integrity:
        raise SystemExit(f"{archive} has SHA-512 {found}, not {package.integrity}: delete it and try again")
    return archive


def fetch(package: Vendored) -> None:
    """Write the files of one package. Raises: SystemExit: The package cannot be fetched, or lacks a file."""
    (ROOT / package.folder).mkdir(parents=True, exist_ok=True)
    with tarfile.open(downloaded(package)) as files:
        for name in package.files:
            content = files.extractfile(f"package/{name}")
            if content is None:
                raise SystemExit(f"{package.name} {package.version} has no file {name}")
            (ROOT / package.folder / name).write_bytes(content.read())


def main() -> None:
    """Fetch all packages, or only check the files."""
    if "--check" not in sys.argv[1:]:
        for package in VENDORED:
            fetch(package)
    if found := changed():
        raise SystemExit(f"not as fetched: {', '.join(found)}; python tools/vendor.py fetches it anew")


if __name__ == "__main__":
    main()
