"""Players of a local match: house bots, and Python client bots in this process.

A player receives exactly the messages that a bot on a server receives. A client bot receives them as protobuf through
the client's own code, so its `decide()` cannot tell the difference.
"""

from __future__ import annotations

import inspect
import linecache
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, Protocol

from arena import house
from arena.house import HOUSE_BOTS, HouseBot, named_bots
from arena.local.errors import BotNotLoaded, PackageMissing
from arena.server.sessions.messages import Outgoing

if TYPE_CHECKING:
    from arena_client.decision import Decision

    from engine.game import Game

HOUSE: Final = "house:"
"""Prefix of a house bot's name."""
_BOT_MODULE: Final = "arena_bot_"
"""Prefix of the module names of bots."""
_imported: dict[str, dict[str, ModuleType]] = {}
"""For each folder, the modules that bots have imported from it."""


class LocalPlayer(Protocol):
    """Interface of a bot that plays a seat. An object may have only one seat at a table."""

    name: str
    """The bot's name at the table."""
    version: str
    """A house bot's version. For any other bot, the version that it states, or else the digest of its code."""

    def begin(self, key: bytes, seat: int) -> None:
        """Prepare for a game with the given key, in the given seat."""

    def hear(self, message: Outgoing) -> Iterable[tuple[int, int]]:
        """Handle a message. Return the decision's number and the action for every question in it.

        Exceptions that the bot raises propagate. The message belongs to the table, which may reuse it.
        """


class LocalHousePlayer:
    """A house bot.

    Its random numbers depend on the game's key, so it always plays the same deals in the same way.
    """

    def __init__(self, bot: HouseBot) -> None:
        self.name = bot.name
        self.version = bot.version
        self._bot = bot
        self._key = b""

    def begin(self, key: bytes, seat: int) -> None:
        self._key = key

    def hear(self, message: Outgoing) -> Iterator[tuple[int, int]]:
        for question in message.questions:
            ask = question.ask
            chance = sha256(self._key + ask.decision.to_bytes(4, "big")).digest()  # as in `MatchDriver`
            yield ask.decision, self._bot.decide(ask.view, ask.legal, chance)


class LocalClientPlayer:
    """A bot written with the Python client."""

    def __init__(self, game: Game, bot: Any) -> None:
        """`bot` is an `arena_client.Bot`."""
        from arena_client.async_caller import is_async
        from arena_client.bot import Bot
        from arena_client.caller import Caller, as_decision, checked
        from arena_client.decision import Catalog
        from arena_client.errors import BadAnswerError
        from arena_client.v1.game_pb2 import GameCatalog
        from arena_client.v1.play_pb2 import PlayResponse, Welcome

        from arena.api.codec import PROTOBUF
        from arena.api.game_codecs import encode_catalog

        self.bot = bot
        self.name = bot.name or type(bot).__name__
        self.version: str = bot.digest() if bot.version is None else bot.version
        self._encode = PROTOBUF.encode
        self._parse = PlayResponse.FromString
        self._caller = Caller(bot)
        self._one_by_one = type(bot).decide_many is Bot.decide_many
        self._is_async = is_async(bot)
        self._read, self._checked, self._bad_answer = as_decision, checked, BadAnswerError
        catalog = GameCatalog.FromString(encode_catalog(game).SerializeToString())
        self._games = {game.name: Catalog.of(catalog)}
        bot.welcome = Welcome(bot=self.name, games=[catalog])

    def begin(self, key: bytes, seat: int) -> None:
        """Do nothing, because the first message contains all information."""

    def hear(self, message: Outgoing) -> Iterable[tuple[int, int]]:
        """Answer with the client's own code. The replies are not encoded, which halves the time."""
        response = self._parse(self._encode(message))
        if message.rounds or not message.routine:
            for _reply in self._caller.news(response):
                pass  # the replies have no receiver
        asked = response.decisions
        if self._is_async:
            return [self._awaited(self._read(each, self._games)) for each in asked]
        if self._one_by_one and len(asked) == 1:
            decision = self._read(asked[0], self._games)
            return ((decision.decision_id, self._checked(decision, self.bot.decide(decision), 1, 1)),)
        return self._many([self._read(each, self._games) for each in asked])

    def _awaited(self, decision: Decision) -> tuple[int, int]:
        """Answer with an `async def decide` in an asyncio event loop."""
        import asyncio

        return decision.decision_id, self._checked(decision, asyncio.run(self.bot.decide(decision)), 1, 1)

    def _many(self, decisions: Sequence[Decision]) -> Iterator[tuple[int, int]]:
        choices = iter(self.bot.decide_many(decisions))
        for count, decision in enumerate(decisions, start=1):
            yield decision.decision_id, self._checked(decision, next(choices, None), count, len(decisions))
        if next(choices, None) is not None:
            raise self._bad_answer(
                f"decide_many() gave more than {len(decisions)} answers to {len(decisions)} decisions"
            )


