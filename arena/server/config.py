"""The settings of a server, each with its unit, default, bounds and meaning.

The fields below, and those of `Limits`, `Policy` and `TransportSettings`, are the only source of several texts. They
generate the options of `arena serve`, the keys of its settings file, their checks and their documentation. The metadata
of a field can contain `help`; `unit` ("s", "us", "B", "B/s", "1/s", "%", or none for a plain number); `least` and
`most`, by default 0 and a billion; and `choices` for a name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from arena.house import LUCK
from arena.ladder.ladder import Quota
from arena.match.policy import Policy, ReadyLimits
from arena.scheduling.clock import LadderClock
from arena.scheduling.pace import PaceRules
from arena.server.sessions.limits import Limits
from engine.game import Game, Option
from engine.registry import GAMES
from trio_grpc.limits.settings import TransportSettings, setting

LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
"""Addresses that only programs on this machine can reach."""
OPEN_QUOTA: Final = Quota(40, 80, 7)
"""The quota of pairs of owners' bots under open registration."""
LADDER_SETTINGS: Final = (
    "house",
    "patience",
    "slow_pace",
    "slow_percent",
    "ready_limit",
    "offer_limit",
    "seat_limit",
    "matches_per_hour",
)
"""The server settings outside `Policy` that a ladder can override."""
LADDER_NAME: Final = re.compile("[a-z0-9][a-z0-9_-]{0,39}")
Entry: TypeAlias = Literal["open", "invited"] | tuple[str, ...]
"""The bots that may play on a ladder: all bots, invited bots, or the bots of the named owners."""


@dataclass(frozen=True, slots=True)
class LadderTable:
    """The operator's settings of a ladder. The server's settings replace missing ones."""

    game: Game = field(metadata={"help": "The game, which the server must play."})
    seats: tuple[int, ...] = field(
        metadata={"help": "Table sizes, of which one is drawn for every match, such as `[3, 4]`."}
    )
    """The game allows each of these table sizes."""
    options: Mapping[str, Option] = field(
        default_factory=dict, metadata={"help": "Options of the game, such as `{ novice = true }`."}
    )
    """Options that differ from their defaults. They are valid at every table size in `seats`."""
    name: str = setting(
        "",
        "The name: up to 40 lower-case letters, digits, `-` and `_`, the first a letter or digit. No game "
        "has this name.",
    )
    """Empty for the default ladder of the game, which has the game's name."""
    entry: Entry = setting(
        "open",
        'The bots that may play on it: `"open"` for all, `"invited"` for those with an invitation to it, '
        'or a list of owners, such as `["ann", "bob"]`, which protects only with registration = "invited". By '
        "default open.",
    )
    policy: Mapping[str, int] = field(
        default_factory=dict,
        metadata={"help": "Settings of [policy] that differ, such as `{ soft_limit = 120, bank = 1800 }`."},
    )
    """Fields of `Policy` that differ from the server's, in microseconds."""
    house: bool | None = None
    patience: float | None = None
    slow_pace: float | None = None
    slow_percent: int | None = None
    ready_limit: float | None = None
    offer_limit: float | None = None
    seat_limit: float | None = None
    matches_per_hour: int | None = None


@dataclass(frozen=True, slots=True)
class LadderSettings:
    """The complete settings of a ladder, read only. Durations are in seconds."""

    name: str
    """The name of the game if this is the game's default ladder."""
    game: Game
    seats: tuple[int, ...]
    options: Mapping[str, Option]
    policy: Policy
    clock: LadderClock
    patience: float
    """Time that a bot waits for other bots before house bots fill its table."""
    patience_grows: bool
    """True if patience grows with the lengths of recent matches. This needs a slow clock and no fixed patience."""
    answer_limits: ReadyLimits
    house: bool
    """True if house bots fill tables."""
    entry: Entry
    pace_rules: PaceRules
    matches_per_hour: int
    """Maximum number of rated matches that one bot starts in an hour; 0 for no limit."""

    @property
    def further_name(self) -> str:
        """The name under which paces and parked bots are stored. Empty for default ladders, which share both."""
        return "" if self.name == self.game.name else self.name


