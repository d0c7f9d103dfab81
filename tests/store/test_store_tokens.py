"""Tokens that are replaced or revoked, and the maximum number of an owner's bots."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError

from arena.store import schema
from arena.store.base.errors import OfTheHouse, TooManyBots, UnknownBot, UnknownToken
from arena.store.bots import bots
from arena.store.opening import open_to_amend
from tests.store.jobs import NOW

OWNER = "she-who-must-not-be-named"


def test_a_new_token_is_of_256_bits_and_the_old_one_is_dead(data: Path) -> None:
    with open_to_amend(data) as connection:
        old = bots.register(connection, "Ada", "", NOW).token
        new = bots.rotate(connection, "aDa").token
        assert bots.authenticate(connection, new).name == "Ada"
        with pytest.raises(UnknownToken):
            bots.authenticate(connection, old)
    assert len(new) == len("arena_") + 43  # 43 characters of 6 bits contain at least 256 bits
    assert new != old


def test_a_revoked_token_is_dead_until_the_bot_is_given_a_new_one(data: Path) -> None:
    with open_to_amend(data) as connection:
        old = bots.register(connection, "Ada", "", NOW).token
        assert bots.revoke(connection, "Ada").name == "Ada"
        assert bots.revoke(connection, "Ada").name == "Ada"
        for guess in (old, "", "None"):
            with pytest.raises(UnknownToken):
                bots.authenticate(connection, guess)
        assert bots.authenticate(connection, bots.rotate(connection, "Ada").token).name == "Ada"


def test_strangers_and_house_bots_have_no_token(data: Path) -> None:
    with open_to_amend(data) as connection:
        bots.ensure_house_bots(connection, ["house-1"], NOW)
        for change in (bots.rotate, bots.revoke):
            with pytest.raises(UnknownBot):
                change(connection, "Eve")
            with pytest.raises(OfTheHouse):
                change(connection, "house-1")


def test_an_owner_has_so_many_bots_and_no_more_invited_or_not(data: Path) -> None:
    with open_to_amend(data) as connection:
        for name in ("Ada-1", "Ada-2"):
            bots.register(connection, name, "Ada", NOW, bots_per_owner=2)
        for owner in ("Ada", "ADA"):
            with pytest.raises(TooManyBots, match="2 bots, and more are not allowed here") as caught:
                bots.register(connection, "Ada-3", owner, NOW, bots_per_owner=2)
            assert (caught.value.owner, caught.value.bots_per_owner) == (owner, 2)
        code = bots.invite(connection, "Ada", NOW)
        with pytest.raises(TooManyBots):
            bots.register(connection, "Ada-3", "", NOW, invitation=code, by_invitation=True, bots_per_owner=2)
        assert bots.register(connection, "Bob", "", NOW, bots_per_owner=2).bot.owner == "Bob"


def test_errors_of_the_database_show_no_parameters(data: Path) -> None:
    """Errors are logged, and their parameters contain hashes of tokens and files with seeds."""
    with open_to_amend(data) as connection:
        bots.register(connection, "Ada", "", NOW)
        again = insert(schema.bots).values(name="Ada", key="ada", owner=OWNER, house=0, registered=NOW)
        with pytest.raises(IntegrityError) as caught:
            connection.execute(again)
        assert "UNIQUE" in str(caught.value).upper()
        assert OWNER not in str(caught.value)
