"""Rewrites the asserts of the promises, which are plain functions outside the test modules, so that they explain
failures.
"""

import pytest

collect_ignore = ["betting"]  # the pieces of a game for a copy of the repository: see tree.py

pytest.register_assert_rewrite("tests.conformance.promises", "tests.conformance.secrecy")
