"""`arena serve` with short limits, so that tests need not wait for a bot's bank of half a minute to run out."""

from typing import Any

from arena.cli import serve
from arena.match.policy import Policy
from arena.server.config import Config

POLICY = Policy(soft_limit=300_000, bank=400_000, grace=1_000_000, restart_hold=3_000_000)


def impatient(**settings: Any) -> Config:
    return Config(**settings | {"policy": POLICY, "ready_limit": 5.0})


vars(serve)["Config"] = impatient
serve.command()