@dataclass(frozen=True, slots=True)
class Config:
    """All settings. Durations are in seconds, but microseconds in the match policy."""

    ladder_tables: tuple[LadderTable, ...]
    address: str = setting(
        "127.0.0.1:50051",
        "Address to listen at, as HOST:PORT; port 0 means any free port. With several processes, that of "
        "the first: the others take the next ports. Or one for each, separated by commas.",
    )
    data: Path = setting(Path("arena-data"), "Directory of the database and journal; created if missing.")
    store: str | None = setting(
        None,
        "Address of a PostgreSQL database instead of one in --data, as postgresql://USER@HOST/DATABASE; "
        "see docs/postgresql.md.",
    )
    registration: Literal["open", "invited"] = setting(
        "open", "Who may register a bot: anybody, or holders of an invitation (`arena bots invite`)."
    )
    tls_cert: Path | None = setting(None, "Certificate chain (PEM); with tls_key.")
    tls_key: Path | None = setting(None, "Private key (PEM); with tls_cert.")
    metrics: str | None = setting(
        None,
        "Address of the figures for Prometheus (/metrics) and the health check (/healthz), as HOST:PORT, "
        "without authentication.",
    )
    processes: int = setting(
        1,
        "Nodes: processes that each serve bots at an address of their own and play their own matches; see "
        "docs/nodes.md.",
        least=1,
        most=64,
    )
    node: int | None = setting(
        None,
        "Number of the first node here, if servers on several machines share a PostgreSQL database; see "
        "docs/postgresql.md.",
        least=1,
        most=99,
    )
    house: bool = setting(True, "Let house bots fill tables.")
    house_workers: int = setting(1, "Processes that choose for house bots; 0 for the server's own thread.", most=1024)
    house_search: float = setting(
        0.25,
        "Part of a core for house bots that search, on average, in a process of their own. It bounds their "
        "rated tables; 0, or no house workers, seats none.",
        most=1,
    )
    luck: frozenset[str] = setting(
        LUCK, "Games whose deals idle house workers replay for the luck column.", choices=tuple(GAMES)
    )
    patience: float | None = setting(
        None,
        "Time that a bot waits for other bots before house bots fill its table. By default 2 s. If "
        "soft_limit is above 1 s, the median length of recent matches, and at least two soft limits.",
        unit="s",
    )
    slow_pace: float | None = setting(
        None,
        "Mean time owed for a decision above which a bot can count as slow, if it is also twice that of the"
        " other bot. By default 0.05 s, and three quarters of the time by which soft_limit exceeds 1 s.",
        unit="s",
    )
    slow_percent: int = setting(
        15,
        "The part of its time at tables that a bot may have to spend waiting for much slower ones.",
        unit="%",
        most=100,
    )
    ready_limit: float | None = setting(
        None,
        "Time to answer an invitation; a bot that does not answer pauses before the next. By default 30 s. "
        "If soft_limit is above 1 s, this and the next two limits are longer by the difference.",
        unit="s",
        least=0.1,
    )
    offer_limit: float | None = setting(
        None,
        "Time without an answer after which a seat is offered to another bot or the house, too; the first "
        "Ready gets it. By default 2 s.",
        unit="s",
        least=0.1,
    )
    seat_limit: float | None = setting(
        None,
        "Longest wait of a match for a seat; then a house bot gets it, or the match is called off. By default 3 s.",
        unit="s",
        least=0.1,
    )
    matches_per_bot: int = setting(256, "Most matches that one bot plays at once, whatever it announces.", least=1)
    matches_per_hour: int = setting(
        0,
        "Most rated matches that one bot begins on a ladder in an hour; 0 for no limit. All bots get their "
        "turns at the same instants, so that they meet each other.",
        most=3600,
    )
    heartbeat: float = setting(10.0, "Time between heartbeats of a stream.", unit="s", least=0.1)
    park_after: int = setting(
        3, "Matches in a row with a suspension or a stand-in after which a bot gets no seats.", least=1
    )
    fit_matches: int = setting(
        100, "New results of all games after which the ladders are fitted; a young ladder is fitted sooner.", least=1
    )
    fit_seconds: float = setting(60.0, "Time after which the ladders are fitted with fewer results.", unit="s", least=1)
    fit_rest: float = setting(
        9.0, "After a fit, new results wait this many times its duration, so that fits do not use a whole core."
    )
    pair_quota: int | None = setting(
        None,
        "Maximum number of matches per UTC day that count between two guests, so that friends who lose on "
        "purpose gain little; 0 for no limit. By default 40 with open registration, and 0 with invitations or on a "
        "loopback address.",
    )
    pair_week_quota: int | None = setting(None, "The same per UTC week, from Monday. By default twice pair_quota.")
    keep_replays: int | None = setting(
        None,
        "Number of newest replays to store; older ones are pruned, but their results and digests stay. By default all.",
    )
    drain: float = setting(10.0, "Time for running matches when the server stops.", unit="s")
    web: str | None = setting(
        None,
        "Address for browsers, as HOST:PORT: a process next to the server shows the pages of `arena web` "
        "there, with running matches.",
    )
    web_origin: str | None = setting(
        None,
        "Other sites whose pages may let bots play over the WebSocket of --web and start analyses, as "
        "https://HOST or http://HOST:PORT, separated by commas. They are also names of --web itself.",
    )
    embed_origins: str | None = setting(
        None,
        "Sites whose pages may show a match in a frame, as https://HOST or http://HOST:PORT, separated by "
        "commas; * for all, which is the default, none for no site.",
    )
    public_url: str | None = setting(
        None,
        "Address of the pages for readers, such as https://arena.example or https://arena.example/cards: "
        "pages print it in links for other sites. By default the address at which a request arrives; behind one of "
        "the proxies none.",
    )
    public_address: str | None = setting(
        None,
        "Address of the server for bots, as HOST:PORT, or https://HOST:PORT if a proxy adds TLS: pages "
        "print it for authors. By default the address at which a request arrives, with the port of --address.",
    )
    webhook: str | None = setting(
        None,
        "Address that gets signed messages about ladders, parked bots and events, as https://HOST/PATH, "
        "or http://… on this machine.",
    )
    log_json: bool = setting(False, "Log as JSON lines; the default if standard error is no terminal.")
    quiet: bool = setting(False, "Log only warnings, errors and an operator's decisions.")
    debug: bool = setting(False, "Log each match, connection and fit, too; no secrets.")
    limits: Limits = field(
        default_factory=Limits, metadata={"help": "Limits for one bot, or for all bots of one owner."}
    )
    policy: Policy = field(
        default_factory=Policy, metadata={"help": "Consequences of lateness and mistakes in a match; sent to bots."}
    )
    transport: TransportSettings = field(
        default_factory=TransportSettings, metadata={"help": "Limits for connections."}
    )

    @property
    def games(self) -> tuple[Game, ...]:
        """The games that the server plays."""
        return tuple({table.game.name: table.game for table in self.ladder_tables}.values())

    @property
    def ladders(self) -> tuple[LadderSettings, ...]:
        """The ladders that the server plays."""
        return tuple(_completed(self, table) for table in self.ladder_tables)

    @property
    def clock(self) -> LadderClock:
        """The time allowed for a decision. The scheduler's default durations grow with it."""
        return LadderClock(self.policy.soft_limit / 1e6)


