"""Bots, their tokens, and the invitations to register. Tokens and invitation codes are stored only as SHA-256."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any, Final, NamedTuple, NewType

from sqlalchemy import Connection, Row, func, insert, select, update

from arena.store import schema
from arena.store.base import changes
from arena.store.base.errors import (
    BotDeleted,
    InvitationRefused,
    NameNotAllowed,
    NameTaken,
    OfTheHouse,
    OwnerBanned,
    TokenNotAllowed,
    TooManyBots,
    UnknownBot,
    UnknownToken,
)
from arena.store.base.rows import BotRow, instant

BotId = NewType("BotId", int)

HOUSE: Final = "house"
"""The owner of house bots. Only house bots have names that begin with "house-"."""
RESERVED: Final = frozenset(
    {
        *("admin", "administrator", "anonymous", "arena", "moderator", "nobody", "official"),
        *("operator", "referee", "root", "server", "staff", "support", "system"),
    }
)
"""Names, in lower case, that could be mistaken for names of the server or its operators."""
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_TOKEN: Final = re.compile(r"arena_[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class Bot:
    """A registered bot."""

    id: BotId
    name: str
    owner: str
    house: bool
    registered: int
    """Time of the bot's registration, in microseconds since 1970."""
    troubles: tuple[int, ...] = ()
    """Numbers of the bot's latest consecutive matches with trouble: it was suspended or replaced by a house bot."""
    parked: int | None = None
    """Time since which the bot is parked because of these matches, in microseconds since 1970; None if it is not."""
    forgiven: int = 0
    """A match number. Matches up to this number do not count for parking."""
    hidden: bool = False
    """True if the operator has hidden the bot from the list of bots."""
    deleted: bool = False
    """True if the operator has deleted the bot."""

    @property
    def why_parked(self) -> str:
        """The reason why the bot is parked, in words; empty if it is not parked."""
        if self.parked is None:
            return ""
        *most, last = map(str, self.troubles)
        matches = f"matches {', '.join(most)} and {last}" if most else f"match {last}"
        return f"in {matches}, in a row, it was suspended or a house bot had to play on"


class Registered(NamedTuple):
    """A bot and its new token."""

    bot: Bot
    token: str


def register(
    connection: Connection,
    name: str,
    owner: str,
    at: int,
    invitation: str = "",
    by_invitation: bool = False,
    bots_per_owner: int | None = None,
    token: str = "",
) -> Registered:
    """Register a bot at the time `at`, in microseconds since 1970. Without `owner`, the bot is its own owner.

    With `by_invitation` an invitation is required. An invitation can be used only once, and its owner overrides
    `owner`. `bots_per_owner` limits the bots of an owner. A client may choose the `token` itself. Registering the same
    name again with the same token has no effect. So a client can repeat a call that got no answer.

    Raises: NameNotAllowed, NameTaken, TokenNotAllowed, InvitationRefused, OwnerBanned, TooManyBots.
    """
    check_name(name)
    check_name(owner or name)
    check_free(name)
    if not invitation:
        check_free(owner or name)
    if token and (registered := _bot_of_chosen_token(connection, name, token)) is not None:
        return Registered(registered, token)
    if by_invitation and not invitation:
        raise InvitationRefused("registration here is by invitation; ask the server's operator for one")
    if invitation:
        owner = invited(connection, invitation, at).owner
    if (taken_by := holder(connection, name)) is not None:
        raise NameTaken(name, taken_by.name)
    owner = owner or name
    _require_welcome(connection, owner)
    if bots_per_owner is not None and _bot_count(connection, owner) >= bots_per_owner:
        raise TooManyBots(owner, bots_per_owner)
    token = token or _new_token()
    bot = _add(connection, name, owner, at, token_hash=secret_hash(token))
    if invitation:
        use(connection, invitation, bot.id, at)
    return Registered(bot, token)


def invite(connection: Connection, owner: str, at: int, ladder: str = "", expires: int | None = None) -> str:
    """Return the code of a new invitation for one bot of this owner. See `invite_each`."""
    ((_, code),) = invite_each(connection, (owner,), at, ladder, expires)
    return code


