"""Reports that do not fit into one message, for bots that return to a real server after a long time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arena_client.v1 import play_pb2 as pb

from arena.store.base import leaves as log
from arena.store.bots import bots
from arena.store.matches import ended, matches
from arena.store.opening import open_to_amend
from tests.end_to_end.e2e_rig import Crowd, RawBot, server

NAMES = ("ann", "bob")
MISSED = ended.MOST + 1
WHY = "a reason of four thousand letters: ".ljust(4000, "x")


class Weighing(RawBot):
    """A bot that records the size of each message from the server."""

    def __init__(self, *who: str, **how: Any) -> None:
        super().__init__(*who, **how)
        self.sizes: list[int] = []

    def read(self) -> pb.PlayResponse:
        message = super().read()
        self.sizes.append(message.ByteSize())
        return message


def lie_behind(data: Path) -> tuple[int, list[int]]:
    """Record matches of all bots that end while the bots are absent. Return the log's size before these matches, and
    the numbers of the matches.
    """
    with open_to_amend(data) as connection:
        players = [bots.known(connection, name).id for name in NAMES]
        before = log.size(connection)
        begun = [matches.begin(connection, "nullern", {}, players, number) for number in range(MISSED)]
        matches.interrupt(connection, begun, WHY, MISSED)
    return before, [*begun]


def test_a_thousand_missed_reports_come_in_messages_that_every_client_takes(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with server(data) as first, Crowd(first.address) as crowd:
        for name in NAMES:
            crowd.token(name)
        first.signal(15)
        first.ended()
    before, missed = lie_behind(data)
    with server(data) as second, Crowd(second.address) as again:
        again.tokens = crowd.tokens
        for name in NAMES:
            bot = Weighing(second.address, again.tokens[name], reports_after=before, games=("nullern",), capacity=0)
            again.bots.append(bot)
            welcome = bot.read().welcome
            assert welcome.limits.max_response == 1 << 20
            while len(bot.reports) < ended.MOST:
                bot.read()
            assert [report.match_id for report in bot.reports] == missed[1:], "the newest, in the order of their leaves"
            assert [report.entry.number for report in bot.reports] == [*range(before + 2, before + MISSED + 1)]
            assert {report.interrupted for report in bot.reports} == {WHY}
            assert all(report.entry.head.size == welcome.log.head.size for report in bot.reports)
            assert sum(bot.sizes) > 8 << 20, "more than gRPC's clients take at once by default"
            assert max(bot.sizes) <= welcome.limits.max_response
            assert min(bot.sizes[:-1]) > welcome.limits.max_response - 10_000
