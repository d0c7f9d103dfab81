"""The pieces that a game needs, each with its file and a probe that finds faults.

The probes look in a `House`: the real code base or a test's own with a made-up game. They only check that a piece
exists and is complete. The other tests of this folder check that it is correct.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from arena_client.v1 import play_pb2

from arena.api.game_codecs import ROUNDS, VIEWS
from arena.house import HOUSE_BOTS
from arena.replay.render.show import RENDERERS
from engine.deal import SeededDecks
from engine.game import OVER, Game, State
from engine.registry import GAMES
from tests.house.frozen import FROZEN

_RULING: Final = re.compile(r"^\*\*([A-Z]+\d+)\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class House:
    """The places where the pieces of a game can be found."""

    root: Path
    games: Mapping[str, Game]
    own_fields: frozenset[str]
    """The games with their own fields in `Decision` and `RoundReport`. Later games get no such fields."""
    views: Mapping[type, Any]
    """Codecs of views by type of view."""
    rounds: Mapping[type, Any]
    renderers: Mapping[str, Any]
    bots: Mapping[str, Any]
    frozen: Mapping[tuple[str, str], Any]
    """Versions and choices of the house bots, by game and name."""

    def text(self, file: str) -> str | None:
        """Return the text of a file, or None if it does not exist."""
        path = self.root / file
        return path.read_text(encoding="utf-8") if path.is_file() else None

    def names(self) -> list[str]:
        """The registered games, and the games with a folder of rules in the engine."""
        folders = {path.parent.name for path in (self.root / "engine").glob("*/game.py")}
        return sorted({*self.games, *folders})


HOUSE: Final = House(
    root=Path(__file__).parents[2],
    games=GAMES,
    own_fields=frozenset(field.name for field in play_pb2.Decision.DESCRIPTOR.oneofs_by_name["view"].fields),
    views=VIEWS,
    rounds=ROUNDS,
    renderers=RENDERERS,
    bots=HOUSE_BOTS,
    frozen=FROZEN,
)


class Piece(NamedTuple):
    """A piece that a game needs."""

    name: str
    file: str
    """Path of the file, with {game} for the game's name."""
    probe: Callable[[House, str, str], str | None]
    """Function of house, game and file that returns the fault, or None if the piece is complete."""

    def missing(self, house: House, game: str) -> str | None:
        """Return a sentence with the piece, its file and its fault, or None if the piece is complete."""
        file = self.file.format(game=game)
        wrong = self.probe(house, game, file)
        return None if wrong is None else f"{game} lacks {self.name}: {file} {wrong}"


# --- probes ---


def _is_there(house: House, game: str, file: str) -> str | None:
    return None if house.text(file) else "is missing or empty"


def _is_registered(house: House, game: str, file: str) -> str | None:
    return None if game in house.games else f"does not list it in GAMES under {game!r}"


def _has_all_of_game(house: House, game: str, file: str) -> str | None:
    return _lacks(house.games[game], Game) if game in house.games else None


def _has_all_of_state(house: House, game: str, file: str) -> str | None:
    return _lacks(_new(house.games[game]), State) if game in house.games else None


def _lacks(thing: object, contract: type) -> str | None:
    names = [name for name in vars(contract) if not name.startswith("_")]
    absent = [name for name in names if name != "report" and getattr(thing, name, None) is None]
    return f"lacks {', '.join(absent)} of {contract.__name__} in engine/game.py" if absent else None


def _rulings(house: House, game: str) -> list[str]:
    return _RULING.findall(house.text(f"engine/{game}/rules.en.md") or "")


def _numbers_its_rulings(house: House, game: str, file: str) -> str | None:
    text = house.text(file)
    if not text:
        return "is missing or empty"
    found = _RULING.findall(text)
    if not found:
        return 'has no ruling: a paragraph that begins like "**S1 Deck.**"'
    letters = found[0].rstrip("0123456789")
    expected = [f"{letters}{number}" for number in range(1, len(found) + 1)]
    return None if found == expected else f"numbers its rulings {', '.join(found)}, not {', '.join(expected)}"


def _has_the_same_rulings(house: House, game: str, file: str) -> str | None:
    text = house.text(file)
    if not text:
        return "is missing or empty"
    expected, found = _rulings(house, game), _RULING.findall(text)
    return None if found == expected else f"has the rulings {', '.join(found)}, the English has {', '.join(expected)}"


def _tests_every_ruling(house: House, game: str, file: str) -> str | None:
    text = house.text(file)
    if not text:
        return "is missing or empty"
    untested = [ruling for ruling in _rulings(house, game) if not re.search(rf"def test_\w*?{ruling}_", text)]
    return f"has no test named after {', '.join(untested)}" if untested else None


