"""`arena replay verify` with a bot's receipt and a server's log refuses every forgery and accepts every genuine
replay.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
import trio
from arena_client.receipts import Receipts, Seat
from arena_client.v1.log_pb2 import LogEntry, LogHead, LogState
from arena_client.v1.play_pb2 import MatchReport
from sqlalchemy import text

from arena.analysis.proofs import NotProved, compare_log
from arena.log.head import LogEntry as Entry
from arena.log.head import LogHead as Head
from arena.log.head import LogState as State
from arena.log.keys import HeadSigner, Signer
from arena.replay.hash_chain import PackedReplay, pack, text_digest, without_chain
from arena.replay.read import read
from arena.replay.record import encode
from arena.store.backup import back_up, restore
from arena.store.base import leaves as log
from arena.store.bots import bots
from arena.store.log.key import key_file, replace_key, rotate
from arena.store.matches import matches
from arena.store.opening import open_readonly, open_to_amend
from arena.store.store import open_store
from engine.deal import commitment
from tests.cli.cli_rig import PATIENCE, Played, arena, shown
from tests.cli.test_cli_javascript import VERIFIER
from tests.replay.recorded import changes, forged, lines_of, objects_of, play, rated

WHOLE: Final = rated()
NODE: Final = pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node.js here; .ci/run insists on it")
AT: Final = 1_790_000_100_000_000


class Recorded(NamedTuple):
    """A data directory with a match, its replay file, and the receipt of the bot in seat 1."""

    data: Path
    file: Path
    receipts: Path


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return recorded_in(tmp_path_factory.mktemp("proofs"), WHOLE)


def recorded_in(directory: Path, whole: bytes) -> Recorded:
    replay = read(whole)
    header, result = replay.header, replay.result

    def store_it(connection: Any) -> None:
        players = [bots.register(connection, bot.name, "", AT).bot.id for bot in header.bots]
        number = matches.begin(connection, header.game.name, {}, players, AT, header.match_id, ladder_id=header.ladder)
        _, entries = play()
        assert [change.after.value for change in changes(entries)]
        content = pack([without_chain(line) or "" for line in replay.lines])
        matches.finish(
            connection,
            number,
            scores=result.scores,
            places=result.places,
            forced=result.forced,
            counts=result.counts,
            spoilt=result.spoilt,
            at=AT + 1,
            replay=lambda _: PackedReplay(content, text_digest(content)),
        )

    async def make() -> None:
        async with open_store(directory / "data", AT) as store:
            await store.write(store_it)

    trio.run(make)
    (directory / "match.jsonl.gz").write_bytes(whole)
    with open_readonly(directory / "data") as connection:
        state, entry = log.state(connection), log.outcome(connection, header.match_id)
    assert state is not None
    assert entry is not None
    kept = Receipts(directory / "bot-1.receipts")
    kept.pin_to(LogState(keys=state.keys, head=_message(entry).head))
    report = MatchReport(
        match_id=header.match_id, seat=1, scores=result.scores, places=result.places, entry=_message(entry)
    )
    salt = next(offer.salt for offer in header.offers if offer.seat == 1)
    kept.take(report, Seat(1, header.nonces[1], salt, header.commitment))
    return Recorded(directory / "data", directory / "match.jsonl.gz", directory)


def _message(entry: Entry) -> LogEntry:
    head = LogHead(size=entry.head.size, root=entry.head.root, signature=entry.head.signature)
    return LogEntry(number=entry.number, leaf=entry.leaf, head=head, proof=entry.proof)


def test_a_match_of_a_further_ladder_is_borne_out_and_one_of_another_ladder_is_not(tmp_path: Path) -> None:
    header, entries = play()
    slow, fast = (encode(replace(header, ladder=ladder), entries, changes(entries)) for ladder in ("slow/2", "fast"))
    recorded = recorded_in(tmp_path, slow)
    assert '{\\"log\\":2,' in (tmp_path / "bot-1.receipts").read_text()
    assert shown("replay", "verify", recorded.file, "--data", recorded.data, "--receipts", recorded.receipts)
    assert '"ladder":"slow/2"' in shown("log", "show", "101", "--data", recorded.data, "--json").replace(": ", ":")
    assert shown("log", "audit", "--data", recorded.data)
    others = {tmp_path / "fast.jsonl.gz": fast, tmp_path / "default.jsonl.gz": WHOLE}
    for file, content in others.items():
        file.write_bytes(content)
        assert "): the ladder, the replay's digest" in refused(recorded, file)
    if shutil.which("node") is not None:
        assert in_javascript(recorded.file, recorded.receipts)[0] == 0
        for file in others:
            status, words = in_javascript(file, recorded.receipts)
            assert (status, "): the ladder, the replay's digest" in words) == (1, True)


def test_a_file_alone_is_consistent_and_no_more(recorded: Recorded) -> None:
    words = shown("replay", "verify", recorded.file)
    assert words.startswith(f"OK {recorded.file} is consistent in itself.")
    assert "the seed opens the commitment in the file" in words
    assert "– not checked: whether the match took place. A whole file can be invented" in words
    document = json.loads(shown("replay", "verify", recorded.file, "--json"))
    assert (document["verified"], document["receipt"], document["log"]) == (True, None, None)


def test_with_a_receipt_it_is_what_was_played_and_what_is_not_shown_is_said(recorded: Recorded) -> None:
    words = shown("replay", "verify", recorded.file, "--receipts", recorded.receipts)
    assert words.startswith(f"OK {recorded.file} is what was played.")
    assert "✔ the seed opens the commitment that the bot was shown before the deal" in words
    assert "✔ the receipt of bot-1 (seat 1, " in words
    assert "– not checked: whether the result was annulled later (--server)" in words
    one = shown("replay", "verify", recorded.file, "--receipts", recorded.receipts / "bot-1.receipts", "--json")
    receipt = json.loads(one)["receipt"]
    assert (receipt["seat"], receipt["number"]) == (1, 2)
    assert receipt["file"] == str(recorded.receipts / "bot-1.receipts")


def test_with_the_log_it_is_what_was_played_and_a_void_is_told(recorded: Recorded, tmp_path: Path) -> None:
    words = shown("replay", "verify", recorded.file, "--data", recorded.data, "--receipts", recorded.receipts)
    assert words.startswith(f"OK {recorded.file} is what was played.")
    assert "✔ the log of results as it is now: leaf 2 of 2 says the same" in words
    assert "✔ the log has only grown since the receipt" in words
    assert "not checked" not in words
    voided = copied(recorded, tmp_path)
    with open_to_amend(voided) as connection:
        matches.void(connection, 101, "both were one program", AT + 2)
    trio.run(started, voided)
    words = shown("replay", "verify", recorded.file, "--data", voided)
    assert "– its result was annulled later: both were one program" in words
    proof = json.loads(shown("replay", "verify", recorded.file, "--data", voided, "--json"))["log"]
    assert (proof["number"], proof["size"], proof["void"]) == (2, 3, "both were one program")


def copied(recorded: Recorded, tmp_path: Path) -> Path:
    """Copy the data directory as a backup would, but without the signature of `arena restore`."""
    back_up(recorded.data, tmp_path / "copied", AT)
    return tmp_path / "copied"


async def started(data: Path) -> None:
    async with open_store(data, AT + 3):
        pass


def refused(recorded: Recorded, file: Path, *options: object) -> str:
    result = arena("replay", "verify", file, *(options or ("--receipts", recorded.receipts)))
    assert result.exit_code == 1, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return " ".join(result.output.split())


def header(**fields: Any) -> Callable[[list[Any]], None]:
    return lambda objects: objects[0].update(fields)


def renamed(objects: list[Any]) -> None:
    """Exchange the names of two bots everywhere."""
    swap = {"bot-1": "bot-2", "bot-2": "bot-1"}

    def swapped(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: swapped(each) for name, each in value.items()}
        if isinstance(value, list):
            return [swapped(each) for each in value]
        return swap.get(value, value) if isinstance(value, str) else value

    objects[:] = [swapped(line) for line in objects]
    objects[0]["offers"].sort(key=lambda offer: offer["seat"])


def ratings_moved(objects: list[Any]) -> None:
    """Change all ratings consistently, so that each still follows from the previous ones."""
    from arena.ladder.live import Rating, update

    line = objects[-1]["ratings"]
    before = [Rating(each["before"] + 50, each["before_deviation"]) for each in line]
    after = update(before, objects[-2]["places"], counts=objects[-2]["counts"], spoilt=objects[-2]["spoilt"])
    for each, old, new in zip(line, before, after, strict=True):
        each["before"], each["after"], each["after_deviation"] = old.value, new.value, new.deviation


def at_another_time(objects: list[Any]) -> None:
    """Delay every event after the first choice by a microsecond."""
    for line in objects[4:]:
        if "at" in line:
            line["at"] += 1


CONSISTENT: Final[dict[str, Callable[[list[Any]], None]]] = {
    "the match's number": header(match=102),
    "when it began": header(started="2026-09-21T00:00:00.000000Z"),
    "the server's version": header(server="9.9.9"),
    "two names exchanged": renamed,
    "ratings that follow from each other": ratings_moved,
    "an offer that was declined": lambda objects: objects[0]["offers"].append(
        {**objects[0]["offers"][0], "outcome": "declined", "invitation_id": 77}
    ),
    "offers without one that was declined": lambda objects: objects[0]["offers"].reverse(),
    "another salt": lambda objects: objects[0]["offers"][0].update(salt="11" * 32),
    "another invitation": lambda objects: objects[0]["offers"][0].update(invitation_id=5),
    "a version of the stand-in": header(stand_in="house-counter 2"),
    "other times": at_another_time,
    "two lines exchanged": lambda objects: objects.insert(9, objects.pop(10)),
}
"""Forgeries that cannot be detected from the replay file alone."""
INCONSISTENT: Final[dict[str, Callable[[list[Any]], None]]] = {
    "another seed": header(seed="00" * 32),
    "another seed with its commitment": header(seed="00" * 32, commitment=commitment(bytes(32)).hex()),
    "another nonce": lambda objects: objects[0]["nonces"].__setitem__(1, "11" * 16),
    "another game": header(game="nullern"),
    "other options": lambda objects: objects[0]["options"].update(novice=True),
    "another policy": lambda objects: objects[0]["policy"].update(soft_limit=1),
    "a newcomer": lambda objects: objects[0]["bots"][1].update(newcomer=True),
    "a house bot": lambda objects: objects[0]["bots"][1].update(house=True),
    "an offer less": lambda objects: objects[0]["offers"].pop(),
    "another rating rule": header(rating_rule=1),
    "an unrated match": header(rated=False),
    "points of a round": lambda objects: objects[_round(objects)]["points"].__setitem__(0, 99),
    "scores of the result": lambda objects: objects[-2]["scores"].__setitem__(0, 99),
    "places of the result": lambda objects: objects[-2]["places"].reverse(),
    "for whom it counts": lambda objects: objects[-2]["counts"].__setitem__(0, False),
    "who was troubled": lambda objects: objects[-2]["troubled"].__setitem__(0, not objects[-2]["troubled"][0]),
    "forced decisions": lambda objects: objects[-2]["forced"].__setitem__(0, 99),
    "names of the result": lambda objects: objects[-2]["bots"].reverse(),
    "what was shown": lambda objects: objects[_shown(objects)]["views"].__setitem__(0, "00" * 32),
    "banks": lambda objects: objects[_shown(objects)]["banks"].__setitem__(0, 5),
    "a rating": lambda objects: objects[-1]["ratings"][0].update(after=2000.0),
    "a rating before": lambda objects: objects[-1]["ratings"][0].update(before=2000.0),
    "a round less": lambda objects: objects.__delitem__(_round(objects)),
    "a line twice": lambda objects: objects.insert(9, objects[9]),
    "without an end": lambda objects: objects.__delitem__(slice(-2, None)),
    "another choice": lambda objects: objects[_acted(objects)].update(action=objects[_acted(objects)]["action"] + 1),
    "another seat's choice": lambda objects: objects[_acted(objects)].update(seat=3 - objects[_acted(objects)]["seat"]),
    "an unknown format": header(arena_replay=9),
    "a field more": header(more=1),
}
"""Forgeries that can be detected from the file, each with the line that shows it."""


def _first(objects: list[Any], kind: str, name: str) -> int:
    return next(at for at, line in enumerate(objects) if line.get(kind) == name)


def _round(objects: list[Any]) -> int:
    return _first(objects, "out", "round")


def _shown(objects: list[Any]) -> int:
    return next(at for at, line in enumerate(objects) if "shown" in line)


def _acted(objects: list[Any]) -> int:
    return _first(objects, "in", "acted")


@pytest.mark.parametrize("kind", CONSISTENT)
def test_tampering_that_the_file_does_not_show_is_not_what_the_receipt_says(
    recorded: Recorded, kind: str, tmp_path: Path
) -> None:
    objects: list[Any] = objects_of(WHOLE)
    CONSISTENT[kind](objects)
    file = tmp_path / "forged.jsonl.gz"
    file.write_bytes(forged(objects))
    assert shown("replay", "verify", file).startswith(f"OK {file} is consistent in itself."), "else it proves nothing"
    words = refused(recorded, file)
    if kind == "the match's number":
        assert f"REFUSED {file}: there is no receipt of match 102 in {recorded.receipts}" in words
    else:
        assert f"REFUSED {file}: it is not what the receipt says (" in words
        assert f"REFUSED {file}: it is not what the log says: " in refused(recorded, file, "--data", recorded.data)
    document = json.loads(arena("replay", "verify", file, "--receipts", recorded.receipts, "--json").stdout)
    assert (document["verified"], document["receipt"]) == (False, None)
    assert document["difference"]["words"]


def test_an_invented_match_is_not_what_the_receipt_says(recorded: Recorded, tmp_path: Path) -> None:
    """A match of the same bots, with a seed chosen by the forger. Its file is as valid as any other."""
    file = tmp_path / "invented.jsonl.gz"
    objects: list[Any] = objects_of(rated(chance=2))
    objects[0]["match"] = 101
    file.write_bytes(forged(objects))
    assert shown("replay", "verify", file).startswith("OK")
    words = refused(recorded, file)
    assert "it is not what the receipt says (" in words
    assert "the points" in words
    assert "the replay's digest, the seed's commitment" in words


def test_names_exchanged_are_named(recorded: Recorded, tmp_path: Path) -> None:
    objects: list[Any] = objects_of(WHOLE)
    renamed(objects)
    file = tmp_path / "renamed.jsonl.gz"
    file.write_bytes(forged(objects))
    assert "): the bots' names, the replay's digest" in refused(recorded, file)


@pytest.mark.parametrize("kind", INCONSISTENT)
def test_tampering_that_the_file_shows_is_refused_at_its_line(recorded: Recorded, kind: str, tmp_path: Path) -> None:
    objects: list[Any] = objects_of(WHOLE)
    INCONSISTENT[kind](objects)
    file = tmp_path / "forged.jsonl.gz"
    file.write_bytes(forged(objects))
    words = refused(recorded, file)
    assert ", line " in words or "the file ends before" in words or "format" in words


@NODE
@pytest.mark.parametrize("kind", [*CONSISTENT, *INCONSISTENT])
def test_tampering_of_every_kind_is_refused_in_javascript_too(recorded: Recorded, kind: str, tmp_path: Path) -> None:
    objects: list[Any] = objects_of(WHOLE)
    ({**CONSISTENT, **INCONSISTENT})[kind](objects)
    file = tmp_path / "forged.jsonl.gz"
    file.write_bytes(forged(objects))
    status, words = in_javascript(file, recorded.receipts)
    assert status == 1
    if kind == "the match's number":
        assert f"there is no receipt of match 102 in {recorded.receipts}" in words
    else:
        assert (
            f"{file}: it is not what the receipt says (" in words
            or f"{file}: line " in words
            or "it has no result" in words
        )


@NODE
def test_what_was_played_is_borne_out_in_javascript_too(recorded: Recorded, tmp_path: Path) -> None:
    status, words = in_javascript(recorded.file, recorded.receipts)
    assert status == 0, words
    assert "it is what was played: leaf 2 of a signed log says so to seat 1; not shown: whether it was made" in words
    receipt = recorded.receipts / "bot-1.receipts"
    assert in_javascript(recorded.file, receipt)[0] == 0
    text = receipt.read_text()
    for old, new, why in (
        ('"proof":["', '"proof":["00', "its head does not include its leaf"),
        ('\\"points\\":[', '\\"points\\":[1', "its head does not include its leaf"),
        ('"number":2,"leaf"', '"number":3,"leaf"', "a leaf that the head does not have"),
        ('"match":101,"seat"', '"match":7,"seat"', "there is no receipt of match 101"),
        ('{"arena_receipts":1,"keys":[', '{"arena_receipts":1,"keys":[],"x":[', "a log without a key"),
    ):
        assert text.count(old) > 0, old
        (tmp_path / "touched").write_text(text.replace(old, new))
        status, words = in_javascript(recorded.file, tmp_path / "touched")
        assert (status, why in words) == (1, True), words
    signature = json.loads(text.splitlines()[1])["head"]["signature"]
    (tmp_path / "touched").write_text(text.replace(signature, signature[::-1]))
    assert "its head is not signed by the key of the log" in in_javascript(recorded.file, tmp_path / "touched")[1]


def in_javascript(file: Path, receipts: Path) -> tuple[int, str]:
    """Return exit status and output of the JavaScript verifier."""
    command = ["node", str(VERIFIER), str(file), "--receipts", str(receipts)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    return ran.returncode, ran.stdout + ran.stderr


@pytest.mark.parametrize("kind", [*CONSISTENT, *INCONSISTENT])
def test_tampering_without_a_new_chain_is_refused_where_the_chain_breaks(
    recorded: Recorded, kind: str, tmp_path: Path
) -> None:
    """Edit a line without updating its chain field."""
    objects: list[Any] = objects_of(WHOLE)
    ({**CONSISTENT, **INCONSISTENT})[kind](objects)
    texts = [json.dumps(each, ensure_ascii=False, separators=(",", ":"))[:-1] for each in objects]
    lines = lines_of(WHOLE)
    pairs = enumerate(zip(texts, lines, strict=False))
    first = next((at for at, (one, line) in pairs if one != line[:-76]), len(texts))
    file = tmp_path / "edited.jsonl.gz"
    file.write_bytes(pack([one + line[-76:] for one, line in zip(texts, lines, strict=False)]))
    words = refused(recorded, file)
    if first < len(texts):
        assert f"{file}, line {first + 1}: " in words


def test_a_directory_without_the_receipt_proves_nothing(recorded: Recorded, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    words = refused(recorded, recorded.file, "--receipts", tmp_path / "empty")
    assert "there is no receipt of match 101" in words
    assert arena("replay", "verify", recorded.file, "--receipts", tmp_path / "none").exit_code == 2


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"proof":["', '"proof":["00', "its head does not include its leaf"),
        ('\\"points\\":[', '\\"points\\":[1', "its head does not include its leaf"),
        ('"signature":"', '"signature":"00', "its head is not signed by the key of the log"),
        ('"match":101,"seat"', '"match":101,"match":101,"no":"', "it proves nothing"),
        ('"number":2,"leaf"', '"number":1,"leaf"', "its head does not include its leaf"),
        ('{"arena_receipts":1,"keys":[', '{"arena_receipts":1,"keys":[],"x":[', "a log without a key"),
    ],
)
def test_a_receipt_that_was_touched_proves_nothing(
    recorded: Recorded, tmp_path: Path, old: str, new: str, why: str
) -> None:
    lines = (recorded.receipts / "bot-1.receipts").read_text().splitlines()
    at = 0 if old in lines[0] and "arena" in old else 1
    assert old in lines[at], lines[at]
    lines[at] = lines[at].replace(old, new, 1)
    file = tmp_path / "bot.receipts"
    file.write_text("\n".join(lines))
    words = refused(recorded, recorded.file, "--receipts", file)
    assert "the receipt cannot be used: " in words
    assert why in words


@NODE
def test_bad_keys_after_a_receipt_leave_it_good_and_spoil_what_comes_after(recorded: Recorded, tmp_path: Path) -> None:
    """A client without checks stores any key that a server presents."""
    keys, receipt = (recorded.receipts / "bot-1.receipts").read_text().splitlines(keepends=True)
    pin = json.loads(keys)
    added = json.loads(pin["keys"][0]) | {"number": 9, "signature": "00" * 64}
    bad = json.dumps(pin | {"keys": [*pin["keys"], json.dumps(added, separators=(",", ":"))]}) + "\n"
    file = tmp_path / "bot.receipts"
    file.write_text(keys + receipt + bad)
    shown("replay", "verify", recorded.file, "--receipts", file)
    status, words = in_javascript(recorded.file, file)
    assert status == 0, words
    file.write_text(keys + bad + receipt)
    assert "the key of leaf 9 is not signed by" in refused(recorded, recorded.file, "--receipts", file)
    status, words = in_javascript(recorded.file, file)
    assert (status, "a key that the one before it did not sign" in words) == (1, True), words


def test_a_log_that_was_changed_since_the_receipt_is_refused(recorded: Recorded, tmp_path: Path) -> None:
    changed = copied(recorded, tmp_path)
    with open_to_amend(changed) as connection:
        for trigger in ("log_stay", "log_remain"):
            connection.execute(text(f"DROP TRIGGER {trigger}"))
        connection.execute(text("DELETE FROM log WHERE number > 1"))
        connection.execute(text("DELETE FROM log_head"))
    with open_to_amend(changed) as connection:
        matches.void(connection, 101, "never was", AT)
    trio.run(started, changed)
    words = refused(recorded, recorded.file, "--data", changed, "--receipts", recorded.receipts)
    assert "the log was changed since the receipt" in words
    other = tmp_path / "other"
    trio.run(started, other)
    words = refused(recorded, recorded.file, "--data", other, "--receipts", recorded.receipts)
    assert "the log is not the receipt's: its keys differ" in words
    assert "the log has no entry for match 101" in refused(recorded, recorded.file, "--data", other)


@pytest.fixture
def rotated(recorded: Recorded, tmp_path: Path) -> tuple[Path, HeadSigner]:
    """Rotate the key of a data directory and sign its head. Also return a signer with the first key, as if that key had
    leaked.
    """
    data = copied(recorded, tmp_path)
    retired = Signer.read(key_file(data).read_bytes())
    with open_to_amend(data) as connection:
        keys = rotate(connection, data, AT + 2)
    replace_key(data)
    trio.run(started, data)
    return data, HeadSigner(keys.log, retired)


def receipts_under(data: Path, head: Head | None, file: Path) -> Path:
    """Return receipts of the bot in seat 1, which knows both keys, under the given head or the newest head of the
    log.
    """
    with open_readonly(data) as connection:
        newest, keys = log.outcome(connection, 101), log.key_leaves(connection)
        assert newest is not None
        entry = newest if head is None else log.entry(connection, newest.number, head)
    result = read(WHOLE).result
    kept = Receipts(file)
    kept.pin_to(LogState(keys=keys, head=_message(newest).head))
    report = MatchReport(match_id=101, seat=1, scores=result.scores, places=result.places, entry=_message(entry))
    kept.take(report, None)
    return file


def test_a_retired_key_signs_for_what_came_before_it_and_for_nothing_after(
    recorded: Recorded, rotated: tuple[Path, HeadSigner], tmp_path: Path
) -> None:
    data, retired = rotated
    with open_readonly(recorded.data) as connection:
        before = log.head(connection)
    old = receipts_under(data, before, tmp_path / "old.receipts")
    words = shown("replay", "verify", recorded.file, "--data", data, "--receipts", old)
    assert "the log has only grown since the receipt" in words
    good = receipts_under(data, None, tmp_path / "good.receipts")
    shown("replay", "verify", recorded.file, "--data", data, "--receipts", good)
    with open_to_amend(data) as connection:
        matches.void(connection, 101, "never was", AT)
        log.seal(connection, retired)
    bad = receipts_under(data, None, tmp_path / "bad.receipts")
    assert "its head is not signed by the key of the log" in refused(recorded, recorded.file, "--receipts", bad)
    assert "the log's head is not signed by its key" in refused(recorded, recorded.file, "--data", data)
    for command, why in (
        (("log", "head"), "the log's head is not signed by its key"),
        (("log", "show", 101), "the log does not prove that it has leaf 2"),
        (("log", "audit"), "its head is not signed by its key"),
    ):
        result = arena(*command, "--data", data)
        assert (result.exit_code, why in " ".join(result.output.split())) == (1, True), result.output


@NODE
def test_a_retired_key_signs_for_what_came_before_it_and_for_nothing_after_in_javascript(
    recorded: Recorded, rotated: tuple[Path, HeadSigner], tmp_path: Path
) -> None:
    data, retired = rotated
    with open_readonly(recorded.data) as connection:
        before = log.head(connection)
    for head, name in ((before, "old"), (None, "good")):
        assert in_javascript(recorded.file, receipts_under(data, head, tmp_path / f"{name}.receipts"))[0] == 0
    with open_to_amend(data) as connection:
        matches.void(connection, 101, "never was", AT)
        log.seal(connection, retired)
    status, words = in_javascript(recorded.file, receipts_under(data, None, tmp_path / "bad.receipts"))
    assert (status, "its head is not signed by the key of the log" in words) == (1, True), words


class Forger(NamedTuple):
    """A server that shows the genuine log, but proves a match under another head."""

    state: State
    entry: Entry

    def log_state(self) -> State:
        return self.state

    def log_entries(self, match_id: int) -> tuple[Entry, ...]:
        return (self.entry,)

    def log_consistency(self, first: int, second: int) -> tuple[bytes, ...]:
        return ()


def test_a_retired_key_shows_no_log_of_before_as_that_of_now(
    recorded: Recorded, rotated: tuple[Path, HeadSigner]
) -> None:
    """That log proves no match, and does not continue the old log after a restoration."""
    data, retired = rotated
    with open_readonly(data) as connection:
        state = log.state(connection)
        assert state is not None
        made = log.root_of(connection, 2)
        cut = Head(2, made, retired(2, made))
        entry = log.entry(connection, 2, cut)
        newest = log.entry(connection, 2, state.head)
    replay = read(recorded.file.read_bytes())
    assert compare_log(replay, Forger(state, newest)).number == 2
    with pytest.raises(NotProved, match="does not prove that it has leaf 2"):
        compare_log(replay, Forger(state, entry))
    with pytest.raises(NotProved, match="head is not signed by its key"):
        compare_log(replay, Forger(state._replace(head=cut), entry))


def test_a_log_that_was_cut_by_a_restoration_says_so(recorded: Recorded, tmp_path: Path) -> None:
    trio.run(started, tmp_path / "before")
    # a server on a backup from before the match, with the same key and one leaf in its log
    before = copied(recorded, tmp_path)
    with open_to_amend(before) as connection:
        for trigger in ("log_stay", "log_remain"):
            connection.execute(text(f"DROP TRIGGER {trigger}"))
        connection.execute(text("DELETE FROM log WHERE number > 1"))
        connection.execute(text("DELETE FROM log_head"))
    trio.run(started, before)
    back_up(before, tmp_path / "backup", AT)
    restore(tmp_path / "backup", tmp_path / "restored", AT + 9)
    trio.run(started, tmp_path / "restored")
    words = refused(recorded, recorded.file, "--data", tmp_path / "restored", "--receipts", recorded.receipts)
    assert "the log was restored from a backup since, and no longer has this receipt's leaf" in words


def test_what_was_really_played_is_borne_out_by_every_bots_receipts(played: Played, tmp_path: Path) -> None:
    """The replay agrees with the receipts of three sample bots and with the log that the server sends."""
    tokens = played.data.parent
    files = sorted(tokens.glob("*.receipts"))
    assert [file.name for file in files] == ["counter.token.receipts", "random.token.receipts", "rules.token.receipts"]
    for match in (1, 2, 3):
        path = tmp_path / f"match-{match}.jsonl.gz"
        shown("replay", "export", match, "--output", path, "--server", played.server)
        for file in files:
            words = shown("replay", "verify", path, "--receipts", file)
            assert f"the receipt of {file.name.removesuffix('.token.receipts')} (seat " in words
        words = shown("replay", "verify", path, "--receipts", tokens, "--server", played.server)
        assert "the log has only grown since the receipt" in words
        assert "the log of results as it is now" in shown("replay", "verify", match, "--server", played.server)
