"""The registered bots: who they are, their tokens, and who is parked. What changes there is felt at once."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import structlog
import trio

from arena.server.messages import Notice, NoticeKind, Reason
from arena.server.wall import now_us
from arena.store import bots, parking
from arena.store.errors import UnknownToken

if TYPE_CHECKING:
    from collections.abc import Iterable

    from arena.server.hall import Hall
    from arena.server.limits import Limits
    from arena.store.store import Store

log = structlog.get_logger(__name__)


class Roster:
    """The bots of a server, connected or not."""

    def __init__(self, store: Store, hall: Hall, limits: Limits) -> None:
        self._store = store
        self._hall = hall
        self._limits = limits
        self._changes = 0

    async def authenticate(self, token: str) -> bots.Bot | None:
        """The bot that has a token now, when this returns; None if nobody has."""
        while True:
            changes = self._changes
            try:
                bot = await self._store.read(partial(bots.authenticate, token=token))
            except UnknownToken:
                return None
            if changes == self._changes:  # else it may have been read before the token was revoked
                return bot

    async def register(
        self, name: str, owner: str, invitation: str, by_invitation: bool, token: str = ""
    ) -> bots.Registered:
        """A new bot; raises what `bots.register` raises."""
        registered = await self._store.write(
            partial(
                bots.register,
                name=name,
                owner=owner,
                at=now_us(),
                invitation=invitation,
                by_invitation=by_invitation,
                most=self._limits.bots,
                token=token,
            )
        )
        log.info("bot registered", bot=name, owner=registered.bot.owner)
        return registered

    async def invite(self, owner: str) -> str:
        """The code of a new invitation; raises what `bots.invite` raises."""
        code = await self._store.write(partial(bots.invite, owner=owner, at=now_us()))
        log.info("invitation made", owner=owner)
        return code

    async def rotate(self, name: str) -> bots.Registered:
        """A new token for a bot; the old one dies at once, and the bot's stream with it. Raises as `bots.rotate`."""
        renewed = await self._store.write(partial(bots.rotate, name=name))
        self._shut_out(renewed.bot, "the bot's token was replaced; use the new one")
        log.info("token replaced", bot=renewed.bot.name)
        return renewed

    async def revoke(self, name: str) -> bots.Bot:
        """A bot's token dies at once, and its stream with it. Raises what `bots.revoke` raises."""
        bot = await self._store.write(partial(bots.revoke, name=name))
        self._shut_out(bot, "the bot's token was revoked; ask the server's operator for a new one")
        log.info("token revoked", bot=bot.name)
        return bot

    async def unpark(self, name: str) -> bots.Bot:
        """A bot is given seats again. Raises what `parking.unpark` raises."""
        bot = await self._store.write(partial(parking.unpark, name=name))
        self._changes += 1
        if (contestant := self._hall.contestants.get(bot.id)) is not None:
            contestant.parked = False
            contestant.waiting_since = dict.fromkeys(contestant.waiting_since, trio.current_time())
            self._hall.changed(contestant)
        log.info("bot un-parked", bot=bot.name)
        return bot

    def park(self, parked: Iterable[bots.Bot]) -> None:
        """Bots that are parked from now on, as the store has it already."""
        for bot in parked:
            self._changes += 1
            log.info("bot parked", bot=bot.name, matches=bot.troubles)
            contestant = self._hall.contestants.get(bot.id)
            if contestant is not None:
                contestant.parked = True
                self._hall.changed(contestant)
                if contestant.session is not None:
                    contestant.session.notify(parked_notice(bot))

    def _shut_out(self, bot: bots.Bot, why: str) -> None:
        self._changes += 1
        contestant = self._hall.contestants.get(bot.id)
        if contestant is not None and contestant.session is not None:
            contestant.session.close(Reason.TOKEN_DEAD, why)


def parked_notice(bot: bots.Bot) -> Notice:
    """What a bot is told that is parked."""
    remedy = f"mend it, then un-park it: `arena bots unpark {bot.name}`, or BotService.UnparkBot with its token"
    return Notice(NoticeKind.PARKED, f"{bot.name} is parked and given no seats: {bot.why_parked}; {remedy}")
