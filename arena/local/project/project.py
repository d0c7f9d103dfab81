"""A new bot's project: a folder with everything needed to play, test and change a bot."""

from __future__ import annotations

import json
import keyword
import re
import secrets
import shutil
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from string import Template
from typing import Final

from arena_client.v1.play_pb2 import PlayResponse, Welcome
from google.protobuf.json_format import MessageToDict

from arena.api.codec import PROTOBUF
from arena.api.game_codecs import encode_catalog
from arena.house import HOUSE_BOTS
from arena.local.errors import LocalMatchError
from arena.local.play.players import LocalHousePlayer
from arena.local.play.table import play_game
from arena.local.project.sdk_project import LANGUAGES, STARTERS, Project, sdk_project
from arena.server.sessions.messages import Outgoing
from arena.store.base.errors import NameNotAllowed
from arena.store.bots.bots import check_free, check_name
from arena.wheels import client_wheel, engine_wheel
from engine.game import Game

EACH: Final = 12
"""Number of sample decisions written per game and table size, spread evenly over a match."""
LANGUAGE_NAMES: Final = ("python", *LANGUAGES, *STARTERS)
"""Languages of bots, Python first."""
NEXT: Final = (
    "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt",
    ".venv/bin/python bot.py --server localhost:50051",
)
"""Commands that install and start a new Python bot."""
TEMPLATES: Final = Path(__file__).with_name("python_project")
PLACES: Final = {
    "bot.txt": "bot.py",
    "test_bot.txt": "test_bot.py",
    "readme.txt": "README.md",
    "requirements.txt": "requirements.txt",
    "ci.txt": ".github/workflows/ci.yml",
    "ignored.txt": ".gitignore",
}
"""The file name in a project for each template."""
IMPORTED: Final = ("AnswersTest", "Bot", "Decision", "Path")
"""Names that the templates use, so that a bot's class cannot have them."""


class _Listener(LocalHousePlayer):
    """A house bot that records the questions sent to it."""

    def __init__(self, game: Game) -> None:
        super().__init__(HOUSE_BOTS[game.name][0])
        self.asked: list[PlayResponse] = []

    def hear(self, message: Outgoing) -> Iterator[tuple[int, int]]:
        heard = PlayResponse.FromString(PROTOBUF.encode(message))
        if heard.decisions:
            self.asked.append(PlayResponse(decisions=heard.decisions))
        return super().hear(message)


def kept_decisions(games: Sequence[Game]) -> str:
    """Return JSON lines: one with the games' catalogues, then sample decisions for every game and table size."""
    messages = [PlayResponse(welcome=Welcome(games=[encode_catalog(game) for game in games]))]
    for game in games:
        for seats in game.seats:
            players = [_Listener(game) for _ in range(seats)]
            key = sha256(f"kept decisions {game.name} {seats}".encode()).digest()
            play_game(game, {}, key, players, len(messages))
            asked = players[0].asked
            messages += [asked[at * (len(asked) - 1) // (EACH - 1)] for at in range(EACH)]
    return "".join(json.dumps(MessageToDict(message), separators=(",", ":")) + "\n" for message in messages)


def class_name(name: str) -> str:
    """Return a class name for a bot's name, for example MyBot for my-bot."""
    words = re.split(r"[._-]+", name)
    joined = "".join(word[:1].upper() + word[1:] for word in words)
    taken = joined[:1].isdigit() or keyword.iskeyword(joined) or joined in IMPORTED
    return f"My{joined}" if taken else joined


def make_project(name: str, folder: Path, games: Sequence[Game], language: str = "python") -> Project:
    """Write a project for a bot that plays the given games, or all games if it is not in Python; return it.

    Either all files are written, or none. Raises LocalMatchError for a name that no server accepts, and for an existing
    folder. Raises: ModuleNotFoundError, OSError.
    """
    try:
        check_name(name)
        check_free(name)
    except NameNotAllowed as error:
        raise LocalMatchError(f"{error}: no server would register the bot") from error
    if not folder.parent.is_dir() and folder.parent.exists():
        raise LocalMatchError(f"{folder.parent} is no directory: choose another place with --directory")
    if folder.exists() or folder.is_symlink():
        raise LocalMatchError(f"{folder} exists already: choose another name, or another place with --directory")
    made = _in_python(name, games) if language == "python" else sdk_project(name, language)
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = folder.parent / f".new-{secrets.token_hex(8)}"
    draft.mkdir()
    try:
        for place, content in made.files.items():
            (draft / place).parent.mkdir(parents=True, exist_ok=True)
            (draft / place).write_bytes(content)
        draft.rename(folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return made


def _in_python(name: str, games: Sequence[Game]) -> Project:
    wheels = dict((client_wheel(), engine_wheel()))
    client, engine = wheels
    named = ", ".join(f'"{game.name}"' for game in games)
    words = {
        "name": name,
        "class": class_name(name),
        "games": f"({named},)" if len(games) == 1 else f"({named})",
        "titles": " and ".join(game.title for game in games),
        "game": games[0].name,
        "client": client,
        "engine": engine,
    }
    templates = {place: Template((TEMPLATES / file).read_text("utf-8")) for file, place in PLACES.items()}
    files = {place: template.substitute(words).encode() for place, template in templates.items()}
    files |= {"decisions.jsonl": kept_decisions(games).encode()}
    files |= {f"wheels/{name}": packed for name, packed in wheels.items()}
    return Project("bot.py", NEXT, files)
