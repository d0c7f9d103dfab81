"""The sources of what every decision goes through, compiled with mypyc into a folder for who puts it first on the path.

    python tools/compile.py FOLDER [PACKAGE…]

Leaves `engine/`, `trio_grpc/` and `arena/` there, sources and compiled modules side by side, and what the modules of
each share; of packages that are named, these only are compiled. Each is compiled by itself, so that any distribution
runs beside the others' sources. What it was made of is said there, too: `build/compiled` runs wherever the checkout's
sources are just these (`arena.build`). Needs mypy, setuptools and a C compiler.
"""

from __future__ import annotations

import os
import runpy
import shutil
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("engine", "arena/match", "arena/house")
"""Packages whose modules all are compiled: those that compute decisions."""
MARK = "# Compiled: "
"""Start of any other module that is compiled; the reason follows."""
PROGRAM = 'if __name__ == "__main__":'
"""Line in modules that Python runs by name, which it cannot do once they are compiled."""
PACKAGES = ("engine", "trio_grpc", "arena")
"""A distribution each; what comes later imports what comes before."""
SETTINGS = f"""
[mypy]
mypy_path = {ROOT / "clients" / "python"}
[mypy-arena_client.*]
follow_imports = silent
"""
"""The types of the messages that `arena` imports from the Python client; mypy says nothing of errors there."""
APART = "engine/adapters"
"""A room whose modules stay Python: its libraries are no dependencies of the engine."""
PYTHON = ("__init__.py", "game.py", "view.py")
"""Stay as they are: `bool | int` would be an int when compiled, and a view's `int | None` no hint but a mere type."""

OPTIMIZATION = "1"
"""The C compiler's level. As fast as 3 with all modules in one file, within the noise, and half the time to compile."""


def compiled(root: Path) -> list[Path]:
    """The sources that are compiled, from the root of the checkout: rooms that think, and what says so."""
    thinks = {path for room in ROOMS for path in (root / room).rglob("*.py") if path.name not in PYTHON}
    thinks -= {*(root / APART).rglob("*.py")}
    marked = {path for package in ("arena", "trio_grpc") for path in (root / package).rglob("*.py")}
    texts = {path: path.read_text("utf-8") for path in thinks | marked}
    found = {path for path in thinks if PROGRAM not in texts[path]}
    found |= {path for path, text in texts.items() if text.startswith(MARK)}
    return sorted(path.relative_to(root) for path in found)


def build(target: Path, chosen: Sequence[str] = PACKAGES) -> None:
    """Replaces the folder; SystemExit where the sources of the chosen packages do not compile."""
    from mypyc.build import mypycify
    from setuptools import Distribution
    from setuptools.command.build_ext import build_ext

    class BuildOnAllCores(build_ext):
        """Compiles the files of a module on all cores that this process may use; setuptools takes one."""

        def build_extension(self, extension: Any) -> None:
            # Where mypyc puts what the files of a group share, but does not look for it if the group's name has a dot.
            shared = [f"{folder}/{Path(folder).name}" for folder in extension.include_dirs]

            def objects(source: str) -> list[str]:
                found: list[str] = self.compiler.compile(
                    [source],
                    output_dir=self.build_temp,
                    include_dirs=[*extension.include_dirs, *shared],
                    extra_postargs=extension.extra_compile_args,
                )
                return found

            cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
            with ThreadPoolExecutor(cores) as compilers:
                extension.extra_objects = [made for each in compilers.map(objects, extension.sources) for made in each]
            extension.sources = []
            super().build_extension(extension)

    target, about = target.resolve(), runpy.run_path(str(ROOT / "arena" / "build.py"))
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)  # mypyc names modules after their paths from here, and writes its C here
        Path(".mypy.ini").write_text(SETTINGS)
        for package in PACKAGES:  # a source distribution has one of them
            Path(package).mkdir()
            if (ROOT / package).is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / package, package, ignore=ignored, dirs_exist_ok=True)
        made_of = about["fingerprint"](Path(work))
        modules = []
        for package in chosen:
            files = [str(path) for path in compiled(Path()) if path.parts[0] == package]
            # What modules share lies where their `__file__` begins, by which house bots read their sources; but a wheel
            # of a folder that is its own project has nothing beside the package.
            shared = f"{package}_compiled" if package == "arena" else f"{package}.compiled"
            work_in = f"build/{package}"
            modules += mypycify(
                ["--strict", *files],
                target_dir=work_in,
                group_name=shared,
                opt_level=OPTIMIZATION,
                debug_level="0",
                multi_file=True,  # a file a module: half the compiler's time of all in one
            )
        about_modules = {"name": "arena", "ext_modules": modules, "cmdclass": {"build_ext": BuildOnAllCores}}
        command = Distribution(about_modules).get_command_obj("build_ext")
        command.set_undefined_options("build")
        command.inplace = True
        command.ensure_finalized()
        command.run()
        shutil.rmtree("build")
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for built in Path().iterdir():
            if not built.name.startswith("."):
                shutil.move(built, target)
        (target / about["FINGERPRINT"]).write_text(made_of)


if __name__ == "__main__":
    build(Path(sys.argv[1]), sys.argv[2:] or PACKAGES)