def invite_each(
    connection: Connection, owners: Sequence[str], at: int, ladder: str = "", expires: int | None = None
) -> tuple[tuple[str, str], ...]:
    """Create an invitation for one bot of each owner. Return the owners with their codes; only hashes of codes are
    stored.

    `ladder`: the name of a ladder that the bot may then also enter. The codes are refused from the time `expires` on.

    Raises: NameNotAllowed, OwnerBanned.
    """
    for owner in owners:
        check_name(owner)
    banned = schema.bans.c.key.in_([owner.lower() for owner in owners])
    for key in connection.scalars(select(schema.bans.c.key).where(banned)).all():
        _require_welcome(connection, next(owner for owner in owners if owner.lower() == key))
    number = connection.scalar(select(func.max(schema.invitations.c.number))) or 0
    made = tuple((owner, f"invitation_{token_urlsafe(24)}") for owner in owners)
    common = {"created": at, "ladder": ladder, "expires": expires}
    rows = [
        common | {"code_hash": secret_hash(code), "owner": owner, "number": number + place}
        for place, (owner, code) in enumerate(made, 1)
    ]
    connection.execute(insert(schema.invitations), rows)
    return made


def invited(connection: Connection, code: str, at: int) -> Row[Any]:
    """Return the row of an invitation that can be used at the time `at`. Raises: InvitationRefused."""
    query = select(schema.invitations).where(schema.invitations.c.code_hash == secret_hash(code))
    row = connection.execute(query).one_or_none()
    ask = "ask the server's operator for another"
    if row is None:
        raise InvitationRefused(f"there is no such invitation; check it, or {ask}")
    if row.used_by is not None:
        raise InvitationRefused(f"{row.owner}'s invitation was used already; {ask}")
    if row.revoked is not None:
        raise InvitationRefused(f"{row.owner}'s invitation was revoked; {ask}")
    if row.expires is not None and at >= row.expires:
        raise InvitationRefused(f"{row.owner}'s invitation expired on {instant(row.expires):%Y-%m-%d}; {ask}")
    return row


def use(connection: Connection, code: str, bot_id: BotId, at: int) -> None:
    """Record that a bot used an invitation, and enter the bot on the invitation's ladder. Raises: InvitationRefused."""
    ladder = invited(connection, code, at).ladder
    own = schema.invitations.c.code_hash == secret_hash(code)
    connection.execute(update(schema.invitations).where(own).values(used_by=bot_id))
    if ladder:
        by_ladder(connection, bot_id, ladder, entered=at)


def by_ladder(connection: Connection, bot_id: int, ladder: str, **columns: object) -> None:
    """Set columns of a bot's row for a ladder in `bot_ladders`. Add the row if there is none."""
    own = schema.bot_ladders.c
    change = update(schema.bot_ladders).where(own.bot_id == bot_id, own.ladder == ladder).values(columns)
    if not connection.execute(change).rowcount:
        row = {"bot_id": bot_id, "ladder": ladder, **columns}
        connection.execute(insert(schema.bot_ladders).values(row))
    changes.note(connection, changes.BOT, bot_id)


def authenticate(connection: Connection, token: str) -> Bot:
    """Return the bot that has this token. Raises: UnknownToken, OwnerBanned."""
    # This lookup is safe against timing attacks without a constant-time comparison. It compares SHA-256 hashes, and an
    # attacker cannot choose tokens whose hashes approach a stored hash step by step.
    row = connection.execute(select(schema.bots).where(schema.bots.c.token_hash == secret_hash(token))).one_or_none()
    if row is None:
        raise UnknownToken("no bot here has this token; register the bot, or use the token of its registration")
    bot = bot_of(row)
    _require_welcome(connection, bot.owner)
    return bot


def holder(connection: Connection, name: str) -> Bot | None:
    """Return the bot that has or once had this name, ignoring case, or None. House bots are included."""
    query = select(schema.bots).join(schema.names).where(schema.names.c.key == name.lower())
    row = connection.execute(query).one_or_none()
    return None if row is None else bot_of(row)


def known(connection: Connection, name: str) -> Bot:
    """Return the bot that has or once had this name, ignoring case. House bots are included. Raises: UnknownBot."""
    bot = holder(connection, name)
    if bot is None:
        raise UnknownBot(name)
    return bot


