"""Bots: names, tokens and invitations."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from sqlalchemy import Connection

from arena.store.base.errors import (
    InvitationRefused,
    NameNotAllowed,
    NameTaken,
    StoreLocked,
    StoreUnusable,
    TokenNotAllowed,
    UnknownToken,
)
from arena.store.bots import bots
from arena.store.bots.bots import Bot, BotId
from arena.store.opening import open_readonly, open_to_amend
from arena.store.store import open_store
from tests.store.jobs import NOW, add_bots, begin, finish


def test_a_registered_bot_proves_itself_with_its_token(data: Path) -> None:
    with open_to_amend(data) as connection:
        ada = bots.register(connection, "Ada-2.0_x", "Lovelace", NOW)
        bob = bots.register(connection, "Bob", "", NOW)
    assert ada.bot == Bot(BotId(1), "Ada-2.0_x", "Lovelace", False, NOW)
    assert bob.bot.owner == "Bob"
    with open_readonly(data) as connection:
        assert bots.authenticate(connection, ada.token) == ada.bot
        assert bots.authenticate(connection, bob.token) == bob.bot


def test_tokens_are_long_and_never_the_same(data: Path) -> None:
    with open_to_amend(data) as connection:
        tokens = {bots.register(connection, f"bot{number}", "", NOW).token for number in range(20)}
    assert len(tokens) == 20
    assert all(token.startswith("arena_") and len(token) == 6 + 43 for token in tokens)  # 43 characters are 256 bits
    assert all(token.replace("-", "").replace("_", "").isalnum() for token in tokens)


@pytest.mark.sqlite_only("it reads the database's file")
async def test_neither_token_nor_invitation_is_anywhere_in_the_files(directory: Path) -> None:
    async with open_store(directory, NOW) as store:
        code = await store.write(lambda connection: bots.invite(connection, "Lovelace", NOW))
        token = (await store.write(lambda connection: bots.register(connection, "Ada", "", NOW, code))).token
        files = {file.name: file.read_bytes() for file in directory.rglob("*") if file.is_file()}
    files["closed"] = (directory / "arena.db").read_bytes()
    assert b"Lovelace" in files["arena.db-wal"]
    assert b"Lovelace" in files["closed"]
    assert hashlib.sha256(token.encode()).digest() in files["closed"]
    for content in files.values():
        for secret in (token, token.removeprefix("arena_"), code, code.removeprefix("invitation_")):
            assert secret.encode() not in content


@pytest.mark.parametrize("token", ["", "arena_", "arena_" + "A" * 43, "arena_\udcff", "' OR 1=1 --"])
def test_an_unknown_token_is_refused(data: Path, token: str) -> None:
    with open_to_amend(data) as connection:
        bots.ensure_house_bots(connection, ["house-1"], NOW)
        with pytest.raises(UnknownToken, match="register the bot"):
            bots.authenticate(connection, token)


CHOSEN = "arena_" + "A-_z" * 10 + "123"


def test_a_bot_that_chose_its_token_may_register_again(data: Path) -> None:
    with open_to_amend(data) as connection:
        code = bots.invite(connection, "Lovelace", NOW)
        first = bots.register(connection, "Ada", "", NOW, code, by_invitation=True, bots_per_owner=1, token=CHOSEN)
        assert first.token == CHOSEN
        assert bots.authenticate(connection, CHOSEN) == first.bot
        again = bots.register(connection, "aDA", "", NOW + 1, code, by_invitation=True, bots_per_owner=1, token=CHOSEN)
        assert again == first
        assert len(bots.list_bots(connection)) == 1
        with pytest.raises(NameTaken):
            bots.register(connection, "Ada", "", NOW, token=CHOSEN[:-1] + "4")


def test_nobody_registers_with_the_token_of_another(data: Path) -> None:
    with open_to_amend(data) as connection:
        bots.register(connection, "Ada", "", NOW, token=CHOSEN)
        with pytest.raises(TokenNotAllowed, match="another bot has it") as caught:
            bots.register(connection, "Bob", "", NOW, token=CHOSEN)
        assert CHOSEN not in str(caught.value)
        bots.revoke(connection, "Ada")
        with pytest.raises(NameTaken):
            bots.register(connection, "Ada", "", NOW, token=CHOSEN)


@pytest.mark.parametrize("token", ["arena_", "secret", CHOSEN + "4", CHOSEN[:-1], CHOSEN[:-1] + "ä", CHOSEN + "\n"])
def test_a_token_that_is_not_allowed(data: Path, token: str) -> None:
    with open_to_amend(data) as connection:
        with pytest.raises(TokenNotAllowed, match="43 characters"):
            bots.register(connection, "Ada", "", NOW, token=token)
        assert bots.list_bots(connection) == ()


def test_a_name_is_taken_whatever_its_capitals(data: Path) -> None:
    with open_to_amend(data) as connection:
        bots.register(connection, "Ada", "", NOW)
        with pytest.raises(NameTaken, match="'aDA' is taken by 'Ada'; choose another") as caught:
            bots.register(connection, "aDA", "", NOW)
    assert (caught.value.name, caught.value.holder) == ("aDA", "Ada")


@pytest.mark.parametrize(
    "name",
    ["", "-ada", ".ada", "_ada", "a da", "ada!", "adä", "ada\n", "a" * 41, "house-x", "HOUSE-x", "house", "House", "٣"],
)
def test_a_name_that_is_not_allowed(data: Path, name: str) -> None:
    with open_to_amend(data) as connection:
        with pytest.raises(NameNotAllowed) as caught:
            bots.register(connection, name, "", NOW)
        assert caught.value.name == name
        if name:  # without an owner, the bot is its own owner
            with pytest.raises(NameNotAllowed):
                bots.register(connection, "fine", name, NOW)
        with pytest.raises(NameNotAllowed):
            bots.invite(connection, name, NOW)
        assert bots.list_bots(connection) == ()


@pytest.mark.parametrize("name", ["a", "7", "a" * 40, "A.b_c-d", "housekeeper", "ho-use"])
def test_a_name_that_is_allowed(data: Path, name: str) -> None:
    with open_to_amend(data) as connection:
        assert bots.register(connection, name, name, NOW).bot.name == name


def test_by_invitation_only(data: Path) -> None:
    with open_to_amend(data) as connection:
        code = bots.invite(connection, "Lovelace", NOW)
        with pytest.raises(InvitationRefused, match="by invitation"):
            bots.register(connection, "Ada", "", NOW, by_invitation=True)
        with pytest.raises(InvitationRefused, match="no such invitation"):
            bots.register(connection, "Ada", "", NOW, "invitation_nonsense", by_invitation=True)
        assert bots.list_bots(connection) == ()
        assert bots.register(connection, "Ada", "Somebody", NOW, code, by_invitation=True).bot.owner == "Lovelace"
        with pytest.raises(InvitationRefused, match="Lovelace's invitation was used already"):
            bots.register(connection, "Ada2", "", NOW, code, by_invitation=True)


def test_an_invitation_is_not_used_up_by_a_registration_that_fails(data: Path) -> None:
    with open_to_amend(data) as connection:
        bots.register(connection, "Ada", "", NOW)
        code = bots.invite(connection, "Lovelace", NOW)
        with pytest.raises(NameTaken):
            bots.register(connection, "Ada", "", NOW, code)
        assert bots.register(connection, "Ada2", "", NOW, code).bot.owner == "Lovelace"


async def test_nobody_amends_what_a_server_works_on(directory: Path) -> None:
    async with open_store(directory, NOW):
        with pytest.raises(StoreLocked), open_to_amend(directory):
            pass


async def test_the_operator_token_is_made_once_and_is_for_the_operator_alone(directory: Path) -> None:
    async with open_store(directory, NOW) as store:
        first = store.operator_token
    assert (directory / "operator.token").read_text() == first
    assert (directory / "operator.token").stat().st_mode & 0o777 == 0o600
    async with open_store(directory, NOW) as store:
        assert store.operator_token == first


@pytest.mark.sqlite_only("the directory exists already")
async def test_an_operator_token_that_cannot_be_read_is_named(directory: Path) -> None:
    directory.mkdir(mode=0o700)
    (directory / "operator.token").mkdir()
    with pytest.raises(StoreUnusable, match=r"operator\.token"):
        async with open_store(directory, NOW):
            pass


def test_house_bots_are_added_once_and_come_in_the_order_asked_for(data: Path) -> None:
    with open_to_amend(data) as connection:
        first = bots.ensure_house_bots(connection, ["house-a", "house-b"], NOW)
        again = bots.ensure_house_bots(connection, ["house-c", "house-b", "house-a"], NOW + 1)
        assert again[1:] == (first[1], first[0])
        assert all(bot.house and bot.owner == bots.HOUSE for bot in again)
        with pytest.raises(NameNotAllowed, match="begin with 'house-'"):
            bots.ensure_house_bots(connection, ["ada"], NOW)


def test_bots_are_listed_by_name_with_their_matches(data: Path) -> None:
    def listed(connection: Connection) -> list[tuple[str, int]]:
        return [(bot.name, bot.matches) for bot in bots.list_bots(connection)]

    with open_to_amend(data) as connection:
        zoe, ada, bob = add_bots(connection, "zoe", "Ada", "bob")
        for game, players in [("whist", [zoe, ada]), ("whist", [zoe, ada]), ("skat", [ada, zoe])]:
            finish(connection, begin(connection, players, game), [1, 2])
        begin(connection, [bob, zoe])
        assert listed(connection) == [("Ada", 3), ("bob", 0), ("zoe", 3)]


@pytest.mark.parametrize("name", ["server", "Admin", "ARENA", "operator"])
def test_names_of_those_who_run_a_server_are_reserved(data: Path, name: str) -> None:
    with open_to_amend(data) as connection:
        for bot, owner in ((name, ""), ("Ada", name)):
            with pytest.raises(NameNotAllowed, match="is reserved"):
                bots.register(connection, bot, owner, NOW)
        code = bots.invite(connection, name, NOW)
        assert bots.register(connection, "Ada", "", NOW, code).bot.owner == name
