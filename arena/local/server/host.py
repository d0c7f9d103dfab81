"""The private server's side of sessions. It admits the given players by their tokens without registration."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Iterable, Sequence

import trio

from arena.log.head import LogState
from arena.server.config import Config, answer_limits
from arena.server.runtime.turns import Turns
from arena.server.sessions.admission import Admission, Authorization, held, named_ladders, on_its_ladders
from arena.server.sessions.messages import Closed, Hello, Link, MatchOver, MessageCodec, Reason, Welcome
from arena.server.sessions.player import BotPlayer
from arena.server.sessions.session import Session
from arena.store.bots.bots import Bot, BotId
from engine.game import Game


def new_token() -> str:
    """Return a new token in the same format as a server's."""
    return f"arena_{secrets.token_urlsafe(32)}"


async def let_play(
    player: BotPlayer,
    link: Link,
    codec: MessageCodec,
    hello: Hello,
    games: Sequence[Game],
    config: Config,
    turns: Turns,
    connected: Callable[[], None] = lambda: None,
    log_state: LogState | None = None,
    reports: Iterable[MatchOver] = (),
) -> None:
    """Welcome a bot and let it play until its stream ends. Close an earlier session of the same bot.

    `connected` is called after the bot has connected. `reports` are reports of past matches. Exceptions of
    `Session.run` propagate.
    """
    if player.session is not None:
        player.session.close(Reason.TAKEN_OVER, f"another connection of {player.name} took over")
    session = Session(link, codec, hello, turns, config.limits)
    session.welcome(
        Welcome(
            player.name,
            tuple(games),
            config.policy,
            answer_limits(config),
            config.park_after,
            min(hello.capacity, config.matches_per_bot),
            config.heartbeat,
            config.transport,
            log_state,
            features=held(hello.features),
            ladders=named_ladders(hello, config.ladders),
        )
    )
    for report in reports:
        session.report(report)
    player.connected(trio.current_time(), session)
    connected()
    try:
        await session.run(player.hear)
    finally:
        player.disconnected(trio.current_time(), session)


async def beat(players: Callable[[], Iterable[BotPlayer]], heartbeat: float) -> None:
    """Send heartbeats to the players every `heartbeat` seconds, until cancelled."""
    while True:
        await trio.sleep(heartbeat)
        for player in players():
            if player.session is not None:
                player.session.beat(trio.current_time())


class LocalHost:
    """Admits the given bots, each by its own token."""

    def __init__(self, config: Config, names: Sequence[str], turns: Turns) -> None:
        self.config = config
        self.admission = Admission(config.limits)
        self.authorization = Authorization(secrets.token_urlsafe(), self._authenticate)
        self.players = [BotPlayer(at, name, name, lambda _: self.change()) for at, name in enumerate(names, start=1)]
        """Players in the order of `names`."""
        self.tokens = [new_token() for _ in names]
        """Tokens in the order of `names`."""
        self._turns = turns
        self._change = trio.Event()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition that depends on the bots' connections and free capacity."""
        while not condition():
            await self._change.wait()

    def change(self) -> None:
        """Let the waiting tasks check their conditions again."""
        self._change.set()
        self._change = trio.Event()

    async def attend(
        self, link: Link, codec: MessageCodec, authorize: Callable[[], Awaitable[Bot]], hello: Hello
    ) -> None:
        hello = on_its_ladders(hello, {ladder.name: ladder.game.name for ladder in self.config.ladders})
        games = tuple(game for game in self.config.games if game.name in hello.games)
        if not games:
            played, wanted = ", ".join(game.name for game in self.config.games), ", ".join(hello.games)
            raise Closed(Reason.NO_SUCH_GAME, f"this match is of {played}; the bot asked for {wanted}")
        player = self.players[(await authorize()).id - 1]
        try:
            await let_play(player, link, codec, hello, games, self.config, self._turns, self.change)
        finally:
            self.change()

    async def _authenticate(self, token: str) -> Bot | None:
        for player, own in zip(self.players, self.tokens, strict=True):
            if secrets.compare_digest(token.encode(), own.encode()):
                return Bot(BotId(player.bot_id), player.name, player.owner, house=False, registered=0)
        return None