def find(connection: Connection, name: str) -> Bot:
    """Return the bot that has or once had this name, ignoring case. House bots are excluded.

    Raises: UnknownBot, OfTheHouse, BotDeleted.
    """
    bot = known(connection, name)
    if bot.house:
        raise OfTheHouse(f"{bot.name} is one of the server's own: it has no token, is never parked and stays as it is")
    if bot.deleted:
        raise BotDeleted(f"{bot.name} was deleted: its results stay under this name, and no other bot is given it")
    return bot


def by_id(connection: Connection, bot_id: int) -> Bot:
    """Return the bot with this number."""
    return bot_of(connection.execute(select(schema.bots).where(schema.bots.c.id == bot_id)).one())


def rotate(connection: Connection, name: str) -> Registered:
    """Replace a bot's token. The old token becomes invalid. Raises: UnknownBot, OfTheHouse, BotDeleted."""
    bot, token = find(connection, name), _new_token()
    connection.execute(update(schema.bots).where(schema.bots.c.id == bot.id).values(token_hash=secret_hash(token)))
    changes.note(connection, changes.BOT, bot.id)
    return Registered(bot, token)


def revoke(connection: Connection, name: str) -> Bot:
    """Invalidate a bot's token. `rotate` creates a new token. Raises: UnknownBot, OfTheHouse, BotDeleted."""
    bot = find(connection, name)
    connection.execute(update(schema.bots).where(schema.bots.c.id == bot.id).values(token_hash=None))
    changes.note(connection, changes.BOT, bot.id)
    return bot


def why_banned(connection: Connection, owner: str) -> str:
    """Return the reason for an owner's ban; empty without a ban. The case of `owner` does not matter."""
    return _banned(owner, connection.scalar(select(schema.bans.c.reason).where(schema.bans.c.key == owner.lower())))


def ensure_house_bots(connection: Connection, names: Iterable[str], at: int) -> tuple[Bot, ...]:
    """Return the house bots with these names ("house-…") in the same order. Add those that do not exist.

    Raises: NameNotAllowed.
    """
    bots = []
    for name in names:
        if not name.startswith(f"{HOUSE}-"):
            raise NameNotAllowed(name, f"house bots' names begin with '{HOUSE}-'")
        row = connection.execute(select(schema.bots).where(schema.bots.c.key == name.lower())).one_or_none()
        bots.append(_add(connection, name, HOUSE, at, token_hash=None) if row is None else bot_of(row))
    return tuple(bots)


def list_bots(connection: Connection, limit: int | None = None, after: str = "") -> tuple[BotRow, ...]:
    """Return the bots that are not hidden or deleted, ordered by name.

    `limit`: the maximum number of bots. `after`: a name; only bots with later names are returned. Fields that only a
    running server knows are None.
    """
    played = select(func.coalesce(func.sum(schema.ratings.c.matches), 0)).correlate(schema.bots)
    played = played.select_from(schema.ratings.join(schema.versions)).where(
        schema.versions.c.bot_id == schema.bots.c.id
    )
    newest = select(schema.versions.c.version).where(schema.versions.c.bot_id == schema.bots.c.id)
    newest = newest.order_by(schema.versions.c.id.desc()).limit(1).correlate(schema.bots)
    version = func.coalesce(newest.scalar_subquery(), "")
    rows = connection.execute(
        select(schema.bots, played.scalar_subquery().label("matches"), version.label("version"))
        .add_columns(schema.bans.c.reason.label("ban"))
        .outerjoin(schema.bans, schema.bans.c.key == func.lower(schema.bots.c.owner))
        .where(schema.bots.c.hidden.is_(None), schema.bots.c.deleted.is_(None), schema.bots.c.key > after.lower())
        .order_by(schema.bots.c.key)
        .limit(limit)
    )
    further = _parked_on_further_ladders(connection)
    return tuple(
        _listed(bot_of(row), row.matches, row.version, _banned(row.owner, row.ban), further.get(row.id, ()))
        for row in rows
    )


