"""Whether house bots tell by their speed that they had no choice, as an opponent on the same machine would see it.

    python -m studies.forced [--matches N] [--game NAME] [--seats N] [--json]

A real server plays one match at a time between a bot that answers at random, over a bare socket so that it measures
well, and house bots. A sample is the time from the bot's answer to the next thing it is sent, where exactly one house
bot chose in between and no round ended. The figure is the chance that a choice took longer than a forced decision (AUC;
½ tells nothing): over all samples; among those with equally many cards in hand, of one kind, bid or play, and at the
same place in the trick, which everybody knows; and the latter by the server's own instants in the replay, which no
network blurs.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import click
import grpc
import h2.config
import h2.connection
import h2.events
import numpy as np
from arena_client.v1 import bots_pb2, bots_pb2_grpc, matches_pb2, matches_pb2_grpc
from arena_client.v1 import play_pb2 as pb
from rich.console import Console
from rich.table import Table

from arena.match.effects import Ask, Show
from arena.match.inputs import Acted, Sent
from arena.replay.read import read

PREFIX: Final = 5
"""Bytes before a gRPC message."""


class Sample(NamedTuple):
    """One decision of a house bot between two of the observer's."""

    house: str
    known: tuple[int, str, int]
    """What everybody knows: the cards in the house bot's hand, bid or play, and
    which card of the trick it is."""
    forced: bool
    seen: float
    """Microseconds that the observer measured."""
    recorded: float
    """Microseconds from its answer to its next question, by the replay."""


class Observer:
    """A bot that answers at random and keeps how long it waited after each answer."""

    def __init__(self, address: str, token: str, game: str) -> None:
        host, port = address.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._http2 = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self._http2.initiate_connection()
        headers = {":method": "POST", ":scheme": "http", ":path": "/arena.v1.PlayService/Play", ":authority": address}
        headers |= {"content-type": "application/grpc", "te": "trailers", "authorization": f"Bearer {token}"}
        self._http2.send_headers(1, list(headers.items()))
        self._received = bytearray()
        self._rng = Random(1)
        self._answered: dict[int, tuple[int, float]] = {}
        self.waits: dict[tuple[int, int], float] = {}
        """Seconds waited after an answer, by match and decision."""
        self.matches: list[int] = []
        self._send(pb.PlayRequest(hello=pb.Hello(games=[game], capacity=1, client="observer")))

    def play(self, matches: int) -> None:
        """Play so many matches."""
        while len(self.matches) < matches:
            data = self._socket.recv(1 << 16)
            now = time.perf_counter()
            if not data:
                raise click.ClickException("the server ended the stream")
            for event in self._http2.receive_data(data):
                if isinstance(event, h2.events.DataReceived):
                    self._http2.acknowledge_received_data(event.flow_controlled_length, 1)
                    self._received += event.data
            while (message := self._next()) is not None:
                self._take(message, now)
            if pending := self._http2.data_to_send():
                self._socket.sendall(pending)

    def _next(self) -> pb.PlayResponse | None:
        size = PREFIX + int.from_bytes(self._received[1:PREFIX], "big")
        if len(self._received) < max(size, PREFIX):
            return None
        message = pb.PlayResponse.FromString(bytes(self._received[PREFIX:size]))
        del self._received[:size]
        return message

    def _take(self, message: pb.PlayResponse, now: float) -> None:
        for number in [each.match_id for each in message.decisions] + [each.match_id for each in message.rounds]:
            if (answered := self._answered.pop(number, None)) is not None:
                decision, at = answered
                self.waits[number, decision] = now - at
        reply = pb.PlayRequest()
        if message.HasField("heartbeat"):
            reply.heartbeat = message.heartbeat
        for invitation in message.invitations:
            reply.ready.add(invitation_id=invitation.invitation_id)
        self.matches += [report.match_id for report in message.reports]
        for due in message.decisions:
            reply.answers.add(
                match_id=due.match_id, decision_id=due.decision_id, action=self._rng.choice(list(due.legal))
            )
        if reply.ByteSize():
            self._send(reply)

    def _send(self, message: pb.PlayRequest) -> None:
        content = message.SerializeToString()
        self._http2.send_data(1, b"\0" + len(content).to_bytes(4, "big") + content)
        data = self._http2.data_to_send()
        for answer in message.answers:
            self._answered[answer.match_id] = answer.decision_id, time.perf_counter()
        self._socket.sendall(data)