def quota_in_force(config: Config) -> Quota:
    """Return the server's quota, which limits how many matches between bots of the same two owners count."""
    day = config.pair_quota
    if day is None:
        day = OPEN_QUOTA.day if config.registration == "open" and not on_loopback(config) else 0
    week = config.pair_week_quota
    if week is None:
        week = OPEN_QUOTA.week * day // OPEN_QUOTA.day
    return Quota(day, week, OPEN_QUOTA.young_days if day or week else 0)


def _completed(config: Config, table: LadderTable) -> LadderSettings:
    """Return the settings of a ladder, completed from the server's settings."""
    own: dict[str, Any] = {name: value for name in LADDER_SETTINGS if (value := getattr(table, name)) is not None}
    config = replace(config, policy=replace(config.policy, **table.policy), **own)
    patience, clock = config.patience, config.clock
    return LadderSettings(
        table.name or table.game.name,
        table.game,
        table.seats,
        table.options,
        config.policy,
        clock,
        clock.patience() if patience is None else patience,
        patience is None and clock.slow,
        answer_limits(config),
        config.house,
        table.entry,
        clock.pace_rules(config.slow_pace, config.slow_percent / 100),
        config.matches_per_hour,
    )


def answer_limits(config: Config) -> ReadyLimits:
    """Return the time limits for answers to invitations."""
    known = ((config.ready_limit, 30.0), (config.offer_limit, 2.0), (config.seat_limit, 3.0))
    return ReadyLimits(*[config.clock.answer_limit(usual) if own is None else own for own, usual in known])


def log_fields(config: Config, ladder_id: str) -> dict[str, str]:
    """Return the field that names a ladder in a log line.

    It is the game for the first season of a default ladder, otherwise the ladder id.
    """
    return {"game" if any(ladder_id == game.name for game in config.games) else "ladder": ladder_id}


def on_loopback(config: Config) -> bool:
    """Return whether only programs on this machine can connect."""
    return all(each.strip().rpartition(":")[0] in LOOPBACK for each in config.address.split(","))
