"""`arena serve` with short limits, to be named first: what takes half a minute takes a second here.

    strict_server.py hasty|brief|patient OPTION…

A hasty server hurries whoever thinks, and a bot that plays well must not be near a limit even on a machine that has
other things to do: so the others give a minute to think. A brief one gives a bot that is gone little time to come
back, a patient one gives it as much as the test may take.
"""

import sys
from typing import Final

from arena.cli.operate.serve import command

TIMES: Final = {
    "hasty": ("--soft-limit", "1", "--bank", "4", "--grace", "1"),
    "brief": ("--soft-limit", "60", "--bank", "60", "--grace", "0.5"),
    "patient": ("--soft-limit", "60", "--bank", "60", "--grace", "120"),
}
LIMITS: Final = ("--connect-rate", "100", "--unsolicited-rate", "20", "--ready-limit", "60", "--heartbeat", "0.5")
"""Fewer things than ever wait for a bot that does not read: a flood is found to be one before that."""

command([*TIMES[sys.argv.pop(1)], *LIMITS, *sys.argv[1:]])
