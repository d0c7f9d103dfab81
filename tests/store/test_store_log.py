"""The log in the database: each leaf is in the transaction that it describes. Also the log's key, and data from before
the log.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import Connection, insert, text
from sqlalchemy.exc import IntegrityError

from arena.log.head import LogEntry, LogHead
from arena.log.keys import LogKeys, Signer
from arena.log.leaf import LeafKind
from arena.log.tree import consistent
from arena.replay.hash_chain import pack_replay
from arena.replay.header import MatchKind
from arena.store import schema
from arena.store.backup import back_up, restore
from arena.store.base import leaves as log
from arena.store.base.directory import database_of
from arena.store.base.errors import LogKeyUnusable, StoreError
from arena.store.bots.bots import BotId
from arena.store.log.key import key_file, next_key_file, open_log, replace_key, rotate
from arena.store.matches import matches
from arena.store.moderation import moderation
from arena.store.opening import open_readonly, open_to_amend
from arena.store.replays import replays
from arena.store.store import open_store
from arena.store.writer.group_commit import AtEnd, Committer
from tests.log.test_log_tree import plain_root
from tests.postgresql import defer_foreign_key, in_words_of
from tests.store.jobs import GAME, NOW, add_bots, begin, finish
from tests.store.test_store_pages import steps


def leaves(connection: Connection) -> list[dict[str, Any]]:
    """Return all leaves, after checking the tree according to RFC 6962 and the head's signature."""
    found = [log.leaf(connection, number) for number in range(1, log.size(connection) + 1)]
    head = log.head(connection)
    if head is not None:
        assert head.root == plain_root(found[: head.size])
        assert LogKeys(log.key_leaves(connection)).signed(head)
    return [json.loads(each) for each in found]


def told(connection: Connection) -> list[dict[str, Any]]:
    """Return the contents of the leaves except the first, which names the key."""
    first, *others = leaves(connection)
    assert (first["kind"], first["number"], first["signature"]) == ("key", 1, "")
    return [{name: each[name] for name in each if name not in {"log", "number"}} for each in others]


async def opened(directory: Path) -> None:
    async with open_store(directory, NOW):
        pass


@pytest.mark.parametrize("within", [Connection.begin, Connection.begin_nested])
async def test_a_leaf_that_was_rolled_back_leaves_no_trace(
    directory: Path, within: Callable[[Connection], AbstractContextManager[object]]
) -> None:
    def add(connection: Connection, *numbers: int) -> None:
        for number in numbers:
            log.append(connection, LeafKind.PRUNE, NOW, through=number, replays=0)
        log.seal_added(connection, signer)

    def fail(connection: Connection) -> None:
        with within(connection):
            add(connection, 1, 2)
            raise ZeroDivisionError

    await opened(directory)
    with database_of(directory).writing().connect() as connection:
        with connection.begin():
            signer = open_log(connection, directory, NOW)
        with pytest.raises(ZeroDivisionError):
            fail(connection)
        add(connection, 3)
        connection.commit()
    with open_readonly(directory) as reader:
        head = log.head(reader)
        assert head is not None
        assert head.size == log.size(reader)
        assert [each["through"] for each in told(reader)] == [3]