def _parked_on_further_ladders(connection: Connection) -> dict[int, list[str]]:
    """Return the reasons why bots are parked on ladders that are not default ladders, by bot."""
    own, found = schema.bot_ladders.c, dict[int, list[str]]()
    query = select(schema.bots, own.ladder, own.parked.label("since"), own.troubles.label("lately"))
    query = query.select_from(schema.bot_ladders.join(schema.bots)).where(own.parked.is_not(None))
    for row in connection.execute(query.order_by(own.ladder)):
        there = replace(bot_of(row), parked=row.since, troubles=tuple(json.loads(row.lately)))
        found.setdefault(row.id, []).append(f"on {row.ladder}: {there.why_parked}")
    return found


def _listed(bot: Bot, matches: int, version: str, banned: str, further: Iterable[str]) -> BotRow:
    return BotRow(
        name=bot.name,
        owner=bot.owner,
        house=bot.house,
        connected=None,
        playing=None,
        matches=matches,
        registered=instant(bot.registered),
        round_trip_ms=None,
        parked="; ".join([*filter(None, [bot.why_parked]), *further]),
        version=version,
        declined=None,
        silent=None,
        pace_ms=None,
        banned=banned,
    )


def _banned(owner: str, reason: str | None) -> str:
    """Return a sentence about an owner's ban with its reason, if one is stored; empty without a ban."""
    if reason is None:
        return ""
    return f"{owner} is banned: {reason}" if reason else f"{owner} is banned"


def _require_welcome(connection: Connection, owner: str) -> None:
    """Check that an owner is not banned. Raises: OwnerBanned."""
    if why := why_banned(connection, owner):
        raise OwnerBanned(f"{why}; only the server's operator can change that")


def _add(connection: Connection, name: str, owner: str, at: int, token_hash: bytes | None) -> Bot:
    house = token_hash is None
    row = {"name": name, "key": name.lower(), "owner": owner, "house": int(house), "registered": at}
    added = connection.execute(insert(schema.bots).values(**row, token_hash=token_hash).returning(schema.bots.c.id))
    bot = Bot(BotId(added.scalar_one()), name, owner, house, at)
    connection.execute(insert(schema.names).values(key=name.lower(), bot_id=bot.id))
    return bot


def _new_token() -> str:
    return f"arena_{token_urlsafe(32)}"


def _bot_of_chosen_token(connection: Connection, name: str, token: str) -> Bot | None:
    """Return the bot that has this token and name, or None if no bot has the token.

    Raises: TokenNotAllowed: Another bot has the token, or it is malformed.
    """
    if not _TOKEN.fullmatch(token):
        raise TokenNotAllowed("the token is not allowed: 'arena_' and 32 random bytes in base64url, 43 characters")
    try:
        bot = authenticate(connection, token)
    except UnknownToken:
        return None
    if bot.name.lower() != name.lower():
        raise TokenNotAllowed("the token is not allowed: another bot has it; make one of 32 random bytes")
    return bot


def _bot_count(connection: Connection, owner: str) -> int:
    """Return the number of an owner's bots. Case does not matter."""
    same = func.lower(schema.bots.c.owner) == owner.lower()
    return connection.scalar(select(func.count()).where(same)) or 0


def check_name(name: str) -> None:
    """Check a name for a bot or an owner. Raises: NameNotAllowed."""
    if not _NAME.fullmatch(name):
        raise NameNotAllowed(name, "1 to 40 letters, digits, '.', '_' or '-', beginning with a letter or digit")
    if name.lower() == HOUSE or name.lower().startswith(f"{HOUSE}-"):
        raise NameNotAllowed(name, f"'{HOUSE}' and names beginning with '{HOUSE}-' are the server's own")


def check_free(name: str) -> None:
    """Check that a name is not reserved. Raises: NameNotAllowed."""
    if name.lower() in RESERVED:
        raise NameNotAllowed(name, f"{name} is reserved")


def secret_hash(secret: str) -> bytes:
    """Return the hash of a token or invitation code, which is stored in its place."""
    return sha256(secret.encode(errors="surrogatepass")).digest()


def bot_of(row: Row[Any]) -> Bot:
    """Return the bot for a row of the table `bots`."""
    troubles = tuple(json.loads(row.troubles))
    since = (row.registered, troubles, row.parked, row.forgiven)
    return Bot(row.id, row.name, row.owner, bool(row.house), *since, row.hidden is not None, row.deleted is not None)
