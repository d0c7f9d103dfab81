"""`arena serve` with short limits: what takes half a minute takes a second here."""

from typing import Any

from arena.cli import serve
from arena.match.policy import Policy
from arena.server import session
from arena.server.config import Config
from arena.server.limits import Limits

POLICY = Policy(soft_limit=400_000, bank=1_000_000, grace=600_000)


def strict(**settings: Any) -> Config:
    return Config(
        **settings | {"policy": POLICY, "ready_limit": 5.0, "heartbeat": 0.5, "limits": Limits(comings=100.0)}
    )


vars(serve)["Config"] = strict
vars(session)["SEND_LIMIT"] = 1.0
serve.command()