async def test_everything_that_is_told_is_a_leaf_of_its_kind(directory: Path) -> None:
    async with open_store(directory, NOW) as store:
        ada, bob = await store.write(lambda connection: add_bots(connection, "Ada", "Bob"))
        seats = {"bots": [ada, bob], "names": ["Ada", "Bob"], "versions": ["7", ""]}
        for kind in ("rated", "casual"):
            await store.write(partial(_play, players=[ada, bob], rated=kind == "rated"))
        third = await store.write(lambda connection: begin(connection, [ada, bob]))
        gone = partial(matches.interrupt, match_ids=[third, third], reason="gone", at=NOW + 3)
        await store.write(gone)
        await store.write(partial(matches.void, match_id=1, reason="sybils", at=NOW + 4))
        await store.write(partial(moderation.rename, name="Bob", new_name="Rob", reason="", at=NOW + 5))
        for at, change in enumerate((moderation.ban, moderation.unban), NOW + 6):
            await store.write(partial(change, owner="Eve", reason="spam", at=at))
        for at, decide in enumerate((moderation.hide, moderation.show, moderation.delete), NOW + 8):
            await store.write(partial(decide, name="Ada", reason="", at=at))
        await store.write(partial(replays.prune, keep=1, at=NOW + 11))
        result = {"game": GAME, **seats, "places": [2, 1], "counts": [True, False], "points": [-3, 8]}
        texts = [sha256(f'{{"match":{number}}}\n'.encode()).hexdigest() for number in (1, 2)]
        assert await store.read(told) == [
            {"kind": "rated", "at": NOW + 2, "match": 1, **result, "replay": texts[0]},
            {"kind": "casual", "at": NOW + 2, "match": 2, **result, "replay": texts[1]},
            {
                "kind": "interrupted",
                "at": NOW + 3,
                "match": 3,
                "game": GAME,
                **seats,
                "versions": ["", ""],
                "reason": "gone",
            },
            {"kind": "void", "at": NOW + 4, "match": 1, "game": GAME, "reason": "sybils"},
            {"kind": "rename", "at": NOW + 5, "name": "Bob", "new_name": "Rob", "reason": ""},
            {"kind": "ban", "at": NOW + 6, "name": "Eve", "reason": "spam"},
            {"kind": "unban", "at": NOW + 7, "name": "Eve", "reason": "spam"},
            {"kind": "hide", "at": NOW + 8, "name": "Ada", "reason": ""},
            {"kind": "unhide", "at": NOW + 9, "name": "Ada", "reason": ""},
            {"kind": "delete", "at": NOW + 10, "name": "Ada", "reason": ""},
            {"kind": "prune", "at": NOW + 11, "through": 1, "replays": 1},
        ]
        head = await store.read(log.head)
        assert head is not None
        assert head.size == 12
        entries = await store.read(partial(log.entries, match_id=1))
        assert [json.loads(each.leaf)["kind"] for each in entries] == ["rated", "void"]
        assert all(each.included and each.head == head for each in entries)
        assert await store.read(partial(log.outcome, match_id=1)) == entries[0]
        assert await store.read(partial(log.outcome, match_id=9)) is None


def _play(connection: Connection, players: list[BotId], rated: bool) -> None:
    match_id = matches.begin(connection, GAME, {}, players, NOW, said=["7", ""])
    matches.finish(
        connection,
        match_id,
        scores=[-3, 8],
        places=[2, 1],
        forced=[0, 0],
        counts=[True, False],
        at=NOW + 2,
        replay=lambda _: pack_replay([f'{{"match":{match_id}}}']),
        kind=MatchKind.RATED if rated else MatchKind.CASUAL,
    )


async def test_a_head_is_signed_once_a_transaction_and_is_there_when_a_job_is_told(directory: Path) -> None:
    def job(connection: Connection, match_id: int) -> AtEnd:
        finish(connection, matches.MatchId(match_id), [1, 2])
        return AtEnd(partial(log.outcome, match_id=match_id))

    async with open_store(directory, NOW) as store:
        players = await store.write(lambda connection: add_bots(connection, "Ada", "Bob"))
        numbers = [await store.write(lambda connection: begin(connection, players)) for _ in range(3)]
        before = await store.read(log.head)
        told = [await store.write(partial(job, match_id=number)) for number in numbers]
        assert before is not None
        for entry in told:
            assert isinstance(entry, LogEntry)
            assert entry.included
            assert entry.head.size == entry.number
            proof = await store.read(partial(log.consistency, first=before.size, second=entry.head.size))
            assert consistent(before.size, before.root, entry.head.size, entry.head.root, proof)
            before = entry.head
        with pytest.raises(ValueError, match="the log has 4 leaves, not 9"):
            await store.read(partial(log.consistency, first=1, second=9))


async def test_what_fails_leaves_no_leaf(directory: Path) -> None:
    def broken(connection: Connection) -> None:
        moderation.ban(connection, "Eve", "", NOW)
        raise ZeroDivisionError

    async with open_store(directory, NOW) as store:
        before = await store.read(log.head)
        with pytest.raises(ZeroDivisionError):
            await store.write(broken)
        assert await store.read(told) == []
        assert await store.read(log.head) == before


