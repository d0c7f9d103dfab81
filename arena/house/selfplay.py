"""Work that a server gives to its workers: questions to house bots, and baselines.

A list of questions is answered by a list of answers in the same order. Any other message is a `BaselineRequest` or its
`BaselineResult`. A baseline replays the deals of a match with one house bot in every seat, which measures how good the
cards were.
"""

from __future__ import annotations

import traceback
from collections.abc import Generator, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple, TypeAlias

from arena.house import CHOOSERS, THINKERS, HouseBot
from engine.deal import SeededDecks
from engine.game import OVER, Game, Option, SeatView
from engine.registry import GAMES

Question: TypeAlias = tuple[int, SeatView, Sequence[int], bytes]
"""Index of the bot in `CHOOSERS`, view, legal actions, and 32 random bytes."""
Answer: TypeAlias = int | str
"""The action chosen, or the text of the bot's error."""


def answer(bot: HouseBot, view: SeatView, legal: Sequence[int], chance: bytes) -> Answer:
    """Let a bot choose. An exception of the bot, or an illegal action, is returned as text and not raised."""
    try:
        action = bot.decide(view, legal, chance)
    except Exception:  # noqa: BLE001 - the server logs it and chooses instead
        return traceback.format_exc()
    return action if action in tuple(legal) else f"action {action} is not legal"


def answers(questions: Sequence[Question]) -> list[Answer]:
    """Answer a batch of questions, in order."""
    return [answer(CHOOSERS[bot], view, legal, chance) for bot, view, legal, chance in questions]


def baseline(
    game: Game,
    seats: int,
    options: Mapping[str, Option],
    key: bytes,
    rounds: int | None,
    repetitions: int,
    bot: HouseBot,
) -> tuple[float, ...]:
    """Compute the bot's mean score by seat, in points, always the same for the same arguments.

    Repetitions differ in the random bytes given to the bot; a bot that ignores these needs only one.
    `key`: the match key. The game stops after `rounds` rounds; with None it is played to its end.

    Raises:
        OptionError: As for `Game.new`.
        ValueError: The key's length is wrong, or there is less than one repetition.
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
    """Compute a baseline in a generator.

    It yields after every choice, so that the caller can do other work in between.
    """
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


class BaselineRequest(NamedTuple):
    """Request for a baseline, sent to a worker process."""

    number: int
    """Number of the request, repeated in its result."""
    game: str
    seats: int
    options: Mapping[str, Option]
    key: bytes
    rounds: int | None
    repetitions: int
    bot: int
    """Index in `THINKERS`."""


class BaselineResult(NamedTuple):
    """Result of a `BaselineRequest`."""

    number: int
    """Number of the request."""
    scores: tuple[float, ...] | str
    """Mean score of each seat, or the text of an error."""


def course(request: BaselineRequest) -> Iterator[BaselineResult | None]:
    """Yield None after every choice, and finally the result."""
    number, game, seats, options, key, rounds, repetitions, bot = request
    try:
        scores = yield from replays(GAMES[game], seats, options, key, rounds, repetitions, THINKERS[bot])
    except Exception:  # noqa: BLE001 - the result carries it to the server
        yield BaselineResult(number, traceback.format_exc())
    else:
        yield BaselineResult(number, scores)
