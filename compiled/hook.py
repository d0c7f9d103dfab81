"""The build hook of wheels: they have compiled modules, unless there is no C compiler or HATCH_BUILD_NO_HOOKS asks."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Compiled(BuildHookInterface[Any]):
    """Adds the compiled modules to a wheel, beside their sources, and tags it for this platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compiles in a process of its own; an editable installation gets nothing, for it would shadow the sources."""
        if version == "editable":
            return
        compiler = shlex.split(sysconfig.get_config_var("CC") or "cl")[0]
        if shutil.which(compiler) is None:
            self.app.display_warning(f"no C compiler {compiler}: a pure wheel, which is slower (Debian: gcc)")
            return
        built, package = Path(mkdtemp()), self.metadata.name.removeprefix("arena-")
        subprocess.run([sys.executable, Path(__file__).with_name("build.py"), built, package], check=True)
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        for path in [*built.rglob("*.so"), *built.rglob("*.pyd")]:
            place = path.relative_to(built)
            if Path(self.root).name == package:  # the project's folder is the package: its `sources` put this back
                place = place.relative_to(package)
            build_data["force_include"][str(path)] = str(place)
