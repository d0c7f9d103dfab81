"""The bot's side of the log of results: signatures, proofs, stored receipts, and warnings about a changed log."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import grpc
import pytest
from arena_client import Bot, Decision, TokenRefusedError, ed25519, receipts, run
from arena_client.connection import Connection
from arena_client.log_check import LogChecker
from arena_client.merkle import Keys, consistent, included
from arena_client.receipts import Receipts, Seat
from arena_client.v1.log_pb2 import LogEntry, LogHead, LogState
from arena_client.v1.play_pb2 import Hello, MatchReport, PlayResponse
from client_tests.peer import Peer, Talk, invites, starts
from client_tests.peer import welcome as peer_welcome

from arena.log.head import head_text
from arena.log.keys import LogKeys, Signer, first_key_leaf, next_key_leaf
from arena.log.leaf import LeafKind, encode_leaf
from arena.log.tree import Nodes, completed, consistency_proof, inclusion_proof, leaf_hash, root

AT = 1_790_000_000_000_000
SEAT = Seat(1, bytes(16), bytes(32), bytes(32))


class First(Bot):
    name = "first"

    def decide(self, decision: Decision) -> int:
        return decision.legal[0]


class Log:
    """A log as a server writes it."""

    def __init__(self, secret: int = 1) -> None:
        self.signer = Signer(bytes([secret]) * 32)
        self.keys = [first_key_leaf(1, AT, self.signer)]
        self.leaves = [*self.keys]
        self.restores: list[int] = []
        self.refuses = False

    def add(self, kind: LeafKind, **fields: object) -> int:
        self.leaves.append(encode_leaf(len(self.leaves) + 1, kind, AT + len(self.leaves), **fields))
        return len(self.leaves)

    def result(self, match: int, points: Sequence[int] = (-3, 12)) -> MatchReport:
        """Add a match's result to the log. Return the report for the bot in seat 1. `points` are the points by seat.

        Odd matches belong to an additional ladder, so their leaves have version 2.
        """
        number = self.add(
            LeafKind.RATED,
            match=match,
            game="sixth_sense",
            **({"ladder": "slow/2"} if match % 2 else {}),
            bots=[1, 2],
            names=["a", "bot"],
            versions=["", ""],
            places=[2, 1],
            counts=[True, True],
            points=[*points],
            replay="00" * 32,
        )
        return MatchReport(match_id=match, seat=1, scores=points, places=[2, 1], entry=self.entry(number))

    def restore(self, size: int) -> None:
        """Cut the log, as a restoration from a backup does. Record the restoration."""
        cut = root(size, self.nodes)
        del self.leaves[size:]
        self.restores = [each for each in self.restores if each <= size]
        self.restores.append(self.add(LeafKind.RESTORE, size=size, root=cut.hex()))

    def rotate(self, honest: bool = True) -> None:
        keys, new = LogKeys(self.keys), Signer(bytes([len(self.keys) + 50]) * 32)
        leaf = next_key_leaf(len(self.leaves) + 1, AT, keys, self.signer if honest else new, new)
        self.keys.append(leaf)
        self.leaves.append(leaf)
        self.signer = new

    @property
    def nodes(self) -> Nodes:
        stored: dict[tuple[int, int], bytes] = {}
        for index, leaf in enumerate(self.leaves):
            for level, each in enumerate(completed(index, leaf_hash(leaf), lambda *at: stored[at])):
                stored[level, index >> level] = each
        return lambda level, index: stored[level, index]

    @property
    def head(self) -> LogHead:
        size, made = len(self.leaves), root(len(self.leaves), self.nodes)
        name = LogKeys(self.keys[:1]).log
        return LogHead(size=size, root=made, signature=self.signer.sign(head_text(name, size, made)))

    def entry(self, number: int) -> LogEntry:
        proof = inclusion_proof(number - 1, len(self.leaves), self.nodes)
        return LogEntry(number=number, leaf=self.leaves[number - 1], head=self.head, proof=proof)

    @property
    def state(self) -> LogState:
        return LogState(keys=self.keys, head=self.head, restores=[self.entry(each) for each in self.restores])

    async def consistency(self, first: int, second: int) -> Sequence[bytes] | None:
        if self.refuses or not first <= second <= len(self.leaves):
            return None
        return consistency_proof(first, second, self.nodes)


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    caplog.clear()
    return found


def welcome(log: Log | None, file: Path, kept: Receipts | None = None) -> Receipts:
    """Let the bot compare the log. If `kept` is None, restart the bot first."""
    kept = kept or Receipts(file)
    state = None if log is None else log.state
    asyncio.run(LogChecker(kept).check(state, log.consistency if log is not None else Log().consistency))
    return kept


def test_signatures_are_those_of_the_standard_and_no_others() -> None:
    # RFC 8032, 7.1, tests 1 to 3
    vectors = (
        (
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd"
            "25bf5f0595bbe24655141438e7a100b",
        ),
        (
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c3"
            "87b2eaeb4302aeeb00d291612bb0c00",
        ),
        (
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594"
            "a7c15e9716ed28dc027beceea1ec40a",
        ),
    )
    for vector in vectors:
        key, text, signature = map(bytes.fromhex, vector)
        assert ed25519.signed(key, signature, text)
        assert not ed25519.signed(key, signature, text + b"x")
        assert not ed25519.signed(key[::-1], signature, text)
        order = 2**252 + 27742317777372353535851937790883648493
        more = int.from_bytes(signature[32:], "little") + order
        assert not ed25519.signed(key, signature[:32] + more.to_bytes(32, "little"), text), "one signature, one form"
    for key, signature in ((b"", bytes(64)), (bytes(32), b""), (b"\xff" * 32, bytes(64)), (bytes(32), b"\xff" * 64)):
        assert not ed25519.signed(key, signature, b"x")


def test_signatures_agree_with_the_library_of_the_server() -> None:
    chance = Random(1)
    for _ in range(10):
        signer, text = Signer(chance.randbytes(32)), chance.randbytes(chance.randrange(200))
        signature = bytearray(signer.sign(text))
        assert ed25519.signed(signer.public, bytes(signature), text)
        signature[chance.randrange(64)] ^= 1 << chance.randrange(8)
        assert not ed25519.signed(signer.public, bytes(signature), text)


def test_proofs_of_every_small_log_agree_with_the_server() -> None:
    log, heads = Log(), []
    for match in range(17):
        log.result(match)
        heads.append(log.head)
    for first in heads:
        for second in heads:
            proof = asyncio.run(log.consistency(first.size, second.size))
            assert consistent(first, second, proof or []) is (first.size <= second.size)
            if proof:
                assert not consistent(first, second, proof[:-1])
                assert not consistent(first, second, [*proof, bytes(32)])
                assert not consistent(LogHead(size=first.size, root=bytes(32)), second, proof)
    for number in range(1, len(log.leaves) + 1):
        entry = log.entry(number)
        assert included(entry)
        assert not included(LogEntry(number=number, leaf=entry.leaf + b" ", head=entry.head, proof=entry.proof))
        assert not included(LogEntry(number=number + 1, leaf=entry.leaf, head=entry.head, proof=entry.proof))
    assert Keys(log.keys).signed(log.head)


def test_a_log_without_a_key_is_none(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    state = LogState(head=LogHead(size=1, root=bytes(32), signature=bytes(64)))
    asyncio.run(LogChecker(Receipts(tmp_path / "bot.receipts")).check(state, Log().consistency))
    (alarm,) = said(caplog)
    assert "it shows a log without a key" in alarm


def test_the_file_keeps_the_newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receipts, "KEPT", 5)
    file, log = tmp_path / "bot.receipts", Log()
    kept = welcome(log, file)
    for match in range(1, 28):
        kept.take(log.result(match), None)
        assert len(file.read_text().splitlines()) <= 11
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert "keys" in lines[0]
    matches = [line["match"] for line in lines[1:]]
    assert matches == [*range(28 - len(matches), 28)]
    assert len(matches) >= 5
    if os.name == "posix":
        assert file.stat().st_mode & 0o777 == 0o600
    welcome(log, file)


def test_a_node_may_show_a_head_from_before_a_report_of_another_node(caplog: pytest.LogCaptureFixture) -> None:
    log, other, kept = Log(), Log(), Receipts(None)
    checker = LogChecker(kept)
    asyncio.run(checker.check(log.state, log.consistency))
    log.result(1)
    before = log.state
    other.result(2)
    kept.take(log.result(3), SEAT)
    asyncio.run(checker.check(before, log.consistency, one_of_several=True))
    assert not said(caplog)
    asyncio.run(checker.check(other.state, other.consistency, one_of_several=True))
    (alarm,) = said(caplog)
    assert "it does not begin with the 3 entries" in alarm


def test_without_a_file_it_is_compared_all_the_same(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    log, kept = Log(), Receipts(None)
    checker = LogChecker(kept)
    asyncio.run(checker.check(log.state, log.consistency))
    kept.take(log.result(1), SEAT)
    log.leaves.pop()
    log.result(2)
    asyncio.run(checker.check(log.state, log.consistency))
    (alarm,) = said(caplog)
    assert "What this bot was told is kept in memory; it plays on" in alarm
    assert list(tmp_path.iterdir()) == []


def test_a_token_that_is_given_has_no_receipts_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    def file(**given: object) -> Path | None:
        options = {"token": None, "token_file": None, "invitation": None, "owner": None, "tls": None, "matches": None}
        connection = Connection(First(), "localhost:1", **{**options, "give_up_after": None, **given})  # type: ignore[arg-type]
        receipts = connection._receipts
        return None if receipts is None else receipts.file

    assert file(token_file="here") == Path("here.receipts")
    assert file() == tmp_path / ".arena" / "tokens" / "localhost_1-first.token.receipts"
    assert file(token="arena_x") is None
    assert file(token="arena_x", token_file="here") == Path("here.receipts")
    assert file(token_file="here", receipts=False) is None


@pytest.mark.process
def test_a_bot_that_is_started_anew_asks_for_the_reports_after_its_last_one(tmp_path: Path) -> None:
    file, log = tmp_path / "bot.token", Log()
    hellos: list[Hello] = []
    seen: list[int] = []

    class Notes(First):
        def on_match_end(self, report: MatchReport) -> None:
            seen.append(report.match_id)

    def greets(talk: Talk) -> PlayResponse:
        hellos.append(talk.next().hello)
        greeting = peer_welcome()
        greeting.welcome.log.CopyFrom(log.state)
        return greeting

    def only_greets(talk: Talk) -> Iterator[PlayResponse]:
        yield greets(talk)
        talk.fail(grpc.StatusCode.UNAUTHENTICATED, "go", "TOKEN_REVOKED")

    def plays(talk: Talk, match: int, *missed: MatchReport) -> Iterator[PlayResponse]:
        yield greets(talk)
        yield PlayResponse(reports=missed)
        yield invites(match)
        assert talk.next().ready[0].invitation_id == match
        yield starts(match)
        yield PlayResponse(reports=[log.result(match)])
        talk.wait_for_goodbye()

    def away() -> list[MatchReport]:
        return [log.result(match) for match in (3, 2)]

    with Peer([only_greets], tokens={"t": "bot"}) as peer, pytest.raises(TokenRefusedError):
        run(Notes(), peer.address, token="t", token_file=file)
    first = len(log.leaves)
    log.rotate()
    with Peer([lambda talk: plays(talk, 1)], tokens={"t": "bot"}) as peer:
        run(Notes(), peer.address, token="t", token_file=file, matches=1)
    last, missed = len(log.leaves), away()
    with Peer([lambda talk: plays(talk, 4, *missed)], tokens={"t": "bot"}) as peer:
        run(Notes(), peer.address, token="t", token_file=file, matches=1)
    with Peer([only_greets], tokens={"t": "bot"}) as peer, pytest.raises(TokenRefusedError):
        run(Notes(), peer.address, token="t", token_file=file, receipts=False)
    numbers = [hello.reports_after if hello.HasField("reports_after") else None for hello in hellos]
    assert numbers == [None, first, last, None]
    assert seen == [1, 3, 2, 4], "a report of an earlier run's match is one of no match of this run"


def test_a_file_that_cannot_be_shortened_gets_the_receipt_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A new file beside the receipts would need too long a path. On Windows, any reader prevents the replacement."""
    if sys.platform == "win32":
        pytest.skip("Windows has no such bound for a path")
    monkeypatch.setattr(receipts, "KEPT", 5)
    folder = tmp_path
    while (left := os.pathconf("/", "PC_PATH_MAX") - len("/r") - 4 - len(str(folder))) > 1:
        folder /= "x" * min(left - 1, 200)
    log = Log()
    kept = welcome(log, folder / "r")
    for match in range(1, 28):
        kept.take(log.result(match), None)
    assert said(caplog) == []
    lines = [json.loads(line) for line in (folder / "r").read_text().splitlines()]
    assert [line["match"] for line in lines if "match" in line] == [*range(1, 28)]


def test_a_full_disk_leaves_no_half_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    if sys.platform == "win32":
        pytest.skip("Windows does not limit the size of a program's files")
    import resource

    file, log = tmp_path / "bot.receipts", Log()
    kept = welcome(log, file)
    usual, ignored = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size + 20, usual[1]))
    try:
        kept.take(log.result(1), SEAT)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
        signal.signal(signal.SIGXFSZ, ignored)
    (warning,) = said(caplog)
    assert "receipts cannot be kept" in warning
    kept.take(log.result(2), SEAT)
    assert [match for _, match in welcome(log, file).matches] == [2]
    assert said(caplog) == []


def test_a_file_that_cannot_be_used_costs_no_match(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "bot.receipts").mkdir()
    kept = Receipts(tmp_path / "bot.receipts")
    log = Log()
    for match in (1, 2):
        kept.take(log.result(match), SEAT)
    (warning,) = said(caplog)
    assert "receipts cannot be kept" in warning
