"""Clients at a server of several nodes: the Python client, run in every possible way. Real processes."""

from __future__ import annotations

import signal
import subprocess
import sys
import tarfile
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
from arena_client.errors import TakenOverError
from arena_client.receipts import Receipts
from sqlalchemy import select

from arena.replay.header import MatchKind
from arena.store import schema
from arena.store.base.rows import MatchState
from arena.store.matches import matches
from arena.store.opening import open_readonly
from tests.cli.cli_rig import shown
from tests.documents import ROOT
from tests.end_to_end.e2e_rig import PATIENCE, audit, program, server, until
from tests.end_to_end.test_e2e_nodes import AGAIN, addresses, event_matches, stop
from tests.interop.interop_rig import built, tool

BOT = str(Path(__file__).with_name("face_bot.py"))
ENOUGH = "12"
"""Number of matches after which the bots of a program's own event loop stop."""
FACES = {"ann": "run", "bob": "run async", "cid": "play", "dan": "play async", "eve": "connect"}


def played(data: Path) -> Mapping[str, Mapping[int, int | None]]:
    """Return the node of each finished match, by bot and match."""
    found: dict[str, dict[int, int | None]] = defaultdict(dict)
    of_match = schema.matches.c
    with open_readonly(data) as connection:
        node_of = {row.id: row.node for row in connection.execute(select(of_match.id, of_match.node))}
        for match in matches.list_matches(connection, limit=10_000):
            for seat in match.seats if match.state is MatchState.FINISHED else ():
                found[seat.bot][match.match_id] = node_of[match.match_id]
    return found


@pytest.mark.long
def test_python_bots_of_every_kind_play_at_every_node_and_end_at_all(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with server(data, "--processes", "2", *AGAIN) as running, ExitStack() as stack:
        address = addresses(running)[0]
        bots = {}
        for name, face in FACES.items():
            until_then = () if face.startswith("run") else (ENOUGH,)
            words = (BOT, face, address, name, str(tmp_path / name), *until_then)
            bots[name] = stack.enter_context(program(*words, listened_to=False))
        for name in ("cid", "dan", "eve"):
            assert bots[name].wait(PATIENCE) == 0
        until(lambda: all({*played(data)[name].values()} == {1, 2} for name in FACES), "matches of all at both nodes")
        again = stack.enter_context(program(BOT, "run", address, "ann", str(tmp_path / "ann"), listened_to=False))
        assert bots["ann"].wait(PATIENCE) == TakenOverError.status
        ended = len(played(data)["ann"])
        until(lambda: len(played(data)["ann"]) > ended + 4, "matches of the one that took over")
        for process in (again, bots["bob"]):
            process.send_signal(signal.SIGINT)
        assert [process.wait(PATIENCE) for process in (again, bots["bob"])] == [0, 0]
        stop(running)
    assert not audit(data).playing
    for name, node_of in played(data).items():
        receipts = Receipts(tmp_path / f"{name}.receipts")
        receipts.read()
        assert {match for _, match in receipts.matches} == {*node_of}, name


def test_a_client_from_before_nodes_plays_at_the_one_that_it_dials(tmp_path: Path) -> None:
    """The client is `arena_client` at 6af133d3^, without type stubs and most samples."""
    with tarfile.open(Path(__file__).with_name("client_before_nodes.tar.xz")) as packed:
        packed.extractall(tmp_path / "packed", filter="data")
    data, sample = tmp_path / "data", ("-m", "arena_client.samples.random_bot")
    with server(data, "--processes", "2", *AGAIN) as running, ExitStack() as stack:
        first, second = addresses(running)
        for name, address, own in (("new", first, {}), ("old", second, {"PYTHONPATH": str(tmp_path / "packed")})):
            words = ("--server", address, "--name", name, "--matches", "4", "--token-file", str(tmp_path / name))
            process = stack.enter_context(program(*sample, *words, listened_to=False, **own))
        assert process.wait(PATIENCE) == 0
        stop(running)
    assert [*played(data)["old"].values()] == [2, 2, 2, 2]


@pytest.mark.long
@tool("go")
def test_entrants_with_one_place_play_all_rounds_at_one_of_three_nodes(tmp_path: Path) -> None:
    """The operator enters the bots, so their programs do not know of the event."""
    built("make", "client-go", where=ROOT)
    data, names, tables = tmp_path / "data", ["ann", "bob", "cid", "go"], 12
    light = ("--luck", "off", "--house", "--house-workers", "0", "--drain", "0")
    in_go, in_python = [str(ROOT / "build/client-go/rules")], [sys.executable, "-m", "arena_client.samples.counter_bot"]
    with server(data, "--processes", "3", *light, seats="2") as running, ExitStack() as stack:
        address, at = addresses(running)[0], ("--data", data)
        for name in names:
            own = ("--name", name, "--token-file", str(tmp_path / name), "--game", "sixth_sense", "--capacity", "1")
            words = [*(in_go if name == "go" else in_python), "--server", address, *own]
            bot = stack.enter_context(subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            stack.callback(bot.kill)
        until(lambda: {*played(data)} >= {*names}, "matches of all bots")
        terms = ("--seats", "2", "--start", "+8s", "--budget", str(tables), "--format", "all")
        shown("event", "create", "friday", "--ladder", "sixth_sense", *terms, *at)
        for name in names:
            shown("event", "enter", "friday", name, *at)
        until(lambda: "event over" in running.log, "the end of the event", patience=90)
        stop(running)
    assert event_matches(data) == {"finished": tables}
    with open_readonly(data) as connection:
        every = matches.list_matches(connection, limit=10_000)
    of_event = [each for each in every if each.kind is MatchKind.EVENT]
    began = [each.started for each in of_event]
    meanwhile = [each for each in every if min(began) <= each.started <= max(began)]
    assert len(meanwhile) == tables, "a bot played elsewhere, and its round waited"
    seats = Counter(seat.bot for each in of_event for seat in each.seats)
    assert seats == dict.fromkeys(names, 2 * tables / len(names)), "a house bot plays for an absent one"
