"""Moderation: what the operator decides about bots and owners takes effect, and is in a list that is only added to."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Connection, delete, insert, update
from sqlalchemy.exc import IntegrityError

from arena.store import bots, moderation, schema
from arena.store.errors import (
    NameNotAllowed,
    NothingToChange,
    OwnerBanned,
    ReasonNotAllowed,
)
from arena.store.rows import BotEventKind, BotEventRow, instant
from arena.store.store import open_readonly, open_store, open_to_amend
from tests.store.jobs import NOW
from tests.store.older import older_database

CHOSEN = "arena_" + "A-_z" * 10 + "123"


def happened(connection: Connection) -> list[tuple[BotEventKind, str, str]]:
    """The events, the oldest first."""
    return [(event.kind, event.name, event.reason) for event in reversed(moderation.list_events(connection))]


def test_a_banned_owner_has_no_bot_that_may_come_in_and_gets_no_other(data: Path) -> None:
    with open_to_amend(data) as connection:
        code = bots.invite(connection, "Eve", NOW)
        eve = bots.register(connection, "eve-1", "Eve", NOW, token=CHOSEN)
        bob = bots.register(connection, "bob", "", NOW)
        assert moderation.ban(connection, "eVE", "a ring", NOW) == "eVE is banned: a ring"
        refusals = (
            lambda: bots.authenticate(connection, eve.token),
            lambda: bots.register(connection, "eve-1", "Eve", NOW, token=CHOSEN),
            lambda: bots.register(connection, "eve-2", "EVE", NOW),
            lambda: bots.register(connection, "eve", "", NOW),
            lambda: bots.register(connection, "eve-2", "", NOW, invitation=code),
            lambda: bots.invite(connection, "Eve", NOW),
        )
        for refusal in refusals:
            with pytest.raises(OwnerBanned, match=r"(?i)eve is banned: a ring; only the server's operator can change"):
                refusal()
        assert bots.authenticate(connection, bob.token) == bob.bot
        assert {row.name: row.banned for row in bots.list_bots(connection)} == {
            "bob": "",
            "eve-1": "Eve is banned: a ring",
        }
        moderation.unban(connection, "EVE", "", NOW)
        assert bots.authenticate(connection, eve.token) == eve.bot
        assert bots.register(connection, "eve-2", "", NOW, invitation=code).bot.owner == "Eve"
        assert all(row.banned == "" for row in bots.list_bots(connection))


def test_a_ban_without_a_reason_bans(data: Path) -> None:
    with open_to_amend(data) as connection:
        eve = bots.register(connection, "eve", "", NOW)
        assert moderation.ban(connection, "eve", "", NOW) == "eve is banned"
        with pytest.raises(OwnerBanned, match="eve is banned; only"):
            bots.authenticate(connection, eve.token)


def test_what_changes_nothing_is_refused_and_is_no_event(data: Path) -> None:
    with open_to_amend(data) as connection:
        with pytest.raises(NothingToChange, match="nothing to change: eve is not banned"):
            moderation.unban(connection, "eve", "", NOW)
        moderation.ban(connection, "eve", "", NOW)
        with pytest.raises(NothingToChange, match="nothing to change: Eve is banned"):
            moderation.ban(connection, "Eve", "again", NOW)
        with pytest.raises(NameNotAllowed):
            moderation.ban(connection, "house", "", NOW)
        assert happened(connection) == [(BotEventKind.BANNED, "eve", "")]


@pytest.mark.parametrize("reason", ["a" * 201, "two\nlines", " "])
def test_a_reason_that_nobody_could_read_is_refused_with_all_it_was_for(data: Path, reason: str) -> None:
    with pytest.raises(ReasonNotAllowed), open_to_amend(data) as connection:
        moderation.ban(connection, "eve", reason, NOW)
    with open_readonly(data) as connection:
        assert bots.why_banned(connection, "eve") == ""
        assert happened(connection) == []


def test_events_are_listed_newest_first_in_pages(data: Path) -> None:
    with open_to_amend(data) as connection:
        for number in range(1, 4):
            moderation.ban(connection, f"eve-{number}", "", NOW + number)
        third, second = moderation.list_events(connection, limit=2)
        assert third == BotEventRow(3, instant(NOW + 3), BotEventKind.BANNED, "eve-3", "")
        assert second.number == 2
        assert [event.name for event in moderation.list_events(connection, before=2)] == ["eve-1"]


def test_the_database_itself_refuses_to_change_what_the_operator_did(data: Path) -> None:
    with open_to_amend(data) as connection:
        moderation.ban(connection, "eve", "a ring", NOW)
    row = {"at": NOW, "kind": "unbanned", "name": "eve", "reason": ""}
    for statement, why in (
        (update(schema.bot_events).values(reason="none"), "only added"),
        (delete(schema.bot_events), "only added"),
        (insert(schema.bot_events).values(**row, number=3), "without a gap"),
        (insert(schema.bot_events).values(**row, number=1).prefix_with("OR REPLACE"), "without a gap"),
        (insert(schema.bot_events).values(**{**row, "kind": "praised"}, number=2), "CHECK"),
    ):
        with pytest.raises(IntegrityError, match=why), open_to_amend(data) as connection:
            connection.execute(statement)
    with open_readonly(data) as connection:
        assert happened(connection) == [(BotEventKind.BANNED, "eve", "a ring")]


async def test_in_an_older_database_nobody_is_banned_and_nothing_was_done(directory: Path) -> None:
    with older_database(directory, "0004") as database:
        database.execute("INSERT INTO bots (name, key, owner, house, registered) VALUES ('Ada', 'ada', 'Eve', 0, 1)")
    async with open_store(directory, NOW):
        pass
    with open_readonly(directory) as connection:
        (ada,) = bots.list_bots(connection)
        assert (ada.name, ada.banned) == ("Ada", "")
        assert happened(connection) == []
