"""Compile with mypyc the modules that every decision passes through, into a folder that goes first on the path.

    python tools/compile.py FOLDER [PACKAGE…]

The folder gets `engine/`, `trio_grpc/` and `arena/` with sources and compiled modules side by side, and the code that
the modules of each package share. With PACKAGE only those packages are compiled. Each is compiled separately, so that
it also runs with the sources of the others. A digest of the sources is stored too: programs use `build/compiled` only
while the checkout's sources are the same (`arena.build`). This requires mypy, setuptools and a C compiler.
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
"""Packages in which all modules are compiled: those that compute decisions."""
MARK = "# Compiled: "
"""Comment that marks any other module to compile, followed by the reason."""
PROGRAM = 'if __name__ == "__main__":'
"""Line in modules that Python runs by name. Compiled modules cannot be run this way."""
PACKAGES = ("engine", "trio_grpc", "arena")
"""Packages, each a distribution; later ones import earlier ones."""
SETTINGS = f"""
[mypy]
mypy_path = {ROOT / "clients" / "python"}
[mypy-arena_client.*]
follow_imports = silent
"""
"""Settings of mypy, with the message types that `arena` imports from the Python client; errors there are ignored."""
APART = "engine/adapters"
"""Package that is not compiled, because it imports libraries that the engine does not depend on."""
PYTHON = ("__init__.py", "game.py", "view.py")
"""Modules that are not compiled, because compiling changes their types: `bool | int` would become int, and a view's
hint `int | None` a plain type.
"""

OPTIMIZATION = "1"
"""Optimisation level of the C compiler: the result is as fast as with level 3, and compiles in half the time."""


def compiled(root: Path) -> list[Path]:
    """Return the sources to compile, relative to the checkout: modules in `ROOMS` and modules marked with `MARK`."""
    thinks = {path for room in ROOMS for path in (root / room).rglob("*.py") if path.name not in PYTHON}
    thinks -= {*(root / APART).rglob("*.py")}
    marked = {path for package in ("arena", "trio_grpc") for path in (root / package).rglob("*.py")}
    texts = {path: path.read_text("utf-8") for path in thinks | marked}
    found = {path for path in thinks if PROGRAM not in texts[path]}
    found |= {path for path, text in texts.items() if text.startswith(MARK)}
    return sorted(path.relative_to(root) for path in found)


def build(target: Path, chosen: Sequence[str] = PACKAGES) -> None:
    """Compile the chosen packages into the folder, replacing its content.

    Raises:
        SystemExit: The sources of the chosen packages do not compile.
    """
    from mypyc.build import mypycify
    from setuptools import Distribution
    from setuptools.command.build_ext import build_ext

    class BuildOnAllCores(build_ext):
        """Build command that compiles a module's files on all available cores; setuptools uses one."""

        def build_extension(self, extension: Any) -> None:
            # mypyc puts the shared code of a group here, but does not find it if the group's name has a dot.
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
        # mypyc names modules by their paths relative to the current folder, and writes its C files there
        os.chdir(work)
        Path(".mypy.ini").write_text(SETTINGS)
        for package in PACKAGES:  # a source distribution contains only one package
            Path(package).mkdir()
            if (ROOT / package).is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / package, package, ignore=ignored, dirs_exist_ok=True)
        made_of = about["fingerprint"](Path(work))
        modules = []
        for package in chosen:
            files = [str(path) for path in compiled(Path()) if path.parts[0] == package]
            # House bots read their sources by `__file__`, which depends on where the shared module lies. So it lies
            # beside the package, except in wheels whose project folder is itself the package.
            shared = f"{package}_compiled" if package == "arena" else f"{package}.compiled"
            work_in = f"build/{package}"
            modules += mypycify(
                ["--strict", *files],
                target_dir=work_in,
                group_name=shared,
                opt_level=OPTIMIZATION,
                debug_level="0",
                multi_file=True,  # compiling one file per module takes half the time
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
