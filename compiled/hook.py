"""The build hook of wheels: they have compiled modules, or are pure where these cannot be compiled.

Where `CI` is set, a build that fails is an error. HATCH_BUILD_NO_HOOKS asks for a pure wheel.
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


class Compiled(BuildHookInterface[Any]):
    """Adds the compiled modules to a wheel, beside their sources, and tags it for this platform."""

    _built: TemporaryDirectory[str] | None = None

    def dependencies(self) -> list[str]:
        """Return the libraries of the project: mypyc compiles against their types. The engine is in this repository."""
        return [each for each in self.metadata.core.dependencies if not each.startswith("arena-")]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile in a process of its own; an editable installation gets nothing, for it would shadow the sources.

        Raises:
            SystemExit: compiling failed where `CI` is set.
        """
        if version == "editable":
            return
        compiler = shlex.split(sysconfig.get_config_var("CC") or "cl")[0]
        if shutil.which(compiler) is None:
            self.app.display_warning(f"no C compiler {compiler}: a pure wheel, which is slower (Debian: gcc)")
            return
        self._built = TemporaryDirectory()
        built, package = Path(self._built.name), self.metadata.name.removeprefix("arena-")
        ran = subprocess.run([sys.executable, Path(__file__).with_name("build.py"), built, package], check=False)
        if ran.returncode:
            if os.environ.get("CI", "false") not in ("", "0", "false"):
                raise SystemExit("compiling failed, as said above; HATCH_BUILD_NO_HOOKS=true makes a pure wheel")
            self.app.display_warning("compiling failed, as said above: a pure wheel, which is slower")
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        for path in [*built.rglob("*.so"), *built.rglob("*.pyd")]:
            place = path.relative_to(built)
            if Path(self.root).name == package:  # the project's folder is the package: its `sources` put this back
                place = place.relative_to(package)
            build_data["force_include"][str(path)] = str(place)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled: the wheel has it."""
        if self._built is not None:
            self._built.cleanup()
