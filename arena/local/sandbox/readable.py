"""The folders that a command needs: those of its files, of its program, and of this process's Python."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from arena.local.errors import SandboxRefused

SYSTEM: Final = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")))
"""Folders of programs and libraries that are visible in every sandbox."""
SYSTEM_FILES: Final = tuple(
    Path("/etc", name)
    for name in (
        "alternatives",
        "ca-certificates",
        "group",
        "ld.so.cache",
        "ld.so.conf",
        "ld.so.conf.d",
        "localtime",
        "mime.types",
        "nsswitch.conf",
        "passwd",
        "ssl/certs",
        "ssl/openssl.cnf",
    )
)
"""Files in /etc that programs read and that are visible in every sandbox."""
PACKAGES: Final = ("arena_client", "engine")
"""Packages that a bot may import if it uses this process's Python. They may be installed in any folder."""
OF_A_SERVER: Final = ("operator.token", "log.key", "arena.db")
"""Files that identify a server's data directory."""


def readable_folders(words: Sequence[str], own_user: bool) -> tuple[Path, ...]:
    """Return the folders that a command needs, without those that lie in another folder of the list.

    These are the folders of the files in its command line, of its program, and of this program's Python. If the command
    line names no file, for example `python -m mybot`, the command needs this process's folder. With `own_user`, the
    command runs as another user, so everything must be readable by others. Links that lead out of their folders are
    refused. Otherwise a bot's author could use a link to give the bot access to any of your folders. Raises
    SandboxRefused.
    """
    files = [Path(word) for word in words[1:] if Path(word).is_file()]
    given = set(python_folders())
    for place in (*files, *(Path(words[at]) for at in _programs(words) if "/" in words[at])):
        _check_links(place, (*SYSTEM, *given))
    projects = {place for file in files for place in (_plain(file).parent, file.resolve().parent)}
    programs = {folder for at in _programs(words) for folder in _of_program(words[at])}
    for folder in sorted(projects | programs):
        if not _within(folder, (*SYSTEM, *given)):
            _check(folder, own_user)
    if not projects and any(folder.name == "bin" or _within(folder, (*SYSTEM, *given)) for folder in programs):
        with suppress(SandboxRefused):
            _check(Path.cwd(), own_user)
            projects = {Path.cwd()}
    return outermost(projects | programs | given)


def found_programs(words: Sequence[str]) -> list[str]:
    """Return the words with full paths of programs, because a sandbox has a different PATH."""
    full = list(words)
    for at in _programs(words):
        full[at] = str(Path(shutil.which(words[at]) or words[at]).absolute())
    return full


def python_folders() -> Iterator[Path]:
    """Yield the folders of this process's Python, and of the packages that a bot imports there."""
    for name in (sys.prefix, sys.base_prefix):
        yield from (Path(name), Path(name).resolve())
    yield Path(sys.executable).parent.parent
    for package in PACKAGES:
        spec = find_spec(package)
        for place in (spec.submodule_search_locations or ()) if spec is not None else ():
            yield Path(place).resolve()


def outermost(folders: Iterable[Path]) -> tuple[Path, ...]:
    """Return, sorted, the folders that lie neither in another given folder nor in a system folder."""
    kept: list[Path] = []
    for folder in sorted(folders):
        if not _within(folder, (*SYSTEM, *kept)):
            kept.append(folder)
    return tuple(kept)


def servers_within(folder: Path) -> tuple[Path, ...]:
    """Return the direct subfolders that contain a server's secrets or an author's tokens."""
    with os.scandir(folder) as entries:
        inner = [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    return tuple(sorted(each for each in inner if each.name == ".arena" or _is_a_servers(each)))


def _programs(words: Sequence[str]) -> list[int]:
    """Return the indices of the programs: the first word, and the one after `--`, as in `arena-bot pipe -- PROGRAM`."""
    inner = words.index("--") + 1 if "--" in words else len(words)
    return [0, *([inner] if inner < len(words) and shutil.which(words[inner]) else [])]


def _of_program(word: str) -> Iterator[Path]:
    """Yield the folders of a program, of its link targets step by step, and of its virtual environment."""
    found = shutil.which(word)
    place = _plain(Path(found or word))
    for _ in range(40):
        yield _installed_in(place)
        if not place.is_symlink():
            break
        place = _plain(place.parent / place.readlink())
    yield _installed_in(place.resolve())


def _installed_in(program: Path) -> Path:
    """Return a program's folder, or the folder above its `bin` if a private installation has its libraries there."""
    folder, above = program.parent, program.parent.parent
    if (above / "pyvenv.cfg").is_file():
        return above
    deep = not _homes_within(above) and above.parent not in _homes()
    return above if folder.name == "bin" and deep and len(above.parts) > 2 else folder


def _plain(place: Path) -> Path:
    """Return the absolute path without resolving links, because the folder has the same name in the sandbox."""
    return Path(os.path.normpath(place.absolute()))


def _within(folder: Path, others: Iterable[Path]) -> bool:
    return any(folder.is_relative_to(other) for other in others)


def _check(project: Path, own_user: bool) -> None:
    """Raise SandboxRefused if a bot's folder must not or cannot be visible to the bot."""
    whole = project.resolve()
    if _homes_within(whole) or Path(tempfile.gettempdir()).resolve().is_relative_to(whole):
        why = "has more in it than the bot, which would see all of it: put the bot into a folder of its own"
        raise SandboxRefused(f"{project} {why}")
    if _is_a_servers(project):
        raise SandboxRefused(f"{project} is a server's data directory: put the bot into a folder of its own")
    need = stat.S_IROTH | stat.S_IXOTH
    if own_user and project.stat().st_mode & need != need:
        raise SandboxRefused(f"{project} is not for others, and in a box the bot has a user of its own: chmod o+rx it")


def _check_links(place: Path, visible: Iterable[Path]) -> None:
    """Raise SandboxRefused if a link on the way to a file leads out of its folder.

    A link may lead to folders that are visible in every sandbox, and from a virtual environment to its Python.
    """
    at = Path("/") if place.is_absolute() else Path.cwd()
    for part in place.parts[place.is_absolute() :]:
        folder, at = at, at / part  # do not resolve: after a link, .. is the folder above the link's target
        target = at.resolve()
        if not at.is_symlink() or _within(target, (folder.resolve(), *visible)):
            continue
        if (folder.parent / "pyvenv.cfg").is_file() and part.startswith("python") and target.name.startswith("python"):
            continue
        raise SandboxRefused(
            f"{at} is a link to {target}, outside of its folder, which the bot would see: name {target} instead of the "
            "link if it may"
        )


def _is_a_servers(folder: Path) -> bool:
    return any(os.path.lexists(folder / name) for name in OF_A_SERVER)


def _homes() -> set[Path]:
    return {Path.home().resolve(), Path("/root")}


def _homes_within(folder: Path) -> bool:
    """Return True if a folder is the root, a home folder, or above one."""
    return any(home.is_relative_to(folder) for home in (*_homes(), Path("/home")))
