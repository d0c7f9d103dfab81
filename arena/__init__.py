"""The arena; the rules are a distribution of their own, `engine`."""

from typing import Final

from arena.build import select

STALE_BUILD: Final = select(__path__)
"""Why a compiled build does not run; empty if it runs or there is none."""
