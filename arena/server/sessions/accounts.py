"""Accounts of registered bots: names, tokens, parking, bans. Changes take effect at once, even for open sessions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

import structlog
import trio

from arena.log.head import LogEntry
from arena.server.config import Config, LadderSettings
from arena.server.runtime.wall_clock import now_us
from arena.server.sessions.hourly import HOUR, HourlyAllowance, TooManyRegistrations
from arena.server.sessions.messages import Closed, Notice, NoticeKind, Reason
from arena.server.sessions.players import Players
from arena.stderr import decisions_log
from arena.store import nodes
from arena.store.base.errors import EntryRefused, NoSuchLadder, UnknownToken
from arena.store.bots import bots, entry
from arena.store.bots.entry import NewInvitations
from arena.store.moderation import moderation, parking
from arena.store.store import Store
from trio_grpc.grpc.call import CallRefused

DELETED: Final = (
    "the server's operator deleted the bot, and its token with it; its name is given to nobody: register another bot, "
    "under another name"
)
REMEMBERED: Final = 10_000
"""Maximum number of bots in the token cache."""

log = structlog.get_logger(__name__)
decided = decisions_log()


class Accounts:
    """The accounts of a server's bots, connected or not."""

    def __init__(
        self, store: Store, players: Players, config: Config, post: Callable[[str, Mapping[str, Any]], None]
    ) -> None:
        """`post` sends messages to the webhook."""
        self._store = store
        self._players = players
        self._limits = limits = config.limits
        self._ladders = {ladder.name: ladder for ladder in config.ladders}
        self._post = post
        self._registrations = HourlyAllowance(limits.registrations_per_address / HOUR)
        self._parked: dict[str, dict[int, bots.Bot]] = {}
        """By ladder name (empty: the default ladders), the parked bots by number, with their rows at the time of
        parking.
        """
        self._changes = 0
        self._authenticated: dict[bytes, bots.Bot] = {}
        """Cache of bots by the hash of their token. Each change of an account clears the cache."""

    async def load(self, ladders: Iterable[str]) -> None:
        """Load the bots that are parked on the given ladders. Raises: StoreError."""
        for ladder in ladders:
            self._parked[ladder] = {
                bot.id: bot for bot in await self._store.read(partial(parking.parked_on, ladder=ladder))
            }

    def parked(self, bot: bots.Bot) -> dict[str, bots.Bot]:
        """Return the rows of a parked bot, by ladder name (empty: the default ladders)."""
        default = {} if bot.parked is None else {"": bot}
        found = {ladder: there[bot.id] for ladder, there in self._parked.items() if bot.id in there}
        return default | {ladder: replace(there, name=bot.name) for ladder, there in found.items()}

    async def authenticate(self, token: str) -> bots.Bot | None:
        """Return the bot that currently has this token, or None. Raises: OwnerBanned."""
        key = bots.secret_hash(token)
        while (bot := self._authenticated.get(key)) is None:
            changes = self._changes
            try:
                found = await self._store.read(partial(bots.authenticate, token=token))
            except UnknownToken:
                return None
            if changes == self._changes:  # If accounts have changed meanwhile, the token may have been revoked.
                if len(self._authenticated) >= REMEMBERED:
                    self._authenticated.clear()
                self._authenticated[key] = found
        return bot

    async def _take_registration(self, origin: str) -> None:
        """Count one more registration request for all nodes together. Raises: TooManyRegistrations, StoreError."""
        now, registrations_per_address = trio.current_time(), self._limits.registrations_per_address
        if not self._registrations.take(origin, now):
            raise TooManyRegistrations(registrations_per_address, self._registrations.wait(origin, now))
        if self._store.lease is not None:
            allowance = self._allowance(origin)
            if wait := await self._store.write(partial(nodes.spend, allowance=allowance)):
                raise TooManyRegistrations(allowance.hourly, wait)

    def _allowance(self, origin: str) -> nodes.Allowance:
        return nodes.Allowance(nodes.REGISTRATIONS, origin, self._limits.registrations_per_address)

    async def register(
        self, name: str, owner: str, invitation: str, by_invitation: bool, token: str = "", origin: str | None = None
    ) -> bots.Registered:
        """Register a bot. `origin`: the address of the caller. Raises TooManyRegistrations and what `bots.register`
        raises.
        """
        if origin is not None:
            await self._take_registration(origin)
        registered = await self._store.write(
            partial(
                bots.register,
                name=name,
                owner=owner,
                at=now_us(),
                invitation=invitation,
                by_invitation=by_invitation,
                bots_per_owner=self._limits.bots_per_owner,
                token=token,
            )
        )
        if invitation:
            log.info("bot registered", bot=name, owner=registered.bot.owner)
            if origin is not None:
                self._registrations.give_back(origin)
                if self._store.lease is not None:
                    await self._store.write(partial(nodes.give_back, allowance=self._allowance(origin)))
        else:
            # Logged at the debug level, because strangers choose these names and their number.
            log.debug("bot registered", bot=name, owner=registered.bot.owner)
        return registered

    async def invite(self, new: NewInvitations) -> tuple[tuple[str, str], ...]:
        """Create invitations; return the owner and the code of each. Raises NoSuchLadder and what `entry.create`
        raises.
        """
        if new.ladder:
            self.ladder(new.ladder)
        made = await self._store.write(partial(entry.create, new=new, at=now_us()))
        about = {"ladder": new.ladder} if new.ladder else {}
        if new.owner:
            decided.info("invitation made", owner=new.owner, **about)
        else:
            decided.info("invitations made", owners=new.count, first=made[0][0], last=made[-1][0], **about)
        return made

    async def revoke_invitation(self, number: int) -> None:
        """Revoke an unused invitation. Raises what `entry.revoke` raises."""
        await self._store.write(partial(entry.revoke, number=number, at=now_us()))
        decided.info("invitation revoked", number=number)

    async def join(self, bot: bots.Bot, ladder: str, code: str) -> None:
        """Let a bot enter a ladder with an invitation. Raises NoSuchLadder and what `entry.join` raises."""
        rule = self.ladder(ladder).entry
        await self._store.write(partial(entry.join, name=bot.name, ladder=ladder, code=code, at=now_us(), entry=rule))
        log.info("bot entered ladder", bot=bot.name, ladder=ladder)

    async def require_entry(self, authorize: Callable[[], Awaitable[bots.Bot]], names: Collection[str]) -> None:
        """Check that a bot may play on each of these ladders. Raises: Closed and what `authorize` raises."""
        closed = [ladder for name, ladder in self._ladders.items() if name in names and ladder.entry != entry.OPEN]
        if not closed:
            return
        bot = await authorize()
        for ladder in closed:
            try:
                await self._store.read(partial(entry.may_enter, bot=bot, ladder=ladder.name, entry=ladder.entry))
            except EntryRefused as error:
                raise Closed(Reason.ENTRY_REFUSED, str(error)) from error

    def ladder(self, name: str) -> LadderSettings:
        """Return the settings of a ladder. Raises: NoSuchLadder."""
        if name not in self._ladders:
            raise NoSuchLadder(name, self._ladders)
        return self._ladders[name]

    async def rotate(self, name: str) -> bots.Registered:
        """Replace a bot's token and close the stream that uses the old token. Raises what `bots.rotate` raises."""
        renewed = await self._store.write(partial(bots.rotate, name=name))
        self._shut_out(renewed.bot, "the bot's token was replaced; use the new one")
        decided.info("token replaced", bot=renewed.bot.name)
        return renewed

    async def revoke(self, name: str) -> bots.Bot:
        """Revoke a bot's token and close the bot's stream. Raises what `bots.revoke` raises."""
        bot = await self._store.write(partial(bots.revoke, name=name))
        self._shut_out(bot, "the bot's token was revoked; ask the server's operator for a new one")
        decided.info("token revoked", bot=bot.name)
        return bot

    async def ban(self, owner: str, reason: str) -> None:
        """Ban an owner and close the streams of the owner's bots. House bots continue their matches.

        Raises what `moderation.ban` raises."""
        why = await self._store.write(partial(moderation.ban, owner=owner, reason=reason, at=now_us()))
        self._changed()
        self._expel(owner, why)
        decided.info("owner banned", owner=owner, reason=reason)

    async def unban(self, owner: str, reason: str) -> None:
        """Lift the ban of an owner. Raises what `moderation.unban` raises."""
        await self._store.write(partial(moderation.unban, owner=owner, reason=reason, at=now_us()))
        self._changed()
        decided.info("owner un-banned", owner=owner, reason=reason)

    async def hide(self, name: str, reason: str) -> None:
        """Remove a bot from the list of bots. Raises what `moderation.hide` raises."""
        bot = await self._store.write(partial(moderation.hide, name=name, reason=reason, at=now_us()))
        decided.info("bot hidden", bot=bot.name, reason=reason)

    async def show(self, name: str, reason: str) -> None:
        """List a hidden bot again. Raises what `moderation.show` raises."""
        bot = await self._store.write(partial(moderation.show, name=name, reason=reason, at=now_us()))
        decided.info("bot shown", bot=bot.name, reason=reason)

    async def delete(self, name: str, reason: str) -> None:
        """Delete a bot and close its stream. House bots continue its matches. Raises what `moderation.delete`
        raises.
        """
        bot = await self._store.write(partial(moderation.delete, name=name, reason=reason, at=now_us()))
        self._changed()
        if (bot_player := self._players.get(bot.id)) is not None:
            bot_player.expel(trio.current_time(), Reason.TOKEN_REVOKED, DELETED)
        decided.info("bot deleted", bot=bot.name, reason=reason)

    async def rename(self, name: str, new_name: str, reason: str) -> None:
        """Give a bot another name. Its running matches keep the old one. Raises what `moderation.rename` raises."""
        job = partial(moderation.rename, name=name, new_name=new_name, reason=reason, at=now_us())
        bot = await self._store.write(job)
        self._changed()
        if (bot_player := self._players.get(bot.id)) is not None:
            bot_player.name = bot.name
        decided.info("bot renamed", bot=name, new_name=bot.name, reason=reason)

    async def unpark(self, name: str) -> bots.Bot:
        """Resume a parked bot on all ladders. Raises what `parking.unpark` raises."""
        bot = await self._store.write(partial(parking.unpark, name=name))
        self._changed()
        for there in self._parked.values():
            there.pop(bot.id, None)
        if (bot_player := self._players.get(bot.id)) is not None:
            now, since = trio.current_time(), bot_player.offers.waiting_since
            for ladder in since:
                if (ladder if ladder in self._parked else "") in bot_player.parked:
                    since[ladder] = now
            bot_player.parked = frozenset()
            self._players.changed(bot_player)
        decided.info("bot un-parked", bot=bot.name)
        return bot

    async def learn(self, number: str) -> None:
        """Apply another node's change of a bot: name, token, parking, or deletion. Raises: StoreError."""
        bot_id = int(number)
        self._changed()
        await self.load([*self._parked])
        if (bot_player := self._players.get(bot_id)) is None:
            return
        bot = await self._store.read(partial(bots.by_id, bot_id=bot_id))
        bot_player.name = bot.name
        if bot.deleted:
            bot_player.expel(trio.current_time(), Reason.TOKEN_REVOKED, DELETED)
            return
        parked = self.parked(bot)
        for ladder in parked.keys() - bot_player.parked:
            bot_player.notify(parked_notice(parked[ladder], ladder))
        if bot_player.parked - parked.keys():
            bot_player.offers.wait_from(trio.current_time())
        if bot_player.parked != parked.keys():
            bot_player.parked = frozenset(parked)
            self._players.changed(bot_player)
        session, authorize = bot_player.session, bot_player.authorize
        if session is not None and authorize is not None:
            try:
                await authorize()
            except CallRefused as refused:
                if refused.code.name == "UNAUTHENTICATED":
                    session.close(Reason.TOKEN_REVOKED, "the bot's token was revoked or replaced; use the new one")

    async def learn_owner(self, owner: str) -> None:
        """Apply another node's ban of an owner, or the lifting of a ban. Raises: StoreError."""
        self._changed()
        if why := await self._store.read(partial(bots.why_banned, owner=owner)):
            self._expel(owner, why)

    def _expel(self, owner: str, why: str) -> None:
        for bot_player in list(self._players):
            if bot_player.owner.lower() == owner.lower():
                bot_player.expel(trio.current_time(), Reason.OWNER_BANNED, why)

    def park(self, parked: Iterable[bots.Bot], entry: LogEntry | None = None, ladder: str = "") -> None:
        """Stop seating bots that the store has parked on a ladder (empty: on the default ladders), and notify them.

        `entry`: the log entry of the match that caused the parking.
        """
        for bot in parked:
            self._changed()
            on = {"ladder": ladder} if ladder else {}
            log.info("bot parked", bot=bot.name, matches=bot.troubles, **on)
            leaf = {} if entry is None else {"leaf": entry.leaf.decode()}
            self._post("bot_parked", {"bot": bot.name, "reason": bot.why_parked, "matches": bot.troubles, **on, **leaf})
            if ladder:
                self._parked[ladder][bot.id] = bot
            bot_player = self._players.get(bot.id)
            if bot_player is not None:
                bot_player.parked = bot_player.parked | {ladder}
                self._players.changed(bot_player)
                bot_player.notify(parked_notice(bot, ladder))

    def _changed(self) -> None:
        self._changes += 1
        self._authenticated.clear()

    def _shut_out(self, bot: bots.Bot, why: str) -> None:
        self._changed()
        bot_player = self._players.get(bot.id)
        if bot_player is not None and bot_player.session is not None:
            bot_player.session.close(Reason.TOKEN_REVOKED, why)


def parked_notice(bot: bots.Bot, ladder: str = "") -> Notice:
    """Return the notice to a bot that is parked on a ladder (empty: on the default ladders)."""
    remedy = f"mend it, then un-park it: `arena bots unpark {bot.name}`, or BotService.UnparkBot with its token"
    parked = f"parked on {ladder} and given no seats there" if ladder else "parked and given no seats"
    return Notice(NoticeKind.PARKED, f"{bot.name} is {parked}: {bot.why_parked}; {remedy}")