def load(spec: str, game: Game) -> LocalPlayer:
    """Return a new player for a spec: `house:NAME`, or `FILE.py` or `FILE.py:CLASS` with a Python client bot.

    Raises BotNotLoaded.
    """
    if spec.startswith(HOUSE):
        return LocalHousePlayer(house_bot(spec, game))
    path, _, name = spec.partition(":") if spec.endswith(".py") or ".py:" in spec else ("", "", "")
    if not path:
        raise BotNotLoaded(spec, f"it is neither FILE.py, FILE.py:CLASS nor {HOUSE}NAME ({_house_names(game)})")
    with _project(Path(path).resolve()):
        kind = _bot_class(spec, _module(spec, Path(path).resolve()), name)
        try:
            bot = kind()
        except (Exception, SystemExit) as error:
            raise BotNotLoaded(spec, f"{kind.__name__}() raises\n{traceback.format_exc().rstrip()}") from error
        if game.name not in bot.games:
            raise BotNotLoaded(spec, f"it plays {', '.join(bot.games) or 'no game'}, not {game.name}: see its `games`")
        return LocalClientPlayer(game, bot)


def absolute(spec: str) -> str:
    """Return a bot's specification with an absolute path."""
    return spec if spec.startswith(HOUSE) else str(Path(spec).resolve())


def forget() -> None:
    """Discard the bots' imports, because their files may change during a long-lived process."""
    _imported.clear()
    for name in [name for name in sys.modules if name.startswith(_BOT_MODULE)]:
        del sys.modules[name]
    linecache.clearcache()


def house_bot(spec: str, game: Game) -> HouseBot:
    """Return the house bot that a specification names.

    Raises:
        BotNotLoaded: there is no such house bot.
    """
    try:
        return house.house_bot(game.name, spec.removeprefix(HOUSE))
    except house.UnknownBotError:
        raise BotNotLoaded(spec, f"the house bots of {game.name} are {_house_names(game)}") from None


def strongest_house(game: str) -> str:
    """Return the specification of a game's strongest house bot."""
    return _written(HOUSE_BOTS[game][-1])


def _house_names(game: Game) -> str:
    return ", ".join(map(_written, named_bots(game.name)))


def _written(bot: HouseBot) -> str:
    return HOUSE + bot.name.removeprefix("house-")


@contextmanager
def _project(file: Path) -> Iterator[None]:
    """Make imports in this block work as if Python ran `file`: from the file's folder, and not from another bot's
    folder.

    Two versions of a bot have modules with the same names. So a folder's modules are registered only while one of its
    bots is created. The bot itself has references to its imports.
    """
    folder, before = str(file.parent), {**sys.modules}
    sys.path.insert(0, folder)
    sys.modules.update(_imported.get(folder, {}))
    try:
        yield
    finally:
        sys.path.remove(folder)
        new = {name: module for name, module in sys.modules.items() if before.get(name) is not module}
        own = _imported[folder] = {name: module for name, module in new.items() if _lies_in(module, file.parent)}
        for name in own:
            del sys.modules[name]


def _lies_in(module: ModuleType, folder: Path) -> bool:
    """Return True if a module belongs to a project, and not to a library in the project's folder."""
    file = getattr(module, "__file__", None)
    if not isinstance(file, str) or module.__name__.partition(".")[0] in ("arena", "arena_client", "engine"):
        return False
    path = Path(file).resolve()
    return path.is_relative_to(folder) and "site-packages" not in path.parts and "dist-packages" not in path.parts


def _module(spec: str, path: Path) -> ModuleType:
    name = f"{_BOT_MODULE}{sha256(str(path).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    if not path.is_file():
        raise BotNotLoaded(spec, f"there is no file {path}")
    found = spec_from_file_location(name, path)
    assert found is not None, "the name ends with .py"
    assert found.loader is not None, "it is a file"
    module = module_from_spec(found)
    sys.modules[name] = module
    try:
        found.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        trace = "".join(traceback.format_exception(error)).rstrip()
        raise BotNotLoaded(spec, f"importing it raises\n{trace}") from error
    return module


def _bot_class(spec: str, module: ModuleType, name: str) -> type[Any]:
    """Return the bot class with the given name, or the module's only bot class."""
    try:
        from arena_client import Bot
    except ModuleNotFoundError as error:
        raise BotNotLoaded(spec, str(PackageMissing("arena_client"))) from error

    def own(kind: object) -> bool:
        return inspect.isclass(kind) and issubclass(kind, Bot) and kind.__module__ == module.__name__

    classes: dict[str, type[Any]] = dict(inspect.getmembers(module, own))
    if name:
        if name not in classes:
            raise BotNotLoaded(spec, f"it has no bot of this name; {_in_words(tuple(classes))}")
        return classes[name]
    if len(classes) != 1:
        raise BotNotLoaded(spec, _in_words(tuple(classes)) + (": say which, FILE.py:CLASS" if classes else ""))
    return next(iter(classes.values()))


def _in_words(classes: Sequence[str]) -> str:
    return f"its bots are {', '.join(classes)}" if classes else "it has no class that extends arena_client.Bot"
