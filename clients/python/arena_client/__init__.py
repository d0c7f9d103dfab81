"""The Python SDK for bots: extend `Bot`, then call `run`. The distribution's README.md is the introduction.

The names below are imported on first use. A server imports only `arena_client.v1`, the protocol's messages, and
`arena_client.descriptors`; neither needs gRPC or asyncio.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from arena_client.version import __version__

if TYPE_CHECKING:
    from arena_client.asking import Decisions, OpenDecision, connect
    from arena_client.bot import Bot
    from arena_client.decision import GAMES, Action, Card, Catalog, Decision, View, conduct_of
    from arena_client.engine import round_text
    from arena_client.errors import (
        ArenaError,
        ArgumentError,
        BadAnswerError,
        InvitationNeededError,
        NameNotAllowedError,
        NameTakenError,
        NoGameInCommonError,
        ParkedError,
        ProtocolMismatchError,
        RefusedError,
        TakenOverError,
        TokenRefusedError,
        UnreachableError,
    )
    from arena_client.kept_decisions import read_decisions
    from arena_client.running import play, run
    from arena_client.v1.nullern_pb2 import NullernRound, NullernView
    from arena_client.v1.play_pb2 import MatchReport, MatchStart, Notice, NoticeKind, RoundReport
    from arena_client.v1.sixth_sense_pb2 import SixthSenseRound, SixthSenseView

__all__ = [
    "GAMES",
    "Action",
    "ArenaError",
    "ArgumentError",
    "BadAnswerError",
    "Bot",
    "Card",
    "Catalog",
    "Decision",
    "Decisions",
    "InvitationNeededError",
    "MatchReport",
    "MatchStart",
    "NameNotAllowedError",
    "NameTakenError",
    "NoGameInCommonError",
    "Notice",
    "NoticeKind",
    "NullernRound",
    "NullernView",
    "OpenDecision",
    "ParkedError",
    "ProtocolMismatchError",
    "RefusedError",
    "RoundReport",
    "SixthSenseRound",
    "SixthSenseView",
    "TakenOverError",
    "TokenRefusedError",
    "UnreachableError",
    "View",
    "__version__",
    "conduct_of",
    "connect",
    "play",
    "read_decisions",
    "round_text",
    "run",
]

if not TYPE_CHECKING:  # Hidden from type checkers, so that they reject unknown names.
    _MODULES = (
        "asking",
        "bot",
        "decision",
        "engine",
        "errors",
        "kept_decisions",
        "running",
        "v1.nullern_pb2",
        "v1.play_pb2",
        "v1.sixth_sense_pb2",
    )
    """Names of the modules that define the public names."""

    def __getattr__(name: str) -> object:
        if name in __all__:
            for module in _MODULES:
                found = vars(import_module(f"arena_client.{module}"))
                if name in found:
                    globals()[name] = found[name]
                    return found[name]
        raise AttributeError(f"module 'arena_client' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
