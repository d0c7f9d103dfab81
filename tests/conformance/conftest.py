"""Rewrite the asserts in the promises so that failures explain themselves. The promises are plain functions outside the
test modules.
"""

import pytest

collect_ignore = ["betting"]  # tree.py copies these game files into a copy of the repository

pytest.register_assert_rewrite("tests.conformance.promises", "tests.conformance.secrecy")
