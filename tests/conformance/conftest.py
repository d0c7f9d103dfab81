"""The promises are written as plain functions outside the test modules: their asserts explain themselves as well."""

import pytest

collect_ignore = ["betting"]  # the pieces of a game for a copy of the repository: see tree.py

pytest.register_assert_rewrite(
    "tests.conformance.promises", "tests.conformance.secrecy", "tests.conformance.recorded_match"
)