def _has_messages(house: House, game: str, file: str) -> str | None:
    return _is_there(house, game, f"proto/arena/v1/{game}.proto" if game in house.own_fields else file)


def _travels_as_a_view(house: House, game: str, file: str) -> str | None:
    if game not in house.games:
        return None
    return _codec_fault(house, house.views, _new(house.games[game]).view(0), game, "VIEWS")


def _travels_as_a_round(house: House, game: str, file: str) -> str | None:
    if game not in house.games:
        return None
    state = _new(house.games[game])
    while state.report is None and state.player != OVER:
        state.apply(state.fallback(state.player), state.player)
    report = state.report
    return _codec_fault(house, house.rounds, report, game, "ROUNDS")


def _new(game: Game) -> Any:
    return game.new(game.seats.start, SeededDecks(bytes(32)))


def _codec_fault(house: House, codecs: Mapping[type, Any], value: object, game: str, where: str) -> str | None:
    codec = codecs.get(type(value))
    if codec is None or codec.game != game:
        return f"has no codec for {type(value).__name__} in {where}"
    if game in house.own_fields:
        return None
    if codec.other is None:
        return f"does not name the message for {type(value).__name__} in {where}"
    name = codec.other.DESCRIPTOR.full_name
    return None if name.startswith(f"{game}.v") else f"has {name} in {where}: its package begins with {game}.v"


def _is_drawn(house: House, game: str, file: str) -> str | None:
    return None if game in house.renderers else "is missing, or not among the RENDERERS of arena/replay/render/show.py"


def _has_bots(house: House, game: str, file: str) -> str | None:
    return None if house.bots.get(game) else f"has no bots for {game!r} in HOUSE_BOTS"


def _are_frozen(house: House, game: str, file: str) -> str | None:
    new = [bot.name for bot in house.bots.get(game, ()) if (game, bot.name) not in house.frozen]
    return f"does not have {', '.join(new)}" if new else None


def _is_in_print(house: House, game: str, file: str) -> str | None:
    if game not in house.games or f"\n## {house.games[game].title}\n" in (house.text(file) or ""):
        return None
    return f"has no chapter for {house.games[game].title}: python docs/observations.py writes it"


PIECES: Final = (
    Piece("its engine", "engine/{game}/game.py", _is_there),
    Piece("its place among the games", "engine/registry.py", _is_registered),
    Piece("the contract of a game", "engine/{game}/game.py", _has_all_of_game),
    Piece("the contract of a state", "engine/{game}/state.py", _has_all_of_state),
    Piece("sampled worlds", "engine/{game}/sample.py", _is_there),
    Piece("its vectors", "engine/{game}/observation.py", _is_there),
    Piece("its texts", "engine/{game}/text.py", _is_there),
    Piece("its rules in English", "engine/{game}/rules.en.md", _numbers_its_rulings),
    Piece("its rules in Dutch", "engine/{game}/rules.nl.md", _has_the_same_rulings),
    Piece("its rules in German", "engine/{game}/rules.de.md", _has_the_same_rulings),
    Piece("a test a ruling", "tests/engine/test_{game}_rulings.py", _tests_every_ruling),
    Piece("tests of its secrets", "tests/engine/test_{game}_secrets.py", _is_there),
    Piece("an oracle", "tests/oracles/{game}.py", _is_there),
    Piece("a comparison with the oracle", "tests/engine/test_{game}_oracle.py", _is_there),
    Piece("its fingerprint", "tests/conformance/perft/{game}.perft", _is_there),
    Piece("its deals for the fingerprint", "tests/conformance/perft/{game}.py", _is_there),
    Piece("its messages", "arena/api/{game}.proto", _has_messages),
    Piece("its codec", "arena/api/{game}.py", _is_there),
    Piece("its line for views", "arena/api/game_codecs.py", _travels_as_a_view),
    Piece("its line for rounds", "arena/api/game_codecs.py", _travels_as_a_round),
    Piece("a renderer", "arena/replay/render/{game}.py", _is_drawn),
    Piece("its deals in JavaScript", "clients/javascript/games/{game}.mjs", _is_there),
    Piece("house bots", "arena/house/__init__.py", _has_bots),
    Piece("the versions of its house bots", "tests/house/frozen.py", _are_frozen),
    Piece("its vectors in print", "docs/observations.md", _is_in_print),
)


def missing(house: House, game: str) -> list[str]:
    """Return the pieces that a game lacks, one sentence for each."""
    found = [piece.missing(house, game) for piece in PIECES]
    return [sentence for sentence in found if sentence is not None]


def need(game: Game, *names: str) -> None:
    """Fail with a sentence about a missing piece that a test needs to run."""
    for piece in PIECES:
        sentence = piece.missing(HOUSE, game.name) if piece.name in names else None
        if sentence:
            pytest.fail(sentence, pytrace=False)
