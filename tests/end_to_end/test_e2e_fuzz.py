"""Real sockets: no input from a bot or an unauthenticated client stops the server, disturbs others or reveals secrets.

Most fuzz tests need no sockets and are in `tests/api/test_api_fuzz.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from random import Random
from time import sleep
from typing import Any, Final

import pytest
from arena_client.v1 import play_pb2 as pb

from engine.registry import GAMES
from tests.api.frames import Frames
from tests.api.secrecy_observer import BotObserver, SecrecyObserver
from tests.end_to_end.e2e_rig import Server, audit, register, server, until
from tests.end_to_end.raw_bot import Ended, RawBot

GROWTH: Final = 48 << 20
"""Maximum number of bytes by which the server's memory may grow."""


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    data = tmp_path_factory.mktemp("fuzz") / "data"
    # Correct bots have enough time even on a busy machine. The luck worker is off, because a busy server would skip
    # some matches with a warning.
    limits = ("--soft-limit", "30", "--bank", "60", "--grace", "0.5", "--drain", "0", "--luck", "off")
    with server(data, "--quiet", *limits, seats="3") as arena:
        yield arena


class WatchedBot(RawBot):
    """A bot that checks all its messages for secrets."""

    def __init__(self, address: str, token: str, bot_observer: BotObserver, **how: Any) -> None:
        super().__init__(address, token, games=tuple(GAMES), patience=600.0, **how)
        bot_observer.new_stream()
        self._bot_observer = bot_observer
        self.fault: AssertionError | None = None

    def read(self) -> pb.PlayResponse:
        message = super().read()
        try:
            self._bot_observer.see(message)
        except AssertionError as fault:
            self.fault = fault
            raise
        return message


class FuzzingBot:
    """A bot that sends random messages. When one stream ends, it opens the next."""

    def __init__(self, address: str, name: str, observer: SecrecyObserver, seed: str) -> None:
        self._address = address
        self._token = register(address, name)
        self._rng = Random(seed)
        self._frames = Frames(self._rng)
        self.bot_observer = observer.of_bot(name)
        self.sent = 0

    def __repr__(self) -> str:
        return f"<FuzzingBot at {self._address}, {self.sent} frames sent>"

    def play(self, frames: int) -> None:
        while self.sent < frames:
            bot = WatchedBot(self._address, self._token, self.bot_observer, hello=False)
            listener = threading.Thread(target=self._listen, args=(bot,))
            listener.start()
            bot.send(self._frames.hello())
            while bot.end is None and listener.is_alive() and self.sent < frames:
                self._burst(bot)
            bot.close()
            listener.join()
            assert bot.fault is None, bot.fault

    def _burst(self, bot: RawBot) -> None:
        for _ in range(self._rng.randint(1, 12)):
            bot.send(self._frames.frame())
            self.sent += 1
        while bot.unsent and bot.end is None:
            sleep(0.001)

    def _listen(self, bot: RawBot) -> None:
        with suppress(Ended):
            while True:
                message = bot.read()
                self._frames.hear(message)
                if message.decisions or message.invitations:
                    bot.send(self._frames.proper(message))


def fuzz(arena: Server, frames: int, name: str) -> None:
    observer = SecrecyObserver()
    before = arena.memory()
    tokens = {each: register(arena.address, f"{name}-{each}") for each in ("ann", "bob", "cid")}
    honest = {"ann": WatchedBot(arena.address, tokens["ann"], observer.of_bot(f"{name}-ann"), capacity=4)}
    honest["ann"].play_in_background()
    fuzzing = [FuzzingBot(arena.address, f"{name}-{number}", observer, f"{name} {number}") for number in range(2)]
    threads = [threading.Thread(target=bot.play, args=(frames // 2,)) for bot in fuzzing]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for other in ("bob", "cid"):
            bot_observer = observer.of_bot(f"{name}-{other}")
            honest[other] = WatchedBot(arena.address, tokens[other], bot_observer, capacity=4).play_in_background()  # type: ignore[assignment]
        until(lambda: all(bot.reports for bot in honest.values()), "a match of bots that say what they should")
    finally:
        for bot in honest.values():
            bot.close()
    for bot in honest.values():
        assert bot.fault is None, bot.fault
        own = [notice.text for notice in bot.notices if notice.kind <= pb.NOTICE_KIND_SUSPENDED]
        assert not [text for text in own if "no seat at match" not in text]
    for each in fuzzing:
        assert each.sent >= frames // 2
        each.bot_observer.check_seats()
    assert observer.decisions > 20
    assert arena.memory() < before + GROWTH
    assert arena.log == ""


def test_whatever_bots_say_on_a_socket(arena: Server) -> None:
    fuzz(arena, 1_200, "short")


@pytest.mark.long
def test_whatever_bots_say_on_a_socket_for_long(arena: Server) -> None:
    fuzz(arena, 40_000, "long")


def test_after_all_that_everything_stored_is_in_order(arena: Server) -> None:
    assert audit(arena.data).finished
