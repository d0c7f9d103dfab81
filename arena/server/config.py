"""The settings of a server, each with its unit, default, bounds and meaning.

Nothing else repeats these: the flags of `arena serve`, the keys of its file, their checks and their documentation are
made of the fields below and of those of `Limits`, `Policy` and `TransportSettings`. Metadata of a field: `help`; `unit`
("s", "us", "B", "B/s", "1/s", "%", or none for a plain number); `least` and `most`, 0 and a billion where not given;
`choices` of a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from arena.house import LUCK
from arena.ladder.quota import Quota
from arena.match.policy import Policy
from arena.scheduling.pool import PATIENCE
from arena.server.sessions.limits import Limits
from arena.transport.settings import TransportSettings
from engine.game import Game, Option
from engine.registry import GAMES

LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
"""Addresses at which only this machine's programs come in."""
OPEN_QUOTA: Final = Quota(40, 80, 7)
"""The quota of pairs where anybody may register bots under any names; bots are as young under any other."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One game as a server plays it."""

    game: Game
    seats: tuple[int, ...]
    """Table sizes, all of which the game allows; one is drawn for every match."""
    options: Mapping[str, Option] = field(default_factory=dict)
    """Options that differ from their defaults; the game takes them at every one of these sizes."""


@dataclass(frozen=True, slots=True)
class Config:
    """Durations in seconds; the match policy keeps its own in microseconds."""

    offers: tuple[Offer, ...]
    address: str = field(
        default="127.0.0.1:50051", metadata={"help": "Where to listen, as HOST:PORT; port 0 is any free one."}
    )
    data: Path = field(
        default=Path("arena-data"), metadata={"help": "Directory of the database and journal; made if missing."}
    )
    registration: Literal["open", "invited"] = field(
        default="open",
        metadata={"help": "Who may register a bot: anybody, or holders of an invitation (`arena bots invite`)."},
    )
    tls_cert: Path | None = field(default=None, metadata={"help": "Certificate chain (PEM); with tls_key."})
    tls_key: Path | None = field(default=None, metadata={"help": "Private key (PEM); with tls_cert."})
    metrics: str | None = field(
        default=None,
        metadata={
            "help": "Where to serve figures for Prometheus (/metrics), and whether all is well (/healthz): HOST:PORT, "
            "to whoever reaches it."
        },
    )
    processes: int = field(
        default=1,
        metadata={
            "least": 1,
            "most": 64,
            "help": "Processes that serve connections and play matches, so many cores at most; see docs/processes.md.",
        },
    )
    house: bool = field(default=True, metadata={"help": "Let house bots fill tables."})
    house_workers: int = field(
        default=1,
        metadata={"most": 1024, "help": "Processes that choose for house bots; 0 for the server's own thread."},
    )
    house_search: float = field(
        default=0.25,
        metadata={
            "most": 1,
            "help": "Part of a core that house bots which search may take, on average, in a process of their own: they "
            "sit at as many rated tables as that allows. 0 seats them nowhere, and so do 0 house workers.",
        },
    )
    luck: frozenset[str] = field(
        default=LUCK,
        metadata={
            "choices": tuple(GAMES),
            "help": "Games whose deals idle house workers play again for the luck column of their ladders.",
        },
    )
    patience: float = field(
        default=PATIENCE,
        metadata={"unit": "s", "help": "How long a bot waits for other bots before house bots fill its table."},
    )
    slow_pace: float = field(
        default=0.05,
        metadata={
            "unit": "s",
            "help": "Mean time owed for a decision above which a bot may count as slow: much slower than another where "
            "it is twice as long as that one's, too.",
        },
    )
    slow_percent: int = field(
        default=15,
        metadata={
            "unit": "%",
            "most": 100,
            "help": "The part of its time at tables in which a bot may have to wait for much slower ones.",
        },
    )
    ready_limit: float = field(
        default=30.0,
        metadata={
            "unit": "s",
            "least": 0.1,
            "help": "Time to answer an invitation; a bot that says nothing for so long pauses before the next.",
        },
    )
    offer_limit: float = field(
        default=2.0,
        metadata={
            "unit": "s",
            "least": 0.1,
            "help": "Silence after which a seat is offered to another bot or the house, too; the first Ready takes it.",
        },
    )
    seat_limit: float = field(
        default=3.0,
        metadata={
            "unit": "s",
            "least": 0.1,
            "help": "The longest a match waits for a seat; then a house bot takes it, or the match is called off.",
        },
    )
    matches_per_bot: int = field(
        default=256, metadata={"least": 1, "help": "Most matches one bot plays at once, whatever it announces."}
    )
    heartbeat: float = field(
        default=10.0,
        metadata={"unit": "s", "least": 0.1, "help": "Time between two heartbeats of a stream."},
    )
    park_after: int = field(
        default=3,
        metadata={
            "least": 1,
            "help": "Matches in a row in which a bot was suspended or a house bot played on, after which it is given "
            "no seats.",
        },
    )
    fit_matches: int = field(
        default=100,
        metadata={
            "least": 1,
            "help": "New results of all games after which the ladders are fitted; a young ladder is fitted sooner.",
        },
    )
    fit_seconds: float = field(
        default=60.0,
        metadata={"unit": "s", "least": 1, "help": "Time after which the ladders are fitted with fewer results."},
    )
    fit_rest: float = field(
        default=9.0,
        metadata={
            "help": "For so many times as long as a fit took new results wait, however many they are: fits must not "
            "take a core.",
        },
    )
    pair_quota: int | None = field(
        default=None,
        metadata={
            "help": "Matches of a UTC day that two guests count together at most, however often they meet, so that "
            "friends who lose on purpose gain little; 0 for all. By default 40 with open registration, and 0 with "
            "invitations or on a loopback address."
        },
    )
    pair_week_quota: int | None = field(
        default=None,
        metadata={
            "help": "Matches of a UTC week, from Monday, that they count together at most; 0 for all. By default twice "
            "pair_quota."
        },
    )
    keep_replays: int | None = field(
        default=None,
        metadata={
            "help": "The newest replays to keep; older ones are pruned, their results and digests stay. All by default."
        },
    )
    drain: float = field(
        default=10.0, metadata={"unit": "s", "help": "How long a stopping server lets running matches go on."}
    )
    web: str | None = field(
        default=None,
        metadata={
            "help": "Where browsers connect, as HOST:PORT: a process beside the server shows the pages of `arena web` "
            "there, with the matches that are being played."
        },
    )
    web_origin: str | None = field(
        default=None,
        metadata={
            "help": "Other sites whose pages may let bots play over the WebSocket of --web and ask for analyses, as "
            "https://HOST or http://HOST:PORT, with commas between; --web itself is reached under these names, too."
        },
    )
    log_json: bool = field(
        default=False, metadata={"help": "Log as JSON lines, as it is done when standard error is no terminal."}
    )
    quiet: bool = field(default=False, metadata={"help": "Log warnings and errors only."})
    debug: bool = field(default=False, metadata={"help": "Log everything; there are no secrets in it."})
    limits: Limits = field(
        default_factory=Limits, metadata={"help": "What one bot, or all bots of one owner, may ask of the server."}
    )
    policy: Policy = field(
        default_factory=Policy, metadata={"help": "What lateness and mistakes cost in a match; bots are told."}
    )
    transport: TransportSettings = field(
        default_factory=TransportSettings, metadata={"help": "What connections may cost the server."}
    )

    @property
    def games(self) -> tuple[Game, ...]:
        """The games played."""
        return tuple(offer.game for offer in self.offers)


def quota_in_force(config: Config) -> Quota:
    """Return how many matches two guests count together at most on this server."""
    day = config.pair_quota
    if day is None:
        day = OPEN_QUOTA.day if config.registration == "open" and not on_loopback(config) else 0
    week = config.pair_week_quota
    if week is None:
        week = OPEN_QUOTA.week * day // OPEN_QUOTA.day
    return Quota(day, week, OPEN_QUOTA.young_days if day or week else 0)


def on_loopback(config: Config) -> bool:
    """Return whether only programs of this machine can come in."""
    return config.address.rpartition(":")[0] in LOOPBACK
