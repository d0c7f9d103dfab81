"""Hatch build hook that puts compiled modules into wheels, or leaves a wheel pure if compiling fails.

If `CI` is set, a failed compilation is an error. HATCH_BUILD_NO_HOOKS asks for a pure wheel. If a project's folder is
itself the package, this hook also arranges the source distribution like the repository.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent.parent
BESIDE = ("tools/build_hook.py", "tools/compile.py", "arena/build.py")
"""Files needed to compile a package, relative to the root of the repository."""


class Compiled(BuildHookInterface[Any]):
    """Hook that adds the compiled modules to a wheel, beside their sources, and tags the wheel for this platform."""

    _built: TemporaryDirectory[str] | None = None

    def dependencies(self) -> list[str]:
        """Return the project's dependencies, because mypyc compiles against their types.

        Dependencies from this repository are left out.
        """
        return [each for each in self.metadata.core.dependencies if not each.endswith("+file")]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile in a separate process, except for an editable installation, where the result would shadow the
        sources.

        Raises:
            SystemExit: Compiling failed and `CI` is set.
        """
        if version == "editable":
            return
        package = self.metadata.name.removeprefix("arena-").replace("-", "_")
        flat = Path(self.root).name == package  # the project's folder is the package
        if self.target_name == "sdist":
            if flat:
                self._lay_out(package, build_data["force_include"])
            return
        compiler = shlex.split(sysconfig.get_config_var("CC") or "cl")[0]
        if shutil.which(compiler) is None:
            self.app.display_warning(f"no C compiler {compiler}: a pure wheel, which is slower (Debian: gcc)")
            return
        self._built = TemporaryDirectory()
        built = Path(self._built.name)
        ran = subprocess.run([sys.executable, Path(__file__).with_name("compile.py"), built, package], check=False)
        if ran.returncode:
            if os.environ.get("CI", "false") not in ("", "0", "false"):
                raise SystemExit("compiling failed, as said above; HATCH_BUILD_NO_HOOKS=true makes a pure wheel")
            self.app.display_warning("compiling failed, as said above: a pure wheel, which is slower")
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        for path in [*built.rglob("*.so"), *built.rglob("*.pyd")]:
            place = path.relative_to(built)
            if flat:  # the setting `sources` of a flat package adds this prefix again
                place = place.relative_to(package)
            build_data["force_include"][str(path)] = str(place)

    def _lay_out(self, package: str, included: dict[str, str]) -> None:
        """Include the package as a folder, the files that compile it, and settings for this layout."""
        settings = Path(self.root, "pyproject.toml")
        text = settings.read_text("utf-8")
        for here, there in (
            ('path = "version.py"', f'path = "{package}/version.py"'),
            ('path = "../', 'path = "'),
            ('include = ["*"]', f'include = ["{package}"]'),
            ('exclude = ["*"]', "exclude = []"),
            (f'"" = "{package}"', ""),
            ('dev-mode-dirs = [".."]', 'dev-mode-dirs = ["."]'),
        ):
            if here not in text:
                raise SystemExit(f"{settings} lacks {here}: change the list of places in {__file__}, too")
            text = text.replace(here, there)
        self._built = TemporaryDirectory()
        moved = Path(self._built.name, "pyproject.toml")
        moved.write_text(text, "utf-8")
        del included[str(settings)]
        included |= {str(moved): "pyproject.toml", self.root: package}
        included |= {str(ROOT / name): name for name in BESIDE}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the temporary files, which the distribution now contains."""
        if self._built is not None:
            self._built.cleanup()