def samples_of(content: bytes, match_id: int, waits: Mapping[tuple[int, int], float]) -> Iterator[Sample]:
    """Find the single decisions of house bots between the observer's in a replay."""
    replay = read(content)
    seats = len(replay.header.bots)
    match, own = replay.header.new_match(), next(n for n, bot in enumerate(replay.header.bots) if not bot.house)
    asked: dict[int, Ask] = {}
    mine, mine_at, chosen, sent = 0, 0, list[tuple[int, int]](), False
    for event in replay.inputs:
        effects = match.receive(event)
        if isinstance(event, Sent) and event.seat == own and mine and len(chosen) == 1 and not sent:
            seat, decision = chosen[0]
            wait = waits.get((match_id, mine))
            if wait is not None:
                house = replay.header.bots[seat].name
                ask = asked[decision]
                view = ask.view._asdict()
                known = len(view["hand"]), replay.header.game.actions[ask.legal[0]].kind, len(view["plays"]) % seats
                yield Sample(house, known, len(ask.legal) == 1, 1e6 * wait, event.at - mine_at)
            sent = True
        if isinstance(event, Acted) and event.seat == own:
            mine, mine_at, chosen, sent = event.decision, event.at, [], False
        elif isinstance(event, Acted):
            chosen.append((event.seat, event.decision))
        for effect in effects:
            if isinstance(effect, Show):
                mine = 0
            elif isinstance(effect, Ask):
                asked[effect.decision] = effect


def auc(forced: Sequence[float], chosen: Sequence[float]) -> tuple[float, float]:
    """Return the number of pairs in which the choice took longer, ties halved, and the number of all pairs."""
    short, long = np.sort(np.array(forced, float)), np.array(chosen, float)
    wins = np.searchsorted(short, long, "left") + np.searchsorted(short, long, "right")
    return float(wins.sum()) / 2, float(len(short) * len(long))


@dataclass
class Figures:
    """What the speed of one house bot tells."""

    house: str
    forced: int
    chosen: int
    overall: float
    within: float
    recorded: float


def figures(samples: Sequence[Sample]) -> list[Figures]:
    """Work out the figures of each house bot."""
    found = []
    by_bot: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        by_bot[sample.house].append(sample)
    for house, own in sorted(by_bot.items()):
        strata = [[each for each in own if each.known == known] for known in {each.known for each in own}]

        def share(groups: Sequence[Sequence[Sample]], value: str) -> float:
            pairs = [
                auc(
                    [getattr(each, value) for each in group if each.forced],
                    [getattr(each, value) for each in group if not each.forced],
                )
                for group in groups
            ]
            return sum(wins for wins, _ in pairs) / max(1.0, sum(every for _, every in pairs))

        forced = sum(each.forced for each in own)
        shares = share([own], "seen"), share(strata, "seen"), share(strata, "recorded")
        found.append(Figures(house, forced, len(own) - forced, *shares))
    return found


@contextmanager
def running(game: str, seats: int) -> Iterator[str]:
    """Run a server of one game whose tables house bots fill at once; yields its address."""
    with tempfile.TemporaryDirectory() as directory:
        command = [str(Path(sys.executable).with_name("arena")), "serve", "--quiet", "--patience", "0"]
        command += ["--game", game, "--seats", str(seats), "--data", directory, "--address", "127.0.0.1:0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split("listens on ")[1].split(",")[0]
        finally:
            process.terminate()
            process.wait()


def observe(game: str, seats: int, matches: int) -> list[Sample]:
    """Play, and read the replays."""
    with running(game, seats) as address, grpc.insecure_channel(address) as channel:
        register = bots_pb2_grpc.BotServiceStub(channel).RegisterBot
        observer = Observer(address, register(bots_pb2.RegisterBotRequest(name="observer")).token, game)
        observer.play(matches)
        stub = matches_pb2_grpc.MatchServiceStub(channel)
        samples: list[Sample] = []
        for number in observer.matches:
            pieces = stub.GetReplay(matches_pb2.GetReplayRequest(match_id=number))
            samples += samples_of(b"".join(piece.chunk for piece in pieces), number, observer.waits)
    return samples


@click.command(help=(__doc__ or "").replace("    python", "\b\n    python"))
@click.option("--game", type=click.Choice(["nullern", "sixth_sense"]), default="sixth_sense", show_default=True)
@click.option("--seats", type=click.IntRange(2, 6), default=2, show_default=True)
@click.option("--matches", type=click.IntRange(1), default=200, show_default=True)
@click.option("--json", "as_json", is_flag=True)
def main(game: str, seats: int, matches: int, as_json: bool) -> None:
    """Measure and print."""
    found = figures(observe(game, seats, matches))
    if as_json:
        click.echo(json.dumps([vars(each) for each in found], indent=1))
        return
    table = Table(title=f"{game}, {seats} seats: the chance that a choice takes longer than a forced decision")
    for name in ("House bot", "Forced", "Choices", "All", "Alike", "Alike, replay"):
        table.add_column(name, justify="left" if name == "House bot" else "right")
    for each in found:
        cells = [f"{value:.3f}" for value in (each.overall, each.within, each.recorded)]
        table.add_row(each.house, str(each.forced), str(each.chosen), *cells)
    Console().print(table)


if __name__ == "__main__":
    main()
