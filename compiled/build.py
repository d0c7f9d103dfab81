"""The engine's own sources, compiled with mypyc into a folder that goes first on the path of who wants it.

    python compiled/build.py FOLDER

Leaves `engine/` there, sources and compiled modules side by side, and what the modules share. The checkout stays as it
is: nobody runs compiled code without having asked for it. Needs mypy, setuptools and a C compiler.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ("__init__.py", "game.py", "view.py")
"""Stay as they are: compiled classes cannot be derived from Python's, nor Python's from them, and views derive from the
contract's `SeatView`, in games that nobody compiles as well. `bool | int` would be an int there, too."""


def build(target: Path) -> None:
    """Replaces the folder; SystemExit where the sources do not compile."""
    from mypyc.build import mypycify
    from setuptools import Distribution

    target = target.resolve()
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)  # mypyc names modules after their paths from here, and writes its C here
        shutil.copytree(ROOT / "engine", "engine", ignore=shutil.ignore_patterns("__pycache__"))
        sources = [str(path) for path in sorted(Path("engine").rglob("*.py")) if path.name not in PYTHON]
        modules = mypycify(["--strict", *sources], opt_level="3", debug_level="0")
        command = Distribution({"name": "engine", "ext_modules": modules}).get_command_obj("build_ext")
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


if __name__ == "__main__":
    build(Path(sys.argv[1]))
