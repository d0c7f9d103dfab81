"""Ladders in the store: data of one ladder never affects another, even on the same game."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select, update

from arena.ladder.ladder import Quota
from arena.log.leaf import decode_leaf
from arena.store import schema
from arena.store.base.errors import (
    EntryRefused,
    InvitationNotAllowed,
    InvitationRefused,
    LadderOfOtherGame,
    NameNotAllowed,
    NoLadderNamed,
    NoSuchInvitation,
    NoSuchLadder,
    NoSuchSeason,
    NothingToChange,
    NotParked,
)
from arena.store.base.rows import InvitationRow, instant
from arena.store.bots import bots, entry, paces
from arena.store.bots.bots import BotId
from arena.store.bots.entry import NewInvitations
from arena.store.ladder import baselines, events, seasons
from arena.store.ladder.fits import Fits
from arena.store.ladder.opponents import opponents
from arena.store.ladder.publishing import publish
from arena.store.ladder.rebuild import verify
from arena.store.ladder.standings import history, standings
from arena.store.ladder.version_standings import version_standings
from arena.store.log.audit import audit
from arena.store.matches import matches
from arena.store.matches.search import MatchFilter, search
from arena.store.moderation import parking
from arena.store.opening import open_to_amend
from tests.store.jobs import GAME, NOW, add_bots, finish

LADDERS = (GAME, "slow", "slow/2")
KEYED = (
    *(schema.matches, schema.rated_results, schema.ratings, schema.pair_days, schema.baselines),
    *(schema.ladders, schema.standings, schema.kept_ladders, schema.flags),
)
NAMED = (schema.invitations, schema.bot_ladders, schema.paces, schema.seasons, schema.events)
QUOTA = Quota(1, 0, 0)


def stored(connection: Connection, ladder_id: str) -> dict[str, Sequence[Any]]:
    """Return the stored data of a ladder, and the results of its queries."""
    found: dict[str, Sequence[Any]] = {
        table.name: connection.execute(select(table).where(table.c.ladder == ladder_id)).all() for table in KEYED
    }
    pages: dict[str, Callable[..., Sequence[Any]]] = {
        "history": history,
        "opponents": opponents,
        "versions": version_standings,
    }
    found |= {name: page(connection, "ann", ladder_id) for name, page in pages.items()}
    found["live"] = standings(connection, ladder_id)
    found["voided"] = sorted(events.voided(connection, ladder_id, 0, 100))
    found["missing"] = baselines.missing(connection, ladder_id, 9)
    for seats in (0, 2):  # by ladder alone, and by ladder and table size
        wanted = MatchFilter(ladder_id=ladder_id, seats=seats)
        found[f"search {seats}"] = search(connection, wanted).matches
        assert len(found[f"search {seats}"]) == len(found["matches"])
    return found


def evening(connection: Connection, fits: Fits, ladder_id: str, players: list[BotId]) -> None:
    """Store three results, one without a baseline and one annulled, and publish a ladder with a flag."""
    named = "" if ladder_id == GAME else ladder_id
    played = [matches.begin(connection, GAME, {}, players, NOW, ladder_id=named) for _ in range(3)]
    for match_id in played:
        finish(connection, match_id, [1, 2], quota=QUOTA)
    for match_id in played[:2]:
        baselines.add(connection, ladder_id, match_id, "house-a 1", [3, -3])
    assert matches.void(connection, played[1], "a test", NOW + 2) == ladder_id
    assert publish(connection, ladder_id, fits.ladder(connection, ladder_id), NOW + 3)
    flag = {"ladder": ladder_id, "number": 1, "kind": "lift", "node": 1, "matches": 3, "size": 0.5, "errors": 5.0}
    connection.execute(insert(schema.flags).values(flag))


def test_what_is_stored_for_a_ladder_leaves_the_others_alone(data: Path) -> None:
    fits = Fits(QUOTA)
    with open_to_amend(data) as connection:
        players = add_bots(connection, "ann", "bob")
        for ladder_id in LADDERS:
            others = {each: stored(connection, each) for each in LADDERS if each != ladder_id}
            evening(connection, fits, ladder_id, players)
            assert {each: stored(connection, each) for each in others} == others
            found = stored(connection, ladder_id)
            assert [name for name, rows in found.items() if not rows] == []
            assert [event.number for event in events.read(connection, ladder_id)] == [1, 2, 3, 4]
            assert verify(connection, ladder_id).identical
        digests = connection.scalars(select(schema.ladders.c.digest)).all()
        assert (len(digests), len({*digests})) == (3, 1), "each ladder began anew"


def test_every_table_with_a_ladder_is_looked_at() -> None:
    found = {table.name for table in schema.metadata.tables.values() if "ladder" in table.c}
    assert found == {table.name for table in (*KEYED, *NAMED)}


def test_a_season_is_a_new_id_under_the_old_name(data: Path) -> None:
    with open_to_amend(data) as connection:
        assert seasons.list_seasons(connection, "slow") == (("slow", 1, "slow", None),)
        assert seasons.begin(connection, "slow", NOW) == ("slow", 2, "slow/2", NOW)
        assert seasons.begin(connection, GAME, NOW).id == f"{GAME}/2"
        assert seasons.begin(connection, "slow", NOW + 1) == seasons.current(connection, "slow")
        assert [seasons.find(connection, "slow", number).id for number in (1, 2, 3)] == ["slow", "slow/2", "slow/3"]
        assert {seasons.name_of(each) for each in ("slow", "slow/2")} == {"slow"}
        for number in (0, 4):
            with pytest.raises(NoSuchSeason, match=f"no season {number}; its seasons are numbered from 1 to 3"):
                seasons.find(connection, "slow", number)


def test_game_ladder_and_season_name_one_season(data: Path) -> None:
    with open_to_amend(data) as connection:
        players = add_bots(connection, "ann", "bob")
        assert seasons.games_of(connection) == {}
        seasons.begin(connection, "slow", NOW)
        seasons.begin(connection, "other", NOW)
        for ladder_id in ("slow/2", "slow", GAME, "slow"):
            matches.begin(connection, GAME, {}, players, NOW, ladder_id=ladder_id)
        assert seasons.games_of(connection) == {GAME: GAME, "slow": GAME}
        known = seasons.games_of(connection) | {"other": "other"}
        assert seasons.resolve(connection, known, GAME).id == GAME
        assert seasons.resolve(connection, known, GAME, GAME, 1).id == GAME
        assert seasons.resolve(connection, known, ladder="slow").id == "slow/2"
        assert seasons.resolve(connection, known, GAME, "slow", 1).id == "slow"
        assert seasons.resolve(connection, known, "other", number=2).id == "other/2"
        for wanted, kind, text in (
            (("", "", 2), NoLadderNamed, "season 2 of which ladder"),
            (("", "slow/2", 0), NoSuchLadder, "no ladder 'slow/2'; there is "),
            (("other", "slow", 0), LadderOfOtherGame, f"the ladder slow is of {GAME}, not of other"),
            ((GAME, "", 2), NoSuchSeason, "numbered from 1 to 1"),
            (("", "slow", -1), NoSuchSeason, "no season -1"),
        ):
            with pytest.raises(kind, match=text):
                seasons.resolve(connection, known, *wanted)
        assert [seasons.named(each, GAME) for each in (GAME, f"{GAME}/3", "slow", "slow/2")] == [
            ("", 0),
            (GAME, 3),
            ("slow", 1),
            ("slow", 2),
        ]


def test_a_season_is_a_leaf_that_the_audit_compares(data: Path) -> None:
    with open_to_amend(data) as connection:
        seasons.begin(connection, "slow", NOW)
        number, leaf = connection.execute(select(schema.log.c.number, schema.log.c.leaf)).all()[-1]
        fields = {"name": "slow", "season": 2, "ladder": "slow/2"}
        assert decode_leaf(leaf.encode()) == {"log": 2, "number": number, "kind": "season", "at": NOW, **fields}
        before = audit(connection).faults
        assert not [fault for fault in before if "season" in fault.text]
        begun = update(schema.seasons)
        for column, value, fault in (("begun", 7, "at"), ("ladder", "fast", "name"), ("number", 3, "season")):
            with connection.begin_nested() as changed:
                connection.execute(begun.values({column: value}))
                [found] = [each for each in audit(connection).faults if each not in before]
                assert found.number == number
                assert f'for "{fault}", and the tables say {value!r}' in found.text
                changed.rollback()
        with connection.begin_nested() as changed:
            connection.execute(begun.values(id="slow/3"))
            unknown, missing = [each.text for each in audit(connection).faults if each not in before]
            assert unknown == "there is no season 'slow/2' that no other leaf tells of"
            assert missing == "no leaf tells of the beginning of the seasons slow/3"
            changed.rollback()


@pytest.mark.parametrize(
    ("new", "refusal", "why"),
    [
        (NewInvitations(), InvitationNotAllowed, "name one owner, or the beginning"),
        (NewInvitations("ann", "class-", 2), InvitationNotAllowed, "name one owner, or the beginning"),
        (NewInvitations("ann", count=2), InvitationNotAllowed, "name one owner, or the beginning"),
        (NewInvitations(prefix="class-"), InvitationNotAllowed, "0 invitations are not made at once; 1 to 1000 are"),
        (NewInvitations(prefix="class-", count=10**6), InvitationNotAllowed, "1000000 invitations are not made"),
        (NewInvitations("ann", expires=NOW), InvitationNotAllowed, "expires in the future"),
        (NewInvitations("ann", expires=10**18), InvitationNotAllowed, "before the year 10000"),
        (NewInvitations(prefix="a class ", count=2), NameNotAllowed, "'a class 2' is not allowed"),
        (NewInvitations(prefix="house-", count=2), NameNotAllowed, "the server's own"),
        (NewInvitations(prefix="c" * 39, count=10), NameNotAllowed, "1 to 40 letters"),
    ],
)
def test_invitations_that_cannot_be_made_are_refused(
    data: Path, new: NewInvitations, refusal: type[Exception], why: str
) -> None:
    with open_to_amend(data) as connection:
        with pytest.raises(refusal, match=why):
            entry.create(connection, new, NOW)
        assert entry.list_invitations(connection) == ()


def test_parking_and_paces_of_a_ladder_leave_the_others_alone(data: Path) -> None:
    with open_to_amend(data) as connection:
        ann, bob = add_bots(connection, "ann", "bob")
        for ladder in ("slow", "closed", ""):
            played = [matches.begin(connection, GAME, {}, [ann, bob], NOW, ladder_id=ladder) for _ in range(2)]
            assert parking.count(connection, played[0], [True, True], 2, NOW, ladder) == ()
            [parked] = parking.count(connection, played[1], [True, False], 2, NOW + 1, ladder)
            assert (parked.name, parked.troubles, parked.parked) == ("ann", tuple(played), NOW + 1)
            assert parking.count(connection, played[1], [True, False], 1, NOW + 2, ladder) == (), "it is parked already"
        assert [bot.parked for bot in (bots.find(connection, "ann"), bots.find(connection, "bob"))] == [NOW + 1, None]
        assert [[bot.id for bot in parking.parked_on(connection, ladder)] for ladder in LADDERS] == [[], [ann], []]
        listed = {row.name: row.parked for row in bots.list_bots(connection)}
        assert listed["ann"].startswith("in matches 5 and 6, in a row, ")
        assert ", ".join(re.findall(r"; on \w+: in matches \d and \d", listed["ann"])) == (
            "; on closed: in matches 3 and 4, ; on slow: in matches 1 and 2"
        )
        assert listed["bob"] == ""
        assert parking.unpark(connection, "ann").parked is None
        with pytest.raises(NotParked):
            parking.unpark(connection, "ann")
        for ladder in ("slow", ""):
            assert parking.parked_on(connection, ladder) == ()
            assert parking.count(connection, played[1], [True, None], 1, NOW, ladder) == (), "the match is forgiven"
        for ladder, pace in (("", 0.5), ("slow", 20.0), ("slow", 30.0)):
            paces.keep(connection, [(ann, pace, NOW, 1.0)], ladder)
        assert [[kept.pace for kept in paces.kept(connection, ladder)] for ladder in ("", "slow", "closed")] == [
            [0.5],
            [30.0],
            [],
        ]


def test_invitations_of_a_class_are_listed_revoked_and_expire(data: Path) -> None:
    with open_to_amend(data) as connection:
        single = bots.invite(connection, "Class-2", NOW)
        made = entry.create(connection, NewInvitations("", "class-", 3, "slow", NOW + 9), NOW)
        assert [owner for owner, _ in made] == ["class-1", "class-3", "class-4"]
        (_, first), (_, second), (_, third) = made
        ann = bots.register(connection, "ann", "", NOW, first).bot
        entry.revoke(connection, 3, NOW + 5)
        refused = {
            second: "class-3's invitation was revoked",
            first: "was used already",
            third: "expired on 2023-11-14",
        }
        for code, why in refused.items():
            with pytest.raises(InvitationRefused, match=why):
                bots.register(connection, "bob", "", NOW + 9, code)
        with pytest.raises(NoSuchInvitation, match="no invitation 9"):
            entry.revoke(connection, 9, NOW)
        with pytest.raises(InvitationRefused, match="invitation 2 was used already"):
            entry.revoke(connection, 2, NOW)
        with pytest.raises(NothingToChange, match="invitation 3 is revoked"):
            entry.revoke(connection, 3, NOW)
        now, end = instant(NOW), instant(NOW + 9)
        assert entry.list_invitations(connection) == (
            InvitationRow(1, "Class-2", "", now, None, None, ""),
            InvitationRow(2, "class-1", "slow", now, end, None, "ann"),
            InvitationRow(3, "class-3", "slow", now, end, instant(NOW + 5), ""),
            InvitationRow(4, "class-4", "slow", now, end, None, ""),
        )
        assert [each.number for each in entry.list_invitations(connection, limit=2, after=1)] == [2, 3]
        assert ann.owner == "class-1"
        entry.may_enter(connection, ann, "slow", entry.INVITED)
        bob = bots.register(connection, "bob", "", NOW, single).bot
        with pytest.raises(EntryRefused, match="bob may not enter the ladder slow: it is by invitation"):
            entry.may_enter(connection, bob, "slow", entry.INVITED)
        assert entry.join(connection, "bob", "slow", third, NOW + 8) == bob
        entry.may_enter(connection, bob, "slow", entry.INVITED)


def test_entry_is_open_by_invitation_or_for_listed_owners(data: Path) -> None:
    with open_to_amend(data) as connection:
        add_bots(connection, "ann")
        ann = bots.find(connection, "ann")
        (house,) = bots.ensure_house_bots(connection, ["house-careful"], NOW)
        entry.may_enter(connection, ann, "slow")
        entry.may_enter(connection, ann, "slow", ["Bob", "ANN"])
        entry.may_enter(connection, house, "slow", entry.INVITED)
        with pytest.raises(EntryRefused, match="its owner, ann, is not listed"):
            entry.may_enter(connection, ann, "slow", ["Bob"])
        other, plain = bots.invite(connection, "bob", NOW, "closed"), bots.invite(connection, "bob", NOW)
        for code, why in ((other, "for the ladder closed"), (plain, "for registration"), ("x", "no such invitation")):
            with pytest.raises(InvitationRefused, match=why):
                entry.join(connection, "ann", "slow", code, NOW)
        with pytest.raises(EntryRefused, match="ann, is not listed"):
            entry.join(connection, "ann", "closed", other, NOW, ["bob"])
        for rule in (entry.OPEN, ["ann"]):
            with pytest.raises(NothingToChange, match="ann is free to play on the ladder closed, without"):
                entry.join(connection, "ann", "closed", other, NOW, rule)
        entry.join(connection, "ann", "closed", other, NOW)
        with pytest.raises(NothingToChange, match="ann is on the ladder closed"):
            entry.join(connection, "ann", "closed", bots.invite(connection, "bob", NOW, "closed"), NOW)
