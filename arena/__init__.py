"""The arena. The rules of its games are in a separate distribution, `engine`."""

from typing import Final

from arena.build import select

STALE_BUILD: Final = select(__path__)
"""Reason why a compiled build does not run. Empty if it runs or there is none."""
