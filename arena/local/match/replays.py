"""Replays of the games of a local match, for every verb that reads replays."""

from __future__ import annotations

from pathlib import Path

from arena.local.errors import LocalMatchError
from arena.local.match.sets import PlayedSet, SeatedGame, Subject
from arena.local.play.players import HOUSE
from arena.local.play.table import START, runner_header
from arena.match.effects import Ask, Over
from arena.match.inputs import Acted, Begun
from arena.replay.header import Entry, Header, SeatedBot
from arena.replay.record import encode
from engine.game import settle_options
from engine.registry import GAMES


def match_number(number: int, at: int, games: int) -> int:
    """Return the match number of game `at` in set `number`, both counted from 0. Each set has `games` games."""
    return games * number + at + 1


def set_replays(subject: Subject, played: PlayedSet) -> dict[int, bytes]:
    """Return the replay files of a set by match number. Equal sets have equal files.

    Raises:
        LocalMatchError: the choices cannot be played.
    """
    plans = subject.planned(played.number)
    found = {}
    for at, (plan, (bots, game)) in enumerate(zip(plans, played.games, strict=True)):
        number = match_number(played.number, at, len(plans))
        if not game.actions:
            raise LocalMatchError(f"match {number} has no replay: its choices were not kept")
        header = _header(subject, number, plan.seed, SeatedGame(bots, game))
        found[number] = encode(header, _entries(header, game.actions))
    return found


def replayed_scores(subject: Subject, played: PlayedSet) -> tuple[int, ...] | None:
    """Return the scores that result from the choices of a set's only game, or None if they do not lead to an end."""
    [plan], [game] = subject.planned(played.number), played.games
    header = _header(subject, match_number(played.number, 0, 1), plan.seed, game)
    try:
        _, effects = _entries(header, game.played.actions)[-1]
    except KeyError:  # the seat of a choice has no open decision
        return None
    return next((each.scores for each in effects if isinstance(each, Over)), None)


def _header(subject: Subject, number: int, seed: bytes, game: SeatedGame) -> Header:
    options = settle_options(GAMES[subject.game], subject.seats, subject.options)
    bots = [SeatedBot(subject.bots[bot], subject.bots[bot].startswith(HOUSE)) for bot in game.bots]
    return runner_header(number, GAMES[subject.game], options, bots, seed, game.played.began)


def write_replays(subject: Subject, played: PlayedSet, folder: Path) -> None:
    """Write the replays of a set into a folder, each as `match-N.jsonl.gz`.

    An existing file with the same content is left unchanged.

    Raises:
        LocalMatchError: a file with other content exists, or the choices cannot be played.
        OSError: a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for number, content in set_replays(subject, played).items():
        file = folder / f"match-{number}.jsonl.gz"
        if not file.exists():
            new = file.with_suffix(".new")
            new.write_bytes(content)
            new.replace(file)
        elif file.read_bytes() != content:
            raise LocalMatchError(f"{file} is the replay of another match: choose another folder with --replays")


def _entries(header: Header, actions: tuple[int, ...]) -> list[Entry]:
    """Return the entries of a game, replayed from its actions in the order of decisions, without thinking times."""
    match = header.new_match()
    effects = match.receive(begun := Begun(START))
    entries: list[Entry] = [(begun, effects)]
    asked: dict[int, int] = {}
    for decision, action in enumerate(actions, start=1):
        asked.update({each.decision: each.seat for each in effects if isinstance(each, Ask)})
        acted = Acted(START, asked[decision], decision, action)
        effects = match.receive(acted)
        entries.append((acted, effects))
    return entries
