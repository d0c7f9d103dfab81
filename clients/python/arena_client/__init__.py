"""The Python SDK for bots: extend `Bot`, call `run`. README.md of the distribution is the introduction."""

from arena_client import polling  # noqa: F401 - before anything else imports gRPC
from arena_client.bot import Bot
from arena_client.decision import GAMES, Action, Card, Catalog, Decision, View
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
from arena_client.version import __version__

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
    "play",
    "read_decisions",
    "run",
]
