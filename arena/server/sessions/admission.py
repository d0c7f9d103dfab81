"""Admission: permissions of tokens, limits on an owner's open streams, and limits on a bot's rate of connections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from hmac import compare_digest
from typing import Final

from arena.server.config import LadderSettings
from arena.server.sessions.limits import Limits
from arena.server.sessions.messages import Closed, Hello, LadderTerms, Reason
from arena.server.sessions.rate_limit import TokenBucket
from arena.store.bots.bots import Bot
from engine.game import option_text

FEATURES: Collection[str] = ()
"""Names of the optional features of the protocol that this server supports; none is defined yet."""
CONNECTS_SAVED: Final = 60.0
"""Number of seconds for which a bot's unused allowance of connections accumulates."""


def held(understood: Collection[str]) -> tuple[str, ...]:
    """Return the features that a stream uses: those that both sides support. `understood`: the client's features."""
    return tuple(name for name in understood if name in FEATURES)


def on_its_ladders(hello: Hello, ladders: Mapping[str, str]) -> Hello:
    """Reduce a hello to the games of the ladders on which the bot plays.

    `ladders`: the game of each ladder of the server, by ladder name.

    Raises: Closed: The bot named a ladder that its games do not have on this server.
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
    """Return the terms of the ladders that an admitted hello names (see `on_its_ladders`)."""
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
        self._streams: Counter[str] = Counter()  # By owner.
        self._connects: dict[int, TokenBucket] = {}  # By bot.

    @contextmanager
    def opened(self, bot: Bot, now: float) -> Iterator[None]:
        """Admit a stream of a bot while the `with` block runs.

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
    """A token is missing or unknown. The text gives the remedy and never repeats the token."""


class NotPermitted(Exception):  # noqa: N818 - a decision, not an error
    """A token does not permit a request. The text says which token does."""


class Authorization:
    """Checker of what a token permits.

    Its methods raise StoreError if a bot's token cannot be looked up, and OwnerBanned if the bot's owner is banned.
    """

    def __init__(self, operator_token: str, authenticate: Callable[[str], Awaitable[Bot | None]]) -> None:
        """`authenticate` returns the bot that currently has a token."""
        self._operator_token = operator_token.encode()
        self._authenticate = authenticate

    async def bot(self, token: str) -> Bot:
        """Return the bot that has a token. Raises: Unauthenticated."""
        if not token:
            raise Unauthenticated("send the metadata 'authorization: Bearer TOKEN'")
        bot = await self._authenticate(token)
        if bot is None:
            raise Unauthenticated("no bot has this token; register one with BotService.RegisterBot")
        return bot

    async def require_operator(self, token: str, only: str) -> None:
        """Check that the token is the operator's. `only`: the first words of the error's text. Raises: NotPermitted."""
        if not self.is_operator(token):
            raise NotPermitted(f"{only}: send the token in operator.token of the server's data directory")

    async def require_control(self, token: str, name: str) -> None:
        """Check that the token is the operator's or the bot's own. Raises: NotPermitted.

        The error does not reveal whether the bot exists.
        """
        if self.is_operator(token):
            return
        bot = await self._authenticate(token)
        if bot is None or bot.name.lower() != name.lower():
            text = f"only {name} itself and the operator may do that: send the bot's token or the operator's"
            raise NotPermitted(text)

    def is_operator(self, token: str) -> bool:
        """Return whether the token is the operator's, compared in constant time."""
        return compare_digest(token.encode(), self._operator_token)
