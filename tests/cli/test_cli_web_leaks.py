"""Secrecy of a running round: no page reveals any of its content.

The test runs a server, scripted bots and all pages. The bots answer only when the test allows it. While they owe
decisions, the test reads and compares all public data, which must not change during a round. The data contain only
finished rounds that the seats have received, with all cards shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final

import grpc
from arena_client.v1 import matches_pb2, matches_pb2_grpc, play_pb2
from google.protobuf.message import Message

from tests.bots.plain_bot import PlainBot
from tests.cli.cli_rig import PATIENCE
from tests.cli.test_cli_serve_web import Server, Stream, serving, until

ROUNDS: Final = 2
"""Number of rounds that the test observes."""
EVERY: Final = 5
"""Number of a round's decisions between two observations."""
PATHS: Final = (
    *("/", "/live", "/tv", "/matches", "/bots", "/bots/ann", "/ladder/sixth_sense", "/live/matches/{}", "/matches/{}"),
    *(
        "/matches/{}/steps/1",
        "/matches/{}/rounds/1",
        "/matches/{}/tricks",
        "/matches/{}/why",
        "/matches/{}/check",
        "/matches/{}/analysis",
        "/matches/{}/replay",
    ),
    *("/matches?bot=ann&state=playing", "/matches/{}/faults", "/api/v1/matches", "/api/v1/matches/{}"),
    *("/api/v1/matches/{}/replay", "/api/v1/matches/{}/log", "/api/v1/bots/ann", "/api/v1/ladder/sixth_sense"),
    *("/api/v1/live", "/api/v1/live/matches/{}", "/api/v1/tv", "/api/v1/matches/{}/steps/1", "/api/v1/matches/{}/why"),
    *("/api/v1/matches/{}/check", "/api/v1/matches/{}/analysis", "/api/v1/matches?bot=ann&state=playing"),
)
BOARDS: Final = ("matches", "matches/{}", "ladder/sixth_sense")


def packed(message: Message) -> bytes:
    """Serialize a message deterministically."""
    return message.SerializeToString(deterministic=True)


class HeldBot(PlainBot):
    """A bot that waits for the test's permission before each answer."""

    games = ("sixth_sense",)
    capacity = 1

    def __init__(self, name: str, address: str, directory: Path, asked: SimpleQueue[tuple[HeldBot, Any]]) -> None:
        self.name = name
        self.address = address
        self.token_file = directory / f"{name}.token"
        self.out = SimpleQueue()
        self.playing = set()
        self.reports_after = None
        self.rounds: list[bytes] = []
        """Finished rounds that the server has sent to the seat."""
        self._asked = asked

    def hear(self, message: play_pb2.PlayResponse) -> None:
        self.rounds += map(packed, message.rounds)
        super().hear(message)

    def decide(self, decisions: list[play_pb2.Decision]) -> None:
        for decision in decisions:
            self._asked.put((self, decision))

    def go_on(self, decision: play_pb2.Decision) -> None:
        super().decide([decision])

    def play(self) -> None:
        try:
            self.converse()
        except grpc.RpcError:
            return  # the server has ended


class Watcher:
    """A watcher that records the finished rounds of all matches."""

    def __init__(self, address: str) -> None:
        self.rounds: list[bytes] = []
        self._channel = grpc.insecure_channel(address, [("grpc.use_local_subchannel_pool", 1)])
        self.stub: Any = matches_pb2_grpc.MatchServiceStub(self._channel)
        self._call = self.stub.WatchMatches(matches_pb2.WatchMatchesRequest(), timeout=PATIENCE)
        self._thread = Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        try:
            for message in self._call:
                self.rounds += [packed(event.round) for event in message.events if event.HasField("round")]
        except grpc.RpcError:
            return  # the stream was closed

    def close(self) -> None:
        self._call.cancel()
        self._thread.join(PATIENCE)
        self._channel.close()


