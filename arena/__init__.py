"""The arena; the rules are a distribution of their own, `engine`."""

from typing import Final

from arena.build import select

STALE_BUILD: Final = select(__path__)
"""Why a compiled build that is there does not run; empty where it does, and where there is none."""
