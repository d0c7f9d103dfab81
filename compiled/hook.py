"""The build hook behind wheels with compiled modules; off unless the environment asks for it (pyproject.toml)."""

from __future__ import annotations

import subprocess
import sys
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
        built, package = Path(mkdtemp()), self.metadata.name.removeprefix("arena-")
        subprocess.run([sys.executable, Path(__file__).with_name("build.py"), built, package], check=True)
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        for path in [*built.rglob("*.so"), *built.rglob("*.pyd")]:
            place = path.relative_to(built)
            if Path(self.root).name == package:  # the project's folder is the package: its `sources` put this back
                place = place.relative_to(package)
            build_data["force_include"][str(path)] = str(place)
