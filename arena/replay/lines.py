"""What each line of a replay says: JSON objects from a match's header, inputs, effects and ratings.

The order of the fields is fixed and there are no spaces, so that the same match always gives the same text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final, TypeAlias, assert_never

from arena.match.effects import Ask, Back, Effect, Force, Gone, Hold, Over, Refuse, Release, Show, Substitute, Suspend
from arena.match.inputs import Acted, Begun, Input, Interrupted, Left, Restored, Returned, Sent, StoodIn, TimeUp
from arena.replay.header import ChangeLike, Header
from arena.replay.shown import QUESTIONS, ShownRound
from engine.game import Game, RoundReport

VERSION: Final = max(QUESTIONS)
"""The version of the format that is written; all that are known can be read."""
INPUTS: Final[dict[str, type[Input]]] = {
    "begun": Begun,
    "sent": Sent,
    "acted": Acted,
    "stood_in": StoodIn,
    "time_up": TimeUp,
    "left": Left,
    "returned": Returned,
    "restored": Restored,
    "interrupted": Interrupted,
}
"""The inputs by the name they have in a replay."""
_NAMES: Final = {kind: name for name, kind in INPUTS.items()}
_Plain: TypeAlias = Refuse | Force | Suspend | Gone | Substitute | Back | Hold | Release | Over
HEADER_START: Final = '{"arena_replay":'
"""How a header's line begins, and no other."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_write: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_quoted: Final = cache(_write)  # of the names of actions, which are few
_policy: Final = cache(asdict)  # of which a server has one


def header_line(header: Header, rated: bool = False, version: int = VERSION) -> str:
    """The first line: what is known before the first input."""
    return _write(_header(header, rated, version))


def _header(header: Header, rated: bool, version: int) -> dict[str, Any]:
    return {
        "arena_replay": version,
        "match": header.match,
        "game": header.game.name,
        "rated": rated,
        "options": dict(sorted(header.options.items())),
        "seats": len(header.bots),
        "bots": [{"name": bot.name, "house": bot.house} for bot in header.bots],
        "seed": header.seed.hex(),
        "commitment": header.commitment.hex(),
        "nonces": [nonce.hex() for nonce in header.nonces],
        "stand_in": header.stand_in,
        "policy": _policy(header.policy),
        "started": written_instant(header.started),
        "server": header.server,
    }


def written_instant(microseconds: int) -> str:
    """Microseconds since 1970 as ISO 8601 in UTC with six decimals."""
    return (_EPOCH + timedelta(microseconds=microseconds)).isoformat(timespec="microseconds").replace("+00:00", "Z")


def read_instant(text: str) -> int:
    """The inverse of `written_instant`; ValueError for what it does not write."""
    try:
        microseconds = (datetime.fromisoformat(text) - _EPOCH) // timedelta(microseconds=1)
        if written_instant(microseconds) == text:
            return microseconds
    except (TypeError, OverflowError):
        pass  # no time zone, or a year that is none
    raise ValueError(f"{text!r} is not an instant as replays have them")


def input_line(event: Input, game: Game) -> str:
    """The line of an input. Nearly all are of two kinds, and for those there are faster ways than an encoder."""
    if isinstance(event, Sent):
        return f'{{"in":"sent","at":{event.at},"seat":{event.seat},"decision":{event.decision},"lag":{event.lag}}}'
    if isinstance(event, Acted):
        return (
            f'{{"in":"acted","at":{event.at},"seat":{event.seat},"decision":{event.decision},'
            f'"action":{event.action},"name":{_quoted(_name(game, event.action))}}}'
        )
    named = {"name": _name(game, event.action)} if isinstance(event, StoodIn) else {}
    return _write({"in": _NAMES[type(event)], **event._asdict(), **named})


def effect_line(effect: Effect, game: Game) -> str:
    """The line of an effect; questions have none, ValueError."""
    match effect:
        case Show(report):
            return _report_line(report)
        case Ask():
            raise ValueError("questions have no lines of their own: playing the inputs again asks them again")
        case _:
            return _write(_effect(effect, game))


def shown_line(shown: ShownRound) -> str:
    """The line of what was shown in a round."""
    views = '","'.join(shown.views)
    return f'{{"shown":{shown.round},"views":["{views}"],"banks":{_numbers(shown.banks)}}}'


def result_line(over: Over, names: Sequence[str]) -> str:
    """The line of the result of a match between these bots, by seat."""
    result = "finished" if over.places else "interrupted"
    return _write({"result": result, "bots": names, **over._asdict()})


def ratings_line(ratings: Sequence[ChangeLike], names: Sequence[str]) -> str:
    """The line of what the match did to the ratings of these bots, by seat."""
    return _write(
        {
            "ratings": [
                {
                    "bot": name,
                    "before": rating.before.value,
                    "before_deviation": rating.before.deviation,
                    "after": rating.after.value,
                    "after_deviation": rating.after.deviation,
                }
                for name, rating in zip(names, ratings, strict=True)
            ]
        }
    )


def _effect(effect: _Plain, game: Game) -> dict[str, Any]:
    match effect:
        case Refuse(seat, decision, action, why, legal, time):
            answer = {"seat": seat, "decision": decision, "action": action, "name": _name(game, action)}
            return {"out": "refused", **answer, "why": why.value, "legal": list(legal), "time": time}
        case Force(seat, decision, action, why):
            choice = {"seat": seat, "decision": decision, "action": action, "name": _name(game, action)}
            return {"out": "forced", **choice, "why": why.value}
        case Suspend(seat):
            return {"out": "suspended", "seat": seat}
        case Gone(seat, time):
            return {"out": "gone", "seat": seat, "time": time}
        case Substitute(seat):
            return {"out": "substituted", "seat": seat}
        case Back(seat):
            return {"out": "back", "seat": seat}
        case Hold(time):
            return {"out": "hold", "time": time}
        case Release():
            return {"out": "release"}
        case Over():
            return {"out": "over", **effect._asdict()}
    assert_never(effect)


def _name(game: Game, action: int) -> str | None:
    """What people call an action; None for a number that is no action's."""
    return game.actions[action].name if 0 <= action < len(game.actions) else None


def _report_line(report: RoundReport) -> str:
    """One comes with every round, and there is a faster way than an encoder."""
    fields = [f',"{name}":{_value(value)}' for name, value in report._asdict().items()]
    return f'{{"out":"round"{"".join(fields)}}}'


def _value(value: Any) -> str:
    """A value of a report; see `engine.game.SeatView`."""
    if isinstance(value, bytes | tuple):
        return _numbers(value)
    return str(value) if type(value) is int else _write(value)


def _numbers(numbers: Sequence[int]) -> str:
    return str([*numbers]).replace(" ", "")
