"""The audit reports nothing about a server's own work, and every row that was changed in another way."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, text

from arena.log.leaf import decode_leaf
from arena.store.backup import back_up, restore
from arena.store.base import leaves as log
from arena.store.bots.bots import BotId
from arena.store.ladder import seasons
from arena.store.log.audit import AT_ONCE, audit
from arena.store.log.audit_tables import LogAudit, TablesAudit
from arena.store.log.key import replace_key, rotate
from arena.store.matches import matches
from arena.store.moderation import moderation
from arena.store.opening import open_readonly, open_to_amend
from arena.store.replays import replays
from arena.store.store import open_store
from tests.postgresql import in_words_of
from tests.store.jobs import GAME, NOW, add_bots, begin, finish
from tests.store.test_store_log import _play


async def make(directory: Path) -> None:
    """Create a log with leaves of every kind except restorations."""
    async with open_store(directory, NOW) as store:
        players = await store.write(lambda connection: add_bots(connection, "Ada", "Bob"))
        for kind in ("rated", "casual", "rated"):
            await store.write(partial(_play, players=players, rated=kind == "rated"))
        await store.write(partial(moderation.rename, name="Bob", new_name="Rob", reason="", at=NOW + 5))
        await store.write(partial(_play, players=players, rated=True))
        gone = await store.write(lambda connection: begin(connection, players))
        await store.write(partial(matches.interrupt, match_ids=[gone], reason="gone", at=NOW + 3))
        await store.write(partial(matches.void, match_id=1, reason="sybils", at=NOW + 4))
        await store.write(partial(moderation.ban, owner="Eve", reason="spam", at=NOW + 6))
        await store.write(partial(moderation.unban, owner="Eve", reason="", at=NOW + 6))
        await store.write(partial(moderation.rename, name="Rob", new_name="Bob", reason="", at=NOW + 7))
        await store.write(partial(moderation.hide, name="Ada", reason="", at=NOW + 8))
        await store.write(partial(moderation.show, name="Ada", reason="", at=NOW + 8))
        await store.write(partial(replays.prune, keep=2, at=NOW + 11))
        await store.write(partial(moderation.delete, name="Ada", reason="", at=NOW + 12))
        await store.write(lambda connection: begin(connection, players))


def audited(directory: Path, replays: bool = True) -> LogAudit:
    with open_readonly(directory) as connection:
        made = audit(connection, replays)
        assert made.leaves == log.size(connection)
        return made


async def test_all_that_a_server_does_is_in_order(directory: Path, tmp_path: Path) -> None:
    await make(directory)
    made = audited(directory)
    assert made.faults == []
    assert made.replays == 2
    assert made.signed == made.leaves == 15
    assert (made.kinds["rated"], made.kinds["casual"], made.kinds["rename"]) == (3, 1, 2)
    assert audited(directory, replays=False).replays is None
    with open_to_amend(directory) as connection:
        rotate(connection, directory, NOW + 20)
    replace_key(directory)
    made = audited(directory)
    assert (made.faults, made.signed, made.leaves) == ([], 15, 16)
    back_up(directory, tmp_path / "backup", NOW)
    restore(tmp_path / "backup", tmp_path / "restored", NOW + 30)
    for _ in range(2):
        made = audited(tmp_path / "restored")
        assert made.faults == []
        assert made.kinds["restore"] == 1
        async with open_store(tmp_path / "restored", NOW + 31):
            pass


async def test_a_leaf_that_is_what_the_tables_say_need_not_be_read(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []

    def reading(content: bytes) -> dict[str, Any]:
        leaf = decode_leaf(content)
        read.append(leaf["kind"])
        return leaf

    await make(directory)
    monkeypatch.setattr("arena.store.log.audit.decode_leaf", reading)
    assert audited(directory).kinds["rated"] == 3
    assert "void" in read
    assert not {"rated", "casual", "interrupted"} & {*read}


async def test_leaves_of_a_further_ladder_name_it_and_are_in_order(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def played(connection: Connection, players: list[BotId], ladder_id: str) -> None:
        first, second = (matches.begin(connection, GAME, {}, players, NOW, ladder_id=ladder_id) for _ in range(2))
        finish(connection, first, [1, 2])
        matches.interrupt(connection, [second], "gone", NOW)
        matches.void(connection, first, "sybils", NOW)

    async with open_store(directory, NOW) as store:
        players = await store.write(lambda connection: add_bots(connection, "Ada", "Bob"))
        for ladder_id in ("", "slow/2", f"{GAME}/2"):
            await store.write(partial(played, players=players, ladder_id=ladder_id))
        await store.write(partial(seasons.begin, ladder="slow", at=NOW))
    with open_readonly(directory) as connection:
        found = [decode_leaf(row.leaf.encode()) for row in connection.execute(text("SELECT leaf FROM log"))]
    assert [(leaf["log"], leaf["kind"], leaf.get("ladder")) for leaf in found[1:]] == [
        (version, kind, ladder)
        for version, ladder in ((1, None), (2, "slow/2"), (2, f"{GAME}/2"))
        for kind in ("rated", "interrupted", "void")
    ] + [(2, "season", "slow/2")]
    with monkeypatch.context() as patched:
        patched.setattr(TablesAudit, "compare", lambda *_: None)
        assert audited(directory).kinds["rated"] == 3, "what the tables say, byte for byte"
    assert audited(directory).faults == []
    with open_to_amend(directory) as connection:
        connection.execute(text("UPDATE matches SET ladder = 'fast' WHERE id IN (3, 4)"))
        connection.execute(text("UPDATE matches SET ladder = 'fast' WHERE id IN (1, 2)"))
    said = audited_loosely(directory)
    for words in ("it says 'slow/2' for \"ladder\", and the tables say 'fast'", 'it says None for "ladder", and'):
        assert sum(words in each for each in said) == 3


async def test_a_leaf_about_no_number_of_a_match_is_a_fault(directory: Path) -> None:
    await make(directory)
    with open_to_amend(directory) as connection:
        connection.execute(in_words_of(connection, "DROP TRIGGER log_stay"))
        changed = text("UPDATE log SET leaf = replace(leaf, '\"match\"\\:1', '\"match\"\\:[1]') WHERE match_id = 1")
        assert connection.execute(changed).rowcount
    assert "there is no match [1]" in audited_loosely(directory)


async def test_more_leaves_than_are_compared_at_a_time_are_in_order(directory: Path) -> None:
    def many(connection: Connection, players: list[BotId]) -> None:
        for _ in range(AT_ONCE // 100):
            numbers = [matches.begin(connection, GAME, {}, players, NOW) for _ in range(110)]
            matches.interrupt(connection, numbers, "gone", NOW)

    async with open_store(directory, NOW) as store:
        players = await store.write(lambda connection: add_bots(connection, "Ada", "Bob"))
        await store.write(partial(many, players=players))
        match_id = await store.write(lambda connection: begin(connection, players))
        await store.write(lambda connection: finish(connection, match_id, [1, 2]))
    seen: list[tuple[int, int]] = []
    with open_readonly(directory) as connection:
        assert audit(connection, progress=lambda *done: seen.append(done)).faults == []
    assert seen == [(1000, 1102), (1102, 1102)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("UPDATE match_seats SET score = 99 WHERE match_id = 1 AND seat = 0", 'it says [-3, 8] for "points", and the'),
        ("UPDATE match_seats SET place = 1 WHERE match_id = 2 AND seat = 0", 'it says [2, 1] for "places", and the'),
        (
            "UPDATE match_seats SET bot_id = 1 WHERE match_id = 1",
            'it says [1, 2] for "bots", and the',
        ),
        (
            "UPDATE bots SET name = 'Ann' WHERE id = 1",
            "it says ['Ada', 'Bob'] for \"names\", and the tables",
        ),
        ("UPDATE versions SET version = 'x' WHERE bot_id = 1 AND version = '7'", 'for "versions"'),
        ("UPDATE matches SET ended = 5 WHERE id = 1", 'for "at", and the tables say 5'),
        ("UPDATE matches SET state = 'playing' WHERE id = 1", "match 1 is playing, it says rated"),
        ("UPDATE matches SET reason = 'x' WHERE id = 5", "it says 'gone' for \"reason\", and the tables say 'x'"),
        (
            "UPDATE matches SET state = 'interrupted', ended = 1 WHERE id = 6",
            "how 1 matches ended, the first of",
        ),
        ("UPDATE rated_results SET counts = '11' WHERE match_id = 3", 'it says [True, False] for "counts"'),
        ("UPDATE rated_results SET reason = 'x' WHERE kind = 'void'", "it says 'sybils' for \"reason\""),
        ("DELETE FROM rated_results WHERE kind = 'void'", "the result of match 1 is not void"),
        ("DELETE FROM rated_results WHERE match_id = 3", "match 3 moved no ratings"),
        ("UPDATE bot_events SET reason = 'x' WHERE kind = 'banned'", "it says 'spam' for \"reason\""),
        ("DELETE FROM bot_events WHERE kind = 'banned'", "the list of what the operator did has no such ban there"),
        ("UPDATE replays SET segment = NULL WHERE match_id = 4", "3 replays are pruned, and leaves tell of 2"),
        (
            "UPDATE replays SET content = x'00', segment = 0 WHERE match_id = 4",
            "the stored replay of match 4 is not the one",
        ),
        (
            "UPDATE log SET leaf = replace(leaf, '8', '9') WHERE match_id = 1",
            "the hashes stored with it are not",
        ),
        ("UPDATE log SET leaf = leaf || ' ' WHERE number = 3", "it is written otherwise than a leaf is"),
        ("UPDATE log SET nodes = zeroblob(32) WHERE number = 4", "the hashes stored with it are not"),
        ("UPDATE log SET match_id = 2 WHERE number = 2", "it says that it is leaf 2, of match 1"),
        ("DELETE FROM log WHERE number = 3", "leaf 3 is missing"),
        ("DELETE FROM log WHERE number > 12", "its head is of 15 leaves, and there are 12: leaves are gone"),
        ("DELETE FROM log_head", "the log has no signed head"),
        ("UPDATE log_head SET root = zeroblob(32)", "the root of the first 15 leaves is not the one that was signed"),
        ("UPDATE log_head SET signature = zeroblob(64)", "its head is not signed by its key"),
    ],
)
@pytest.mark.thorough
async def test_every_change_behind_the_servers_back_is_found(directory: Path, change: str, words: str) -> None:
    await make(directory)
    with open_to_amend(directory) as connection:
        for table in ("log", "rated_results", "bot_events"):
            for trigger in ("stay", "remain"):
                connection.execute(in_words_of(connection, f"DROP TRIGGER {table}_{trigger}"))
        changed = connection.execute(in_words_of(connection, change)).rowcount
        assert changed > 0
    faults = audited_loosely(directory)
    assert any(words in fault for fault in faults), faults


def audited_loosely(directory: Path) -> list[str]:
    with open_readonly(directory) as connection:
        return [fault.text for fault in audit(connection, replays=True).faults]


async def test_faults_are_named_up_to_twenty(directory: Path) -> None:
    await make(directory)
    with open_to_amend(directory) as connection:
        connection.execute(in_words_of(connection, "DROP TRIGGER log_stay"))
        connection.execute(in_words_of(connection, "UPDATE log SET leaf = 'x', nodes = x''"))
    with open_readonly(directory) as connection:
        made = audit(connection)
    assert len(made.faults) == 20
    assert made.more >= 10
