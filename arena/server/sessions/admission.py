"""Admission: the rights of a token, limits on an owner's open streams, and limits on a bot's rate of connections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from hmac import compare_digest
from typing import TYPE_CHECKING, Final

from arena.server.sessions.messages import Closed, LadderTerms, Reason
from arena.server.sessions.rate_limit import TokenBucket
from engine.game import option_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from arena.server.config import LadderSettings
    from arena.server.sessions.limits import Limits
    from arena.server.sessions.messages import Hello
    from arena.store.bots.bots import Bot

CONNECTS_SAVED: Final = 60.0
"""Number of seconds for which a bot's unused allowance of connections is saved up."""


def on_its_ladders(hello: Hello, ladders: Mapping[str, str]) -> Hello:
    """Return a hello with only the games on whose ladders the bot plays.

    `ladders`: the name of the game of each of the server's ladders, by the ladder's name.

    Raises: Closed: The bot named a ladder that its games do not have here.
    """
    there = tuple(name for wanted in hello.games for name, game in ladders.items() if game == wanted)
    if not (hello.ladders and there):
        return hello
    for name in hello.ladders:
        if name not in there:
            text = f"this server has no ladder {name[:60]!r} for the bot's games; it has {', '.join(there)}"
            raise Closed(Reason.NO_SUCH_LADDER, text)
    return hello._replace(
        games=tuple(game for game in hello.games if game in {ladders[name] for name in hello.ladders})
    )


def named_ladders(hello: Hello, ladders: Iterable[LadderSettings]) -> tuple[LadderTerms, ...]:
    """Return the terms of the ladders in a hello that `on_its_ladders` has admitted."""
    terms = {
        ladder.name: LadderTerms(
            ladder.name,
            ladder.game.name,
            ladder.seats,
            {name: option_text(value) for name, value in ladder.options.items()},
            ladder.policy,
            ladder.answer_limits,
        )
        for ladder in ladders
        if ladder.name in hello.ladders
    }
    return tuple(terms[name] for name in hello.ladders)


class Admission:
    """Counter of open streams. A stream counts as soon as its token has been checked."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._streams: Counter[str] = Counter()  # by owner
        self._connects: dict[int, TokenBucket] = {}  # by bot

    @contextmanager
    def opened(self, bot: Bot, now: float) -> Iterator[None]:
        """Admit a stream of a bot for the block.

        Raises: Closed: The limit of streams or connections is exceeded.
        """
        connects = self._connects.setdefault(bot.id, TokenBucket(self._limits.connect_rate, CONNECTS_SAVED))
        if not connects.take(1, now):
            allowed = f"{self._limits.connect_rate:g} times a second is allowed (connect_rate)"
            text = f"flooding: {bot.name} connects too often; wait, {allowed}"
            raise Closed(Reason.FLOODING, text, connects.wait(1, now))
        if self._streams[bot.owner] >= self._limits.streams_per_owner:
            streams = f"{self._limits.streams_per_owner} streams open (streams_per_owner)"
            text = f"the bots of {bot.owner} have {streams}; close one and come back"
            raise Closed(Reason.FLOODING, text)
        self._streams[bot.owner] += 1
        try:
            yield
        finally:
            self._streams[bot.owner] -= 1
            if not self._streams[bot.owner]:
                del self._streams[bot.owner]


class Unauthenticated(Exception):  # noqa: N818 - a decision, not an error
    """Raised if a token is missing or unknown. The text gives the remedy and never repeats the token."""


class NotPermitted(Exception):  # noqa: N818 - a decision, not an error
    """Raised if a token does not allow a request. The text names the token that does."""


class Authorization:
    """A checker of the rights of tokens.

    Raises StoreError if a bot's token cannot be looked up, and OwnerBanned if its owner is banned.
    """

    def __init__(self, operator_token: str, authenticate: Callable[[str], Awaitable[Bot | None]]) -> None:
        """`authenticate` returns the bot that currently has a token."""
        self._operator_token = operator_token.encode()
        self._authenticate = authenticate

    async def bot(self, token: str) -> Bot:
        """Return the bot that has a token; raises `Unauthenticated`."""
        if not token:
            raise Unauthenticated("send the metadata 'authorization: Bearer TOKEN'")
        bot = await self._authenticate(token)
        if bot is None:
            raise Unauthenticated("no bot has this token; register one with BotService.RegisterBot")
        return bot

    async def require_operator(self, token: str, only: str) -> None:
        """Raise `NotPermitted` unless the token is the operator's. `only`: the beginning of the error's text."""
        if not self.is_operator(token):
            raise NotPermitted(f"{only}: send the token in operator.token of the server's data directory")

    async def require_control(self, token: str, name: str) -> None:
        """Raise `NotPermitted` unless the token is the operator's or the bot's own.

        The error does not reveal whether the bot exists.
        """
        if self.is_operator(token):
            return
        bot = await self._authenticate(token)
        if bot is None or bot.name.lower() != name.lower():
            text = f"only {name} itself and the operator may do that: send the bot's token or the operator's"
            raise NotPermitted(text)

    def is_operator(self, token: str) -> bool:
        """Compare a token with the operator's in constant time."""
        return compare_digest(token.encode(), self._operator_token)
