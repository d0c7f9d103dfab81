"""The rights of a token, which is the operator's, a bot's own, or unknown."""

from __future__ import annotations

from hmac import compare_digest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from arena.store.bots.bots import Bot


class Unauthenticated(Exception):  # noqa: N818 - a decision, not an error
    """A token is missing or unknown; the text gives the remedy and never repeats the token."""


class NotPermitted(Exception):  # noqa: N818 - a decision, not an error
    """A token does not allow a request; the text names the right one."""


class Authorization:
    """Checks the rights of tokens. Raises StoreError if a bot's cannot be looked up, OwnerBanned if its owner is
    banned."""

    def __init__(self, operator_token: str, authenticate: Callable[[str], Awaitable[Bot | None]]) -> None:
        """`authenticate` returns the bot that has a token now."""
        self._operator_token = operator_token.encode()
        self._authenticate = authenticate

    async def bot(self, token: str) -> Bot:
        """The bot that has a token; raises `Unauthenticated`."""
        if not token:
            raise Unauthenticated("send the metadata 'authorization: Bearer TOKEN'")
        bot = await self._authenticate(token)
        if bot is None:
            raise Unauthenticated("no bot has this token; register one with BotService.RegisterBot")
        return bot

    async def require_operator(self, token: str, only: str) -> None:
        """Raise `NotPermitted` unless the token is the operator's; `only` names the operator's privilege."""
        if not self._is_operator(token):
            raise NotPermitted(f"{only}: send the token in operator.token of the server's data directory")

    async def require_control(self, token: str, name: str) -> None:
        """Raise `NotPermitted` unless the token is the operator's or that of the bot; strangers learn no names."""
        if self._is_operator(token):
            return
        bot = await self._authenticate(token)
        if bot is None or bot.name.lower() != name.lower():
            text = f"only {name} itself and the operator may do that: send the bot's token or the operator's"
            raise NotPermitted(text)

    def _is_operator(self, token: str) -> bool:
        """Compare in constant time."""
        return compare_digest(token.encode(), self._operator_token)
