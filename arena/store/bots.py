"""Bots, their tokens and the invitations to register. Tokens and invitation codes are kept as SHA-256 only."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any, Final, NamedTuple, NewType

from sqlalchemy import Connection, Row, func, insert, select, update

from arena.store import schema
from arena.store.errors import (
    InvitationRefused,
    NameNotAllowed,
    NameTaken,
    OfTheHouse,
    TokenNotAllowed,
    TooManyBots,
    UnknownBot,
    UnknownToken,
)

BotId = NewType("BotId", int)

HOUSE: Final = "house"
"""The owner of house bots; names beginning with it and a hyphen are theirs."""
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
    """Instant, in microseconds since 1970."""
    troubles: tuple[int, ...] = ()
    """Its last matches, as long as a house bot had to play on or it was suspended in each of them."""
    parked: int | None = None
    """Since when it is given no seats because of them, in microseconds since 1970."""
    forgiven: int = 0
    """No match up to this one counts as troubled."""

    @property
    def why_parked(self) -> str:
        """What it is parked for; empty when it is not."""
        if self.parked is None:
            return ""
        *most, last = map(str, self.troubles)
        matches = f"matches {', '.join(most)} and {last}" if most else f"match {last}"
        return f"in {matches}, in a row, it was suspended or a house bot had to play on"


class Registered(NamedTuple):
    """A bot and its new token, which proves to be it."""

    bot: Bot
    token: str


class BotMatches(NamedTuple):
    """A bot and its rated matches, all games together."""

    bot: Bot
    matches: int
    version: str = ""
    """The newest it played as."""


def register(
    connection: Connection,
    name: str,
    owner: str,
    at: int,
    invitation: str = "",
    by_invitation: bool = False,
    most: int | None = None,
    token: str = "",
) -> Registered:
    """Registers a bot at the instant `at`; without an owner it is its own.

    An invitation, which must be given where registration is `by_invitation`, is used up, and its owner goes before.
    `most` is how many bots an owner may have. A bot that chose its `token` before may be registered with it again,
    which changes nothing. NameNotAllowed, NameTaken, TokenNotAllowed, InvitationRefused, TooManyBots.
    """
    _check(name)
    _check(owner or name)
    if token and (registered := _chosen(connection, name, token)) is not None:
        return Registered(registered, token)
    if by_invitation and not invitation:
        raise InvitationRefused("registration here is by invitation; ask the server's operator for one")
    if invitation:
        owner = _inviter(connection, invitation)
    holder = connection.scalar(select(schema.bots.c.name).where(schema.bots.c.key == name.lower()))
    if holder is not None:
        raise NameTaken(name, holder)
    owner = owner or name
    if most is not None and _owned(connection, owner) >= most:
        raise TooManyBots(owner, most)
    token = token or _new_token()
    bot = _add(connection, name, owner, at, token_hash=_hash(token))
    if invitation:
        invited = schema.invitations.c.code_hash == _hash(invitation)
        connection.execute(update(schema.invitations).where(invited).values(used_by=bot.id))
    return Registered(bot, token)


def invite(connection: Connection, owner: str, at: int) -> str:
    """A new invitation, good for one bot of that owner; shown this once. NameNotAllowed."""
    _check(owner)
    code = f"invitation_{token_urlsafe(24)}"
    connection.execute(insert(schema.invitations).values(code_hash=_hash(code), owner=owner, created=at))
    return code


def authenticate(connection: Connection, token: str) -> Bot:
    """The bot of a token; UnknownToken if there is none."""
    # No comparison of secrets here that could tell by its time how much of a guess is right: what is looked up is the
    # SHA-256 of the guess, and nobody can choose guesses whose hashes come closer and closer to a stored one.
    row = connection.execute(select(schema.bots).where(schema.bots.c.token_hash == _hash(token))).one_or_none()
    if row is None:
        raise UnknownToken
    return bot_of(row)


def known(connection: Connection, name: str) -> Bot:
    """The bot of a name, whatever its capitals; UnknownBot."""
    row = connection.execute(select(schema.bots).where(schema.bots.c.key == name.lower())).one_or_none()
    if row is None:
        raise UnknownBot(name)
    return bot_of(row)


def find(connection: Connection, name: str) -> Bot:
    """The bot of a name, which is not the server's own. UnknownBot, OfTheHouse."""
    bot = known(connection, name)
    if bot.house:
        raise OfTheHouse(bot.name)
    return bot