@pytest.mark.parametrize("kept", [1, 3, 1000])
async def test_hashes_that_a_connection_keeps_are_not_those_of_leaves_that_were_undone(
    directory: Path, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    monkeypatch.setattr(log, "_KEPT", kept)

    def broken(connection: Connection, owners: list[str]) -> None:
        for owner in owners:
            moderation.ban(connection, owner, "undone", NOW)
        raise ZeroDivisionError

    def job(connection: Connection, match_id: int) -> AtEnd:
        finish(connection, matches.MatchId(match_id), [1, 2])
        return AtEnd(partial(log.outcome, match_id=match_id))

    async with open_store(directory, NOW) as store:
        players = await store.write(lambda connection: add_bots(connection, "Ada", "Bob"))
        for undone in range(1, 12):
            with pytest.raises(ZeroDivisionError):
                await store.write(partial(broken, owners=[f"Eve{number}" for number in range(undone)]))
            match_id = await store.write(lambda connection: begin(connection, players))
            entry = await store.write(partial(job, match_id=match_id))
            assert isinstance(entry, LogEntry)
            assert (entry.number, entry.included) == (undone + 1, True)
            assert len(await store.read(told)) == undone, "the head is that of the leaves that are stored"


@pytest.mark.thorough
def test_two_committers_write_one_log_whatever_is_undone(data: Path) -> None:
    """Jobs, ends of transactions and commits fail in either process. Other leaves get the numbers that become free
    again.
    """
    database, chance, failing, stored = database_of(data), Random(5), False, 0

    def end(connection: Connection) -> None:
        if failing:
            raise ZeroDivisionError
        log.seal(connection, sign)

    def ban(connection: Connection, owner: str) -> AtEnd:
        moderation.ban(connection, owner, "", NOW)
        under = log.size(connection)
        return AtEnd(lambda connection: log.entry(connection, under, log.head(connection)))  # type: ignore[arg-type]

    def failing_job(connection: Connection, owner: str) -> None:
        ban(connection, owner)
        raise ZeroDivisionError

    def failing_commit(connection: Connection, owner: str) -> None:
        ban(connection, owner)
        defer_foreign_key(connection, "replays")
        wrong = "INSERT INTO replays (match_id, content, sha256) VALUES (99, x'', x'')"
        connection.execute(in_words_of(connection, wrong))

    with open_to_amend(data) as connection:
        sign = open_log(connection, data, NOW)
    with database.writing().connect() as one, database.writing().connect() as other:
        committers = [Committer(each, database, end) for each in (one, other)]
        for number in range(200):
            kinds = chance.choices((ban, failing_job, failing_commit), (6, 4, 1), k=chance.randint(1, 6))
            failing = chance.random() < 0.2
            jobs = [partial(kind, owner=f"Eve{number}-{place}") for place, kind in enumerate(kinds)]
            outcomes = chance.choice(committers).commit(jobs)
            good = [outcome.value for outcome in outcomes if outcome.error is None]
            assert bool(good) == (not failing and failing_commit not in kinds and ban in kinds)
            stored += len(good)
            assert all(isinstance(entry, LogEntry) and entry.included for entry in good)
            with open_readonly(data) as connection:
                assert len(told(connection)) == stored
        for committer in committers:
            committer.close()
    assert stored > 100


async def test_leaves_stay_as_they_are(data: Path) -> None:
    changes = (
        (text("UPDATE log SET leaf = ''"), "only added"),
        (text("DELETE FROM log"), "only added"),
        (insert(schema.log).values(number=7, kind="key", leaf="", nodes=b""), "without a gap"),
    )
    for change, why in changes:
        with pytest.raises(IntegrityError, match=why), open_to_amend(data) as connection:
            connection.execute(change)


@pytest.mark.sqlite_only("it counts SQLite's steps")
async def test_a_welcome_reads_no_more_of_the_log_however_often_replays_were_pruned(data: Path) -> None:
    costs = []
    with open_to_amend(data) as connection:
        for _ in range(2):
            costs.append(steps(connection, log.state))
            for number in range(300):
                log.append(connection, LeafKind.PRUNE, NOW, through=number, replays=1)
    with open_readonly(data) as connection:
        costs.append(steps(connection, log.state))
        assert log.state(connection) is not None
    assert costs[2] < costs[0] + 300


async def test_leaves_without_a_server_are_under_the_head_of_the_next_start(data: Path) -> None:
    with open_to_amend(data) as connection:
        moderation.ban(connection, "Eve", "", NOW)
        assert log.head(connection) is not None
        assert log.head(connection).size == 1  # type: ignore[union-attr]
    await opened(data)
    with open_readonly(data) as connection:
        assert log.head(connection).size == 2  # type: ignore[union-attr]
        assert [each["kind"] for each in told(connection)] == ["ban"]


async def test_a_key_is_made_once_and_for_its_user_alone(data: Path) -> None:
    path = key_file(data)
    before = path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600
    await opened(data)
    assert path.read_bytes() == before
    assert not next_key_file(data).exists()


async def test_a_log_without_its_key_starts_no_server(data: Path) -> None:
    path = key_file(data)
    right = path.read_bytes()
    path.unlink()
    with pytest.raises(StoreError, match=r"log\.key is missing, .* put it back"):
        await opened(data)
    assert not path.exists()
    for wrong, why in ((b"secret", "no private key in PEM"), (Signer.new().pem(), "it is of another log")):
        path.write_bytes(wrong)
        with pytest.raises(LogKeyUnusable, match=why):
            await opened(data)
        assert path.read_bytes() == wrong
    path.write_bytes(right)
    await opened(data)


@pytest.mark.parametrize("crashed", [False, True])
async def test_a_rotated_key_is_named_by_the_old_one(data: Path, crashed: bool) -> None:
    old = key_file(data).read_bytes()
    with open_to_amend(data) as connection:
        keys = rotate(connection, data, NOW + 1)
    with open_readonly(data) as connection:
        before = log.state(connection)
        assert before is not None
        assert before.keys == keys.leaves[:1], "the head that the old key signed does not have the new one's leaf"
        assert LogKeys(before.keys).signed_now(before.head)
    if not crashed:
        replace_key(data)
    async with open_store(data, NOW + 2) as store:
        head = await store.read(log.head)
        assert head is not None
        assert LogKeys(await store.read(log.key_leaves)).leaves == keys.leaves
        assert keys.signed_now(head)
        assert [each["kind"] for each in await store.read(told)] == ["key"]
    assert key_file(data).read_bytes() != old
    assert not next_key_file(data).exists()
    key_file(data).write_bytes(old)
    with pytest.raises(LogKeyUnusable, match="it is an earlier key of this log"):
        await opened(data)


async def test_a_key_and_its_name_are_on_the_disk_before_the_log_names_it(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without this order, a power failure could leave a log whose key is lost, and no server could start on it."""
    sync, synced = os.fsync, []

    def recorded(descriptor: int) -> None:
        sync(descriptor)
        synced.append(os.fstat(descriptor).st_ino)

    monkeypatch.setattr(os, "fsync", recorded)
    with open_to_amend(data) as connection:
        rotate(connection, data, NOW + 1)
        assert synced == [next_key_file(data).stat().st_ino, data.stat().st_ino]


async def test_a_rotation_that_was_not_stored_changes_nothing(data: Path) -> None:
    old = key_file(data).read_bytes()

    def rotate_and_fail() -> None:
        with open_to_amend(data) as connection:
            rotate(connection, data, NOW + 1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        rotate_and_fail()
    await opened(data)
    assert key_file(data).read_bytes() == old


async def test_a_restored_log_names_the_head_at_which_it_was_cut(directory: Path, tmp_path: Path) -> None:
    async with open_store(directory, NOW) as store:
        await store.write(lambda connection: moderation.ban(connection, "Eve", "", NOW))
        cut: LogHead | None = await store.read(log.head)
        back_up(directory, tmp_path / "backup", NOW)
        await store.write(lambda connection: moderation.ban(connection, "Mallory", "", NOW))
        lost: LogHead | None = await store.read(log.head)
    assert cut is not None
    assert lost is not None
    restore(tmp_path / "backup", tmp_path / "restored", NOW + 9)
    async with open_store(tmp_path / "restored", NOW + 10) as store:
        assert (await store.read(told))[-1] == {
            "kind": "restore",
            "at": NOW + 9,
            "size": cut.size,
            "root": cut.root.hex(),
        }
        (entry,) = await store.read(log.restores)
        assert entry.included
        assert entry.head.size == lost.size
        assert entry.head.root != lost.root
        proof = await store.read(partial(log.consistency, first=cut.size, second=entry.head.size))
        assert consistent(cut.size, cut.root, entry.head.size, entry.head.root, proof)
