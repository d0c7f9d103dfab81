"""`arena serve` with short limits: a second stands for half a minute.

strict_server.py hasty|brief|patient OPTION…

A hasty server limits thinking time. On a busy machine it could also blame a correct bot, so the other servers allow a
minute. A brief server gives an absent bot little time to return. A patient server gives as much time as a test may
take.
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
"""A low limit on unrequested messages, so that a flood is detected before many messages queue up for its sender."""

command([*TIMES[sys.argv.pop(1)], *LIMITS, *sys.argv[1:]])