def rotate(connection: Connection, name: str) -> Registered:
    """A new token for a bot, shown this once; its old one is no longer known. UnknownBot, OfTheHouse."""
    bot, token = find(connection, name), _new_token()
    connection.execute(update(schema.bots).where(schema.bots.c.id == bot.id).values(token_hash=_hash(token)))
    return Registered(bot, token)


def revoke(connection: Connection, name: str) -> Bot:
    """A bot's token is no longer known; `rotate` gives it a new one. UnknownBot, OfTheHouse."""
    bot = find(connection, name)
    connection.execute(update(schema.bots).where(schema.bots.c.id == bot.id).values(token_hash=None))
    return bot


def ensure_house_bots(connection: Connection, names: Iterable[str], at: int) -> tuple[Bot, ...]:
    """The house bots of these names ("house-…"), in their order; those that are not known yet are added."""
    bots = []
    for name in names:
        if not name.startswith(f"{HOUSE}-"):
            raise NameNotAllowed(name, f"house bots' names begin with '{HOUSE}-'")
        row = connection.execute(select(schema.bots).where(schema.bots.c.key == name.lower())).one_or_none()
        bots.append(_add(connection, name, HOUSE, at, token_hash=None) if row is None else bot_of(row))
    return tuple(bots)


def list_bots(connection: Connection) -> tuple[BotMatches, ...]:
    """All bots, by name."""
    played = func.coalesce(func.sum(schema.ratings.c.matches), 0)
    newest = select(schema.versions.c.version).where(schema.versions.c.bot_id == schema.bots.c.id)
    newest = newest.order_by(schema.versions.c.id.desc()).limit(1).correlate(schema.bots)
    version = func.coalesce(newest.scalar_subquery(), "")
    rows = connection.execute(
        select(schema.bots, played.label("matches"), version.label("version"))
        .select_from(schema.bots.outerjoin(schema.versions).outerjoin(schema.ratings))
        .group_by(schema.bots.c.id)
        .order_by(schema.bots.c.key)
    )
    return tuple(BotMatches(bot_of(row), row.matches, row.version) for row in rows)


def _add(connection: Connection, name: str, owner: str, at: int, token_hash: bytes | None) -> Bot:
    house = token_hash is None
    row = {"name": name, "key": name.lower(), "owner": owner, "house": int(house), "registered": at}
    added = connection.execute(insert(schema.bots).values(**row, token_hash=token_hash).returning(schema.bots.c.id))
    return Bot(BotId(added.scalar_one()), name, owner, house, at)


def _new_token() -> str:
    return f"arena_{token_urlsafe(32)}"


def _chosen(connection: Connection, name: str, token: str) -> Bot | None:
    """The bot of this name that has the token; None where nobody has it."""
    if not _TOKEN.fullmatch(token):
        raise TokenNotAllowed("the token is not allowed: 'arena_' and 32 random bytes in base64url, 43 characters")
    try:
        bot = authenticate(connection, token)
    except UnknownToken:
        return None
    if bot.name.lower() != name.lower():
        raise TokenNotAllowed("the token is not allowed: another bot has it; make one of 32 random bytes")
    return bot


def _owned(connection: Connection, owner: str) -> int:
    """How many bots an owner has, whatever the capitals of its name."""
    same = func.lower(schema.bots.c.owner) == owner.lower()
    return connection.scalar(select(func.count()).where(same)) or 0


def _inviter(connection: Connection, code: str) -> str:
    """The owner of an unused invitation."""
    invitations = schema.invitations.c
    row = connection.execute(
        select(invitations.owner, invitations.used_by).where(invitations.code_hash == _hash(code))
    ).one_or_none()
    if row is None:
        raise InvitationRefused("there is no such invitation; check it, or ask the server's operator for another")
    if row.used_by is not None:
        raise InvitationRefused(f"{row.owner}'s invitation was used already; ask the server's operator for another")
    return str(row.owner)


def _check(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise NameNotAllowed(name, "1 to 40 letters, digits, '.', '_' or '-', beginning with a letter or digit")
    if name.lower() == HOUSE or name.lower().startswith(f"{HOUSE}-"):
        raise NameNotAllowed(name, f"'{HOUSE}' and names beginning with '{HOUSE}-' are the server's own")


def _hash(secret: str) -> bytes:
    return sha256(secret.encode(errors="surrogatepass")).digest()


def bot_of(row: Row[Any]) -> Bot:
    """The bot of a row of the table of bots."""
    troubles = tuple(json.loads(row.troubles))
    return Bot(row.id, row.name, row.owner, bool(row.house), row.registered, troubles, row.parked, row.forgiven)
