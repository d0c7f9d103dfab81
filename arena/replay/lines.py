# Compiled: every decision passes through here.
"""The lines of a replay: header, inputs, effects, result and ratings of a match as JSON objects.

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
from arena.match.result import RATING_RULE
from arena.replay.header import ChangeLike, Header, SeatOffer
from arena.replay.view_digests import QUESTION_ENCODERS, RoundDigests
from engine.game import Game, RoundReport

VERSION: Final = max(QUESTION_ENCODERS)
"""Version of the written format. Older versions can still be read."""
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
"""Types of inputs by their names in a replay."""
ADDED_IN_4: Final[dict[type[Input], tuple[str, bool | str]]] = {Left: ("in_order", False), Restored: ("stand_in", "")}
"""Fields of inputs that older formats lack, with their defaults."""
ADDED_TO_HEADER_IN_4: Final = ("kind", "dealt_by", "rating_rule", "offers")
_NAMES: Final = {kind: name for name, kind in INPUTS.items()}
_Plain: TypeAlias = Refuse | Force | Suspend | Gone | Substitute | Back | Hold | Release | Over
HEADER_START: Final = '{"arena_replay":'
"""Beginning of a header line. No other line begins like this."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_write: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_quoted: Final = cache(_write)  # the names of actions are few
_policy: Final = cache(asdict)  # a server has few policies


def header_line(header: Header, rated: bool = False, version: int = VERSION) -> str:
    """Write the first line, the header."""
    return _write(_header(header, rated, version))


def _header(header: Header, rated: bool, version: int) -> dict[str, Any]:
    line = {
        "arena_replay": version,
        "match": header.match_id,
        "game": header.game.name,
        **({"ladder": header.ladder} if header.ladder else {}),
        "kind": header.kind.value,
        **({"event": header.event} if header.event else {}),
        "dealt_by": header.dealt_by,
        "rated": rated,
        "rating_rule": header.rating_rule,
        "options": dict(sorted(header.options.items())),
        "seats": len(header.bots),
        "bots": [bot._asdict() for bot in header.bots],
        "seed": header.seed.hex(),
        "commitment": header.commitment.hex(),
        "nonces": [nonce.hex() for nonce in header.nonces],
        "offers": [_offer(each) for each in header.offers],
        "stand_in": header.stand_in,
        "policy": _policy(header.policy),
        "started": written_instant(header.started),
        "server": header.server,
    }
    return line if version >= 4 else _without_4(line)


def _without_4(line: dict[str, Any]) -> dict[str, Any]:
    """Remove the fields that format 4 added to a header."""
    older = {name: value for name, value in line.items() if name not in ADDED_TO_HEADER_IN_4}
    older["bots"] = [{"name": bot["name"], "house": bot["house"]} for bot in line["bots"]]
    older["policy"] = {name: value for name, value in line["policy"].items() if name != "newcomer_grace"}
    return older


def _offer(offer: SeatOffer) -> dict[str, Any]:
    return {**offer._asdict(), "outcome": offer.outcome.value, "salt": offer.salt.hex()}


def written_instant(microseconds: int) -> str:
    """Format microseconds since 1970 as ISO 8601 in UTC with six decimals."""
    return (_EPOCH + timedelta(microseconds=microseconds)).isoformat(timespec="microseconds").replace("+00:00", "Z")


def read_instant(text: str) -> int:
    """Parse a time. Raises: ValueError: Not the format of `written_instant`."""
    try:
        microseconds = (datetime.fromisoformat(text) - _EPOCH) // timedelta(microseconds=1)
        if written_instant(microseconds) == text:
            return microseconds
    except (TypeError, OverflowError):
        pass  # no time zone, or an invalid year
    raise ValueError(f"{text!r} is not an instant as replays have them")


def input_line(event: Input, game: Game, version: int = VERSION) -> str:
    """Write the line of an input in a version of the format.

    For `Sent` and `Acted`, which are nearly all inputs, formatting is faster than an encoder.
    """
    if isinstance(event, Sent):
        return f'{{"in":"sent","at":{event.at},"seat":{event.seat},"decision":{event.decision},"lag":{event.lag}}}'
    if isinstance(event, Acted):
        return (
            f'{{"in":"acted","at":{event.at},"seat":{event.seat},"decision":{event.decision},'
            f'"action":{event.action},"name":{_quoted(_name(game, event.action))}}}'
        )
    named = {"name": _name(game, event.action)} if isinstance(event, StoodIn) else {}
    line = {"in": _NAMES[type(event)], **event._asdict(), **named}
    if isinstance(event, Restored) and not event.removed:
        del line["removed"]
    if version < 4 and (added := ADDED_IN_4.get(type(event))) is not None:
        del line[added[0]]
    return _write(line)


def effect_line(effect: Effect, game: Game, rating_rule: int = RATING_RULE) -> str:
    """Write the line of an effect in a match under a rating rule. Raises ValueError for an `Ask`, which has no line."""
    match effect:
        case Show(report):
            return _report_line(report)
        case Ask():
            raise ValueError("questions have no lines of their own: playing the inputs again asks them again")
        case _:
            return _write(_effect(effect, game, rating_rule))


def view_digests_line(shown: RoundDigests) -> str:
    """Write the line with the digests of a round's views."""
    views = '","'.join(shown.views)
    return f'{{"shown":{shown.round},"views":["{views}"],"banks":{_numbers(shown.banks)}}}'


def result_line(over: Over, names: Sequence[str], rating_rule: int = RATING_RULE) -> str:
    """Write the line of the result under a rating rule. `names` are the bots' names by seat."""
    result = "finished" if over.places else "interrupted"
    return _write({"result": result, "bots": names, **_result(over, rating_rule)})


def ratings_line(ratings: Sequence[ChangeLike], names: Sequence[str]) -> str:
    """Write the line of the rating changes. `ratings` and the bots' `names` are by seat."""
    return _write(
        {
            "ratings": [
                {
                    "bot": name,
                    "before": rating.before.value,
                    "before_deviation": rating.before.deviation,
                    "after": rating.after.value,
                    "after_deviation": rating.after.deviation,
                    **({"beyond_quota": [*rating.beyond_quota]} if rating.beyond_quota else {}),
                }
                for name, rating in zip(names, ratings, strict=True)
            ]
        }
    )


def _effect(effect: _Plain, game: Game, rating_rule: int) -> dict[str, Any]:
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
            return {"out": "over", **_result(effect, rating_rule)}
    assert_never(effect)


def _result(over: Over, rating_rule: int) -> dict[str, Any]:
    """Return the fields of a result. Rule 1 has no spoilt seats."""
    line = over._asdict()
    if rating_rule == 1:
        del line["spoilt"]
    return line


def _name(game: Game, action: int) -> str | None:
    """Return the name of an action, or None for an unknown number."""
    return game.actions[action].name if 0 <= action < len(game.actions) else None


def _report_line(report: RoundReport) -> str:
    """Write the line of a round's report. Formatting is faster than an encoder."""
    fields = [f',"{name}":{_value(value)}' for name, value in report._asdict().items()]
    return f'{{"out":"round"{"".join(fields)}}}'


def _value(value: Any) -> str:
    """Write a value of a report as JSON. `engine.game.SeatView` lists the types."""
    if isinstance(value, bytes | tuple):
        return _numbers(value)
    return str(value) if type(value) is int else _write(value)


def _numbers(numbers: Sequence[int]) -> str:
    return str([*numbers]).replace(" ", "")
