"""Write clients/conformance/vectors: catalogues, decisions and a log of results, with a client's results for them.

Run `cd clients/python && python -m client_tests.vectors`. A test checks that the files are current.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final, cast

from arena_client import Catalog, Decision, NullernView, SixthSenseView, nullern, sixth_sense
from arena_client.caller import as_decision
from arena_client.samples.rule_bot import RuleBot
from arena_client.v1 import game_pb2, play_pb2
from client_tests.corpus import CONFORMANCE
from client_tests.log_stories import stories
from google.protobuf.json_format import MessageToDict

from arena.api.game_codecs import VIEWS, encode_catalog
from arena.replay.view_digests import QUESTION_ENCODERS
from engine.deal import SeededDecks
from engine.registry import GAMES

FOLDER: Final = CONFORMANCE / "vectors"
EACH: Final = 12
"""Number of decisions to store per game and table size."""


def files() -> dict[str, str]:
    """Return the text of each file by its name."""
    catalogues = [catalogue(name) for name in GAMES]
    return {
        "catalogues.json": _lines(map(MessageToDict, catalogues)),
        "decisions.json": _lines(
            vector for name in GAMES for seats in GAMES[name].seats for vector in _game(name, seats)
        ),
        "receipts.json": _lines(stories()),
    }


def catalogue(name: str) -> game_pb2.GameCatalog:
    """Return a game's catalogue as the server sends it."""
    return game_pb2.GameCatalog.FromString(encode_catalog(GAMES[name]).SerializeToString())


def _lines(entries: Iterator[dict[str, Any]] | Any) -> str:
    return "[\n" + ",\n".join(json.dumps(each, ensure_ascii=False) for each in entries) + "\n]\n"


def _game(name: str, seats: int) -> Iterator[dict[str, Any]]:
    """Yield decisions of a game between rule bots with some random choices."""
    chance, bot = random.Random(f"{name} {seats}"), RuleBot()
    games = {name: Catalog.of(catalogue(name))}
    state = GAMES[name].new(seats, SeededDecks(bytes([seats]) * 32))
    found: list[dict[str, Any]] = []
    while waiting := state.waiting():
        for seat in waiting:
            message = play_pb2.Decision(match_id=1, decision_id=len(found) + 1, legal=state.legal(seat), soft_ms=1000)
            view = state.view(seat)
            getattr(message, name).ParseFromString(VIEWS[type(view)].encode(view))
            decision = as_decision(message, games)
            rules = bot.decide(decision)
            question = QUESTION_ENCODERS[4](
                [(message.decision_id, bytes(message.legal), *cast("tuple[Any, ...]", view))]
            )
            vector = {"decision": MessageToDict(message), "digest": sha256(question).hexdigest()}
            found.append({**vector, "reads": reads(decision), "rules": rules})
            state.apply(rules if chance.random() < 0.8 else chance.choice([*state.legal(seat)]), seat)
    yield from sorted(chance.sample(found, EACH), key=lambda each: int(each["decision"]["decisionId"]))


def reads(decision: Decision) -> dict[str, Any]:
    """Return the summary of a view that the package's game modules compute."""
    view, game = decision.view, decision.game
    if isinstance(view, NullernView):
        table = nullern.read(game, view)
        wanted = [nullern.wanted_tricks(view, seat) for seat in range(view.seats)]
        return {"trick": table.trick, "toCome": table.to_come, "taker": nullern.taker(game, view), "wanted": wanted,
                "unseen": sorted(table.unseen)}  # fmt: skip
    assert isinstance(view, SixthSenseView), "there are no others"
    seen = sixth_sense.read(game, view)
    return {
        "trump": seen.trump,
        "trick": [[each.seat, each.place, each.colour, each.value] for each in seen.trick],
        "toCome": seen.to_come,
        "taker": sixth_sense.taker(seen.trick, seen.trump),
        "lacks": sorted(map(list, seen.void)),
        "unseen": seen.unseen,
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in files().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