@contextmanager
def held_bots(server: Server, directory: Path) -> Iterator[tuple[SimpleQueue[tuple[HeldBot, Any]], list[HeldBot]]]:
    asked: SimpleQueue[tuple[HeldBot, Any]] = SimpleQueue()
    bots = [HeldBot(name, server.address, directory, asked) for name in ("ann", "bob")]
    threads = [Thread(target=bot.play) for bot in bots]
    for thread in threads:
        thread.start()
    try:
        yield asked, bots
    finally:
        server.process.kill()
        server.process.wait()
        for bot, thread in zip(bots, threads, strict=True):
            bot.out.put(None)
            thread.join(PATIENCE)


def seen(server: Server, watcher: Watcher, match_id: int) -> dict[str, Any]:
    """Return all public data except the parts that depend on the time of day."""
    found: dict[str, Any] = {}
    for path in (each.format(match_id) for each in PATHS):
        answer, text = server.get(path)
        found[path] = answer.status, re.sub(r"published [^<]* ago|\d+ (second|minute)s? old", "", text)
    for name in (each.format(match_id) for each in BOARDS):
        with closing(Stream(server, name)) as stream:
            found[f"board {name}"] = dict(stream.read())
    found["GetMatch"] = packed(watcher.stub.GetMatch(matches_pb2.GetMatchRequest(match_id=match_id), timeout=PATIENCE))
    found["ListMatches"] = packed(watcher.stub.ListMatches(matches_pb2.ListMatchesRequest(), timeout=PATIENCE))
    found["WatchMatches"] = [*watcher.rounds]
    return found


def shown_rounds(text: str, heading: str) -> list[int]:
    return sorted(int(each) for each in re.findall(heading, text))


def caught_up(server: Server, watcher: Watcher, page: str, over: int) -> bool:
    """Return True if the watcher and the match's page show all finished rounds."""
    answer, text = server.get(page)
    return answer.status == 200 and len(watcher.rounds) == len(shown_rounds(text, r"<h2>Round (\d+)")) == over


def test_nobody_is_shown_anything_of_a_round_before_its_seats_have_all_of_it(tmp_path: Path) -> None:
    options = ("--no-house", "--seats", "2", "--soft-limit", "3600", "--game", "sixth_sense")
    looks = 0
    with serving(tmp_path / "data", *options) as server, held_bots(server, tmp_path) as (asked, bots):
        watcher = Watcher(server.address)
        try:
            for over in range(ROUNDS):
                before, made = None, 0
                while True:
                    bot, decision = asked.get(timeout=PATIENCE)
                    if len(bot.rounds) > over:
                        asked.put((bot, decision))
                        break
                    match_id, page = decision.match_id, f"/live/matches/{decision.match_id}"
                    if before is None:  # the round begins: after the previous round is shown, no new data may appear
                        until(partial(caught_up, server, watcher, page, over), "the rounds before")
                        before = seen(server, watcher, match_id)
                        text = before[page][1]
                        assert shown_rounds(text, r"<h2>Round (\d+)") == [*range(1, over + 1)]
                        live = json.loads(before[f"/api/v1/live/matches/{match_id}"][1])
                        [running] = json.loads(before["/api/v1/live"][1])["matches"]
                        assert [each["round"] for each in live["rounds"]] == [*range(over)]
                        assert [each["points"] for each in live["rounds"]] == [
                            each["points"] for each in running["rounds"]
                        ]
                        assert all(len(each["record"]["plays"]) > 0 for each in live["rounds"])
                        match = matches_pb2.GetMatchResponse.FromString(before["GetMatch"])
                        assert [*map(packed, match.rounds)] == watcher.rounds == bot.rounds, (
                            "what the seats were sent, no more"
                        )
                    elif made % EVERY == 0:
                        now = seen(server, watcher, match_id)
                        looks += 1
                        for place, what in before.items():
                            assert now[place] == what, (over, made, place)
                        status, text = server.get(f"/api/v1/matches/{match_id}/replay")
                        assert (status.status, "gzip" in text) == (404, False)
                    made += 1
                    bot.go_on(decision)
                assert made > 20, "a whole round"
            told: list[HeldBot | Watcher] = [*bots, watcher]
            until(lambda: all(len(each.rounds) == ROUNDS for each in told), "the last of them")
            assert bots[0].rounds == bots[1].rounds == watcher.rounds
            assert looks > 10
        finally:
            watcher.close()
