"""Plays sets in this process with its own bots."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeAlias

from arena.local.errors import BotFailed, BotNotLoaded
from arena.local.match.replays import match_number
from arena.local.match.sets import PlayedSet, SeatedGame, Subject
from arena.local.play.players import forget, load
from arena.local.play.table import play_game
from engine.registry import GAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.local.match.thinking import ThinkingRecord
    from arena.local.play.players import LocalPlayer

PlayedTask: TypeAlias = tuple[float, list[PlayedSet]]
"""The duration of a task in seconds and the sets that it played."""
_Compared: TypeAlias = tuple[str, tuple[str, ...], tuple[str, ...]]

_players: dict[_Compared, list[LocalPlayer]] = {}
"""Players by subject. Each is created once."""


def play_task(subject: Subject, numbers: Sequence[int], record: ThinkingRecord | None = None) -> PlayedTask:
    """Play sets one after the other.

    Raises:
        LocalMatchError: as in `play_set`.
    """
    began = time.perf_counter()
    played = [play_set(subject, number, record) for number in numbers]
    return time.perf_counter() - began, played


def play_set(subject: Subject, number: int, record: ThinkingRecord | None = None) -> PlayedSet:
    """Play one set. `record` always contains the bot that is currently thinking.

    Raises: BotNotLoaded: a bot cannot be created, or its version differs from the subject's.
        BotFailed: a bot raised an exception.
    """
    players = _made(subject)
    games = []
    plans = subject.planned(number)
    for at, plan in enumerate(plans):
        table = [players[bot] for bot in plan.bots]
        if record is not None:
            record.play(number, at)
        try:
            played = play_game(
                GAMES[subject.game],
                subject.options,
                plan.key,
                table,
                match_number(number, at, len(plans)),
                thinks=None if record is None else record.think,
            )
        except BotFailed as error:
            spec = subject.bots[plan.bots[error.seat]]
            raise BotFailed(spec, error.seat, f"{error.where} of set {number}", error.trace) from None
        if record is not None:
            record.rest()
        games.append(SeatedGame(plan.bots, played))
    return PlayedSet(number, tuple(games))


def is_made(subject: Subject) -> bool:
    """Return True if the bots exist already."""
    return _compared(subject) in _players


def forget_bots() -> None:
    """Discard all bots and their imports, so that the next bots use their current files."""
    _players.clear()
    forget()


def _made(subject: Subject) -> list[LocalPlayer]:
    """Return the bots. Create them if needed."""
    compared = _compared(subject)
    if compared not in _players:
        players = [load(spec, GAMES[subject.game]) for spec in subject.bots]
        for spec, player, version in zip(subject.bots, players, subject.versions, strict=True):
            if player.version != version:
                raise BotNotLoaded(spec, f"it is version {player.version} here, and the match is about {version}")
        _players[compared] = players
    return _players[compared]


def _compared(subject: Subject) -> _Compared:
    return subject.game, subject.bots, subject.versions
