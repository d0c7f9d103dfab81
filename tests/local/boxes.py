"""Tests that need bubblewrap. They are skipped if it is not installed, except in CI, where they fail."""

import os
import shutil
import sys

import pytest

needs_boxes = pytest.mark.skipif(
    sys.platform != "linux" or (shutil.which("bwrap") is None and os.environ.get("CI") != "true"),
    reason="bubblewrap is not installed: tools/debian-packages.sh, where there is Debian",
)
