"""The deals of a match played once more, with one house bot in every seat: how good the cards of each seat were."""

from __future__ import annotations

import traceback
from collections.abc import Generator, Iterator, Mapping
from hashlib import sha256
from typing import NamedTuple

from arena.house import THINKERS, HouseBot
from engine.deal import SeededDecks
from engine.game import OVER, Game, Option
from engine.registry import GAMES


def baseline(
    game: Game,
    seats: int,
    options: Mapping[str, Option],
    key: bytes,
    rounds: int | None,
    repetitions: int,
    bot: HouseBot,
) -> tuple[float, ...]:
    """The bot's mean score by seat, in points; the same for the same arguments.

    Repetitions differ in the chance that the bot is given: for one that draws none, once is enough.
    `key` is the match key; after so many `rounds` the game is broken off, None plays it to its end. OptionError as in
    `Game.new`, ValueError for a key of another length or no repetition.
    """
    course = replays(game, seats, options, key, rounds, repetitions, bot)
    while True:
        try:
            next(course)
        except StopIteration as end:
            scores: tuple[float, ...] = end.value
            return scores


def replays(
    game: Game,
    seats: int,
    options: Mapping[str, Option],
    key: bytes,
    rounds: int | None,
    repetitions: int,
    bot: HouseBot,
) -> Generator[None, None, tuple[float, ...]]:
    """The same choice by choice, for whoever has more urgent things to do in between."""
    if repetitions < 1:
        raise ValueError(f"deals are replayed at least once, not {repetitions} times")
    totals = [0] * seats
    for repetition in range(repetitions):
        state = game.new(seats, SeededDecks(key), **options)
        salt = key + repetition.to_bytes(4, "big")
        choices = 0
        while (seat := state.player) != OVER and state.round != rounds:
            chance = sha256(salt + choices.to_bytes(4, "big")).digest()
            state.apply(bot.decide(state.view(seat), state.legal(seat), chance), seat)
            choices += 1
            yield
        totals = [total + score for total, score in zip(totals, state.scores, strict=True)]
    return tuple(total / repetitions for total in totals)


class Replay(NamedTuple):
    """A request for a baseline, as it goes to another process."""

    number: int
    """Names the request in its result."""
    game: str
    seats: int
    options: Mapping[str, Option]
    key: bytes
    rounds: int | None
    repetitions: int
    bot: int
    """Place in `THINKERS`."""


class Replayed(NamedTuple):
    """The result of a `Replay`."""

    number: int
    scores: tuple[float, ...] | str
    """By seat, or in words what was wrong."""


def course(request: Replay) -> Iterator[Replayed | None]:
    """None for every choice, and at last the result."""
    number, game, seats, options, key, rounds, repetitions, bot = request
    try:
        scores = yield from replays(GAMES[game], seats, options, key, rounds, repetitions, THINKERS[bot])
    except Exception:  # noqa: BLE001 - it is told where it is waited for
        yield Replayed(number, traceback.format_exc())
    else:
        yield Replayed(number, scores)
