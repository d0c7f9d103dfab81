"""Moderation: the operator's decisions about bots and owners take effect, and are appended to a list."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from arena.store import schema
from arena.store.base.errors import (
    BotDeleted,
    NameNotAllowed,
    NameTaken,
    NothingToChange,
    OfTheHouse,
    OwnerBanned,
    ReasonNotAllowed,
    UnknownBot,
    UnknownToken,
)
from arena.store.base.rows import BotEventKind, BotEventRow, instant
from arena.store.bots import bots
from arena.store.bots.bots import HOUSE
from arena.store.ladder.standings import history, standings
from arena.store.matches import matches
from arena.store.moderation import moderation, parking
from arena.store.opening import open_readonly, open_to_amend
from tests.store.jobs import GAME, NOW, begin, finish

CHOSEN = "arena_" + "A-_z" * 10 + "123"


def happened(connection: Connection) -> list[tuple[BotEventKind, str, str]]:
    """Return the events, oldest first."""
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
        assert third == BotEventRow(3, instant(NOW + 3), BotEventKind.BANNED, "eve-3", None, "")
        assert second.number == 2
        assert [event.name for event in moderation.list_events(connection, before=2)] == ["eve-1"]


@pytest.mark.sqlite_only("it is SQLite's own SQL")
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


def played(connection: Connection) -> str:
    """Register Ada of Lovelace by invitation and let her beat Bob. Return her token."""
    code = bots.invite(connection, "Lovelace", NOW)
    ada = bots.register(connection, "Ada", "", NOW, invitation=code)
    bob = bots.register(connection, "Bob", "", NOW)
    finish(connection, begin(connection, [ada.bot.id, bob.bot.id]), [1, 2])
    return ada.token


def test_a_hidden_bot_is_not_listed_and_its_results_say_so_and_not_whose_it_is(data: Path) -> None:
    with open_to_amend(data) as connection:
        token = played(connection)
        assert moderation.hide(connection, "ada", "a probe", NOW).name == "Ada"
        assert [row.name for row in bots.list_bots(connection)] == ["Bob"]
        assert bots.authenticate(connection, token).hidden
        first, second = standings(connection, GAME)
        assert (first.bot, first.owner, first.hidden, first.deleted) == ("Ada", "", True, False)
        assert (second.bot, second.owner, second.hidden) == ("Bob", "Bob", False)
        assert [(seat.bot, seat.hidden) for seat in matches.get_match(connection, 1).seats] == [
            ("Ada", True),
            ("Bob", False),
        ]
        moderation.show(connection, "ADA", "", NOW)
        assert [row.name for row in bots.list_bots(connection)] == ["Ada", "Bob"]
        assert standings(connection, GAME)[0].owner == "Lovelace"
        assert happened(connection) == [(BotEventKind.HIDDEN, "Ada", "a probe"), (BotEventKind.SHOWN, "Ada", "")]


def test_a_deleted_bot_is_gone_from_the_list_and_its_results_say_so(data: Path) -> None:
    with open_to_amend(data) as connection:
        token = played(connection)
        before = standings(connection, GAME)
        assert moderation.delete(connection, "ada", "as she wished", NOW).owner == "Lovelace"
        assert [row.name for row in bots.list_bots(connection)] == ["Bob"]
        with pytest.raises(UnknownToken):
            bots.authenticate(connection, token)
        after = standings(connection, GAME)
        assert [(row.bot, row.live, row.matches) for row in after] == [
            (row.bot, row.live, row.matches) for row in before
        ], "results count as before"
        assert [(row.owner, row.deleted) for row in after] == [("", True), ("Bob", False)]
        assert [(seat.bot, seat.deleted) for seat in matches.get_match(connection, 1).seats] == [
            ("Ada", True),
            ("Bob", False),
        ]
        assert [match.match_id for match in matches.list_matches(connection, bot="ada")] == [1]
        assert len(history(connection, "ADA", GAME)) == 1
        assert happened(connection) == [(BotEventKind.DELETED, "Ada", "as she wished")]


def test_nothing_but_the_name_of_a_deleted_bot_is_left(data: Path) -> None:
    with open_to_amend(data) as connection:
        token = played(connection)
        moderation.delete(connection, "Ada", "", NOW)
        left = [
            value
            for table in schema.metadata.sorted_tables
            for row in connection.execute(select(table))
            for value in row
            if value in ("Lovelace", sha256(token.encode()).digest())
        ]
        assert left == []
        for name in ("Ada", "aDA"):
            with pytest.raises(NameTaken, match="is taken"):
                bots.register(connection, name, "", NOW)


def test_the_owner_of_a_deleted_bot_has_room_for_another(data: Path) -> None:
    with open_to_amend(data) as connection:
        bots.register(connection, "Ada", "Lovelace", NOW, bots_per_owner=1)
        moderation.delete(connection, "Ada", "", NOW)
        assert bots.register(connection, "Ada2", "Lovelace", NOW, bots_per_owner=1)


def test_a_deleted_bot_is_not_changed_any_more(data: Path) -> None:
    with open_to_amend(data) as connection:
        played(connection)
        moderation.delete(connection, "Ada", "", NOW)
        for change in (bots.rotate, bots.revoke, parking.unpark):
            with pytest.raises(BotDeleted, match="Ada was deleted: its results stay under this name"):
                change(connection, "ada")
        for decide in (moderation.hide, moderation.show, moderation.delete):
            with pytest.raises(BotDeleted):
                decide(connection, "ada", "", NOW)
        assert len(happened(connection)) == 1


def test_a_deleted_bot_is_not_parked_by_the_match_it_was_in(data: Path) -> None:
    with open_to_amend(data) as connection:
        played(connection)
        moderation.delete(connection, "Ada", "", NOW)
        assert parking.count(connection, 1, [True, True], 1, NOW) == (bots.find(connection, "Bob"),)


def test_what_cannot_be_decided_about_a_bot_is_named_and_is_no_event(data: Path) -> None:
    with open_to_amend(data) as connection:
        played(connection)
        bots.ensure_house_bots(connection, [f"{HOUSE}-1"], NOW)
        for decide in (moderation.hide, moderation.show, moderation.delete):
            with pytest.raises(UnknownBot):
                decide(connection, "Eve", "", NOW)
            with pytest.raises(OfTheHouse):
                decide(connection, f"{HOUSE}-1", "", NOW)
        with pytest.raises(NothingToChange, match="Ada is not hidden"):
            moderation.show(connection, "ada", "", NOW)
        assert happened(connection) == []
        moderation.hide(connection, "ada", "", NOW)
        with pytest.raises(NothingToChange, match="Ada is hidden"):
            moderation.hide(connection, "ada", "", NOW)


def test_a_renamed_bot_keeps_its_token_and_its_results_under_the_new_name(data: Path) -> None:
    with open_to_amend(data) as connection:
        token = played(connection)
        assert moderation.rename(connection, "ada", "Countess", "she asked", NOW).name == "Countess"
        bot = bots.authenticate(connection, token)
        assert (bot.name, bot.owner) == ("Countess", "Lovelace")
        assert [row.name for row in bots.list_bots(connection)] == ["Bob", "Countess"]
        assert standings(connection, GAME)[0].bot == "Countess"
        assert matches.get_match(connection, 1).seats[0].bot == "Countess"
        assert happened(connection) == [(BotEventKind.RENAMED, "Ada", "she asked")]
        assert [event.new_name for event in moderation.list_events(connection)] == ["Countess"]


def test_the_old_name_still_finds_the_bot(data: Path) -> None:
    with open_to_amend(data) as connection:
        played(connection)
        moderation.rename(connection, "Ada", "Countess", "", NOW)
        for name in ("ada", "COUNTESS"):
            assert bots.find(connection, name).name == "Countess"
            assert [match.match_id for match in matches.list_matches(connection, bot=name)] == [1]
            assert len(history(connection, name, GAME)) == 1


def test_a_name_that_a_bot_has_had_is_never_given_to_another(data: Path) -> None:
    with open_to_amend(data) as connection:
        played(connection)
        moderation.rename(connection, "Ada", "Countess", "", NOW)
        moderation.rename(connection, "Countess", "Augusta", "", NOW)
        for name in ("Ada", "aDA", "Countess", "augusta"):
            with pytest.raises(NameTaken, match="is taken by 'Augusta'; choose another"):
                bots.register(connection, name, "", NOW)
            with pytest.raises(NameTaken):
                moderation.rename(connection, "Bob", name, "", NOW)
        with pytest.raises(NameTaken, match="is taken by 'Bob'"):
            moderation.rename(connection, "Augusta", "BOB", "", NOW)


def test_a_bot_may_have_its_own_name_back_or_in_other_capitals(data: Path) -> None:
    with open_to_amend(data) as connection:
        played(connection)
        for name, new_name in (("Ada", "Countess"), ("Countess", "ADA"), ("ada", "Ada")):
            assert moderation.rename(connection, name, new_name, "", NOW).name == new_name
        assert [row.name for row in bots.list_bots(connection)] == ["Ada", "Bob"]


def test_a_name_that_is_none_is_not_given_to_a_bot(data: Path) -> None:
    with open_to_amend(data) as connection:
        played(connection)
        bots.ensure_house_bots(connection, [f"{HOUSE}-1"], NOW)
        for new_name in ("", "a b", "house-ada"):
            with pytest.raises(NameNotAllowed):
                moderation.rename(connection, "Ada", new_name, "", NOW)
        with pytest.raises(NothingToChange, match="nothing to change: Ada is its name"):
            moderation.rename(connection, "ada", "Ada", "", NOW)
        with pytest.raises(UnknownBot):
            moderation.rename(connection, "Eve", "Eva", "", NOW)
        with pytest.raises(OfTheHouse):
            moderation.rename(connection, f"{HOUSE}-1", "Eva", "", NOW)
        moderation.delete(connection, "Ada", "", NOW)
        with pytest.raises(BotDeleted):
            moderation.rename(connection, "Ada", "Eva", "", NOW)
        assert len(happened(connection)) == 1
