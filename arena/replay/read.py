"""Reading of replay files. This module checks form and hash chain; `verify` checks the contents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from arena.match.inputs import Input, Restored
from arena.match.policy import Policy
from arena.replay import shape
from arena.replay.hash_chain import LIMIT, Chain, PackingError, unpack, without_chain
from arena.replay.header import Header, MatchKind, OfferOutcome, SeatedBot, SeatOffer
from arena.replay.lines import ADDED_IN_4, INPUTS, VERSION, read_instant
from arena.replay.replay import RecordedRating, RecordedRatingChange, RecordedResult, Replay, ReplayError
from arena.replay.shape import ShapeError, check
from arena.replay.view_digests import QUESTION_ENCODERS
from engine.game import OptionError
from engine.registry import GAMES


def read(source: Path | bytes, name: str = "replay") -> Replay:
    """Read a replay file, or the bytes of one, which error messages call `name`.

    Raises:
        ReplayError: the file is damaged or no replay.
    """
    if isinstance(source, bytes):
        return _Reader(name).replay(source)
    try:
        with source.open("rb") as file:
            content = file.read(LIMIT + 1)
    except OSError as error:
        raise ReplayError(str(source), None, f"it cannot be read: {error.strerror or error}") from None
    return _Reader(str(source)).replay(content)


def read_unfinished(lines: Sequence[str], name: str) -> tuple[Header, tuple[Input, ...]]:
    """Read the header and inputs of an unfinished match from lines without a hash chain. Raises: ReplayError."""
    return _Reader(name).unfinished(lines)


class _Reader:
    """A reader of one file. It tracks the current line for error messages."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._line: int | None = None
        self._version = VERSION
        self._over: shape.Shape = {}
        """Fields that the match's rating rule adds to its result."""

    def replay(self, content: bytes) -> Replay:
        lines = self._lines(content)
        objects = self._objects(lines)
        try:
            first = next(objects)
            header = self._header(first)
            inputs, result = self._body(objects, len(header.bots))
            ratings = self._ratings(objects, len(header.bots)) if first["rated"] else None
            for _ in objects:
                self._fail("the replay is complete before this line")
        except ShapeError as error:
            self._fail(str(error))
        replay = Replay(self._source, first["arena_replay"], header, inputs, result, ratings, lines)
        try:
            replay.header.new_match()
        except OptionError as error:
            self._line = 1
            self._fail(str(error))
        return replay

    def unfinished(self, lines: Sequence[str]) -> tuple[Header, tuple[Input, ...]]:
        inputs: list[Input] = []
        if not lines:
            self._fail("it is empty")
        try:
            for self._line, line in enumerate(lines, 1):
                content = self._parsed(line)
                if self._line == 1:
                    self._check_version(content)
                    header = self._header(content)
                else:
                    inputs.append(self._input(content))
        except (ShapeError, KeyError) as error:
            self._fail(str(error))
        return header, tuple(inputs)

    def _fail(self, problem: str) -> NoReturn:
        raise ReplayError(self._source, self._line, problem) from None

    def _lines(self, content: bytes) -> tuple[str, ...]:
        try:
            text = unpack(content)
        except PackingError as error:
            self._fail(str(error))
        if not text:
            self._fail("it is empty")
        try:
            *lines, rest = text.decode().split("\n")
        except UnicodeDecodeError as error:
            self._line = text.count(b"\n", 0, error.start) + 1
            self._fail(f"the byte {text[error.start]:#04x} there is not UTF-8")
        if rest:
            self._line = len(lines) + 1
            self._fail("the line is cut off: it does not end in a newline")
        return tuple(lines)

    def _objects(self, lines: tuple[str, ...]) -> Iterator[dict[str, Any]]:
        """Parse the lines in order and check their chain."""
        chain = Chain()
        for self._line, line in enumerate(lines, 1):
            text = without_chain(line)
            content = self._parsed(line if text is None else text)
            if self._line == 1:
                self._check_version(content)
            if text is None:
                self._fail('it does not end in the field "chain"')
            if chain.line(text) != line:
                self._fail("the chain is broken: the line was changed, or lines before it were removed, added or moved")
            yield content

    def _parsed(self, text: str) -> dict[str, Any]:
        try:
            content = json.loads(text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            self._fail(f"it is not JSON ({error})")
        if not isinstance(content, dict):
            self._fail("it is not a JSON object")
        return content

    def _check_version(self, line: dict[str, Any]) -> None:
        version: Any = line.get("arena_replay")
        if not shape.NATURAL.fits(version):
            self._fail('it is no replay of an arena: its first line has no version in the field "arena_replay"')
        if version not in QUESTION_ENCODERS:
            made_by = "a newer arena" if version > VERSION else "another arena"
            known = f"{min(QUESTION_ENCODERS)} to {VERSION}"
            self._fail(f"it was made by {made_by}: its format is {version}, and this arena reads {known}")
        self._version = version

    def _header(self, line: dict[str, Any]) -> Header:
        recent = line["arena_replay"] >= 4
        fields = {**shape.HEADER, **(shape.ADDED_TO_HEADER_IN_4 if recent else {})}
        if recent:
            fields |= shape.OF_A_LADDER if "ladder" in line else {}
            fields |= shape.OF_AN_EVENT if line.get("kind") == MatchKind.EVENT.value else {}
        check(line, fields)
        check(line["policy"], {**shape.POLICY, **shape.ADDED_TO_POLICY_IN_4} if recent else shape.POLICY)
        for bot in line["bots"]:
            check(bot, {**shape.BOT, **shape.ADDED_TO_BOT_IN_4} if recent else shape.BOT)
        if line["rated"] and line.get("kind", "rated") != "rated":
            self._fail(f"a match of the kind {line['kind']} moves no ratings, and this one is said to be rated")
        if not len(line["bots"]) == len(line["nonces"]) == line["seats"]:
            self._fail(f"{len(line['bots'])} bots and {len(line['nonces'])} nonces for {line['seats']} seats")
        if line["game"] not in GAMES:
            self._fail(f"this arena does not know the game {line['game']!r}; it knows {', '.join(sorted(GAMES))}")
        if line.get("ladder") == line["game"]:
            self._fail(f'the field "ladder" names {line["game"]!r}, the default ladder of the game, which has no field')
        try:
            started = read_instant(line["started"])
        except ValueError:
            self._fail(f'the field "started" holds {line["started"]!r} where an instant in ISO 8601 and UTC belongs')
        added = _added_in_4(line) if recent else {"rating_rule": 1}
        self._bots = tuple(SeatedBot(**bot) for bot in line["bots"])
        self._over = {} if added["rating_rule"] == 1 else shape.ADDED_TO_RESULT_IN_RULE_2
        return Header(
            match_id=line["match"],
            game=GAMES[line["game"]],
            options=line["options"],
            bots=self._bots,
            seed=bytes.fromhex(line["seed"]),
            commitment=bytes.fromhex(line["commitment"]),
            nonces=tuple(map(bytes.fromhex, line["nonces"])),
            stand_in=line["stand_in"],
            policy=Policy(**line["policy"]),
            started=started,
            server=line["server"],
            **added,
        )

    def _body(self, objects: Iterator[dict[str, Any]], seats: int) -> tuple[tuple[Input, ...], RecordedResult]:
        inputs: list[Input] = []
        for line in objects:
            if "in" in line:
                inputs.append(self._input(line))
            elif "out" in line:
                self._check_effect(line)
            elif "shown" in line:
                check(line, shape.SHOWN_LINE)
            else:
                break
        else:
            self._line = None
            self._fail("the file ends before the result")
        check(line, {**shape.RESULT_LINE, **self._over})
        by_seat = {name: tuple(value) for name, value in line.items() if isinstance(value, list) and name != "bots"}
        for name, values in by_seat.items():
            if len(values) != seats and (values or name in {"forced", "troubled"}):
                self._fail(f'{len(values)} values in "{name}" for {seats} seats')
        return tuple(inputs), RecordedResult(**by_seat, interrupted=line["interrupted"])

    def _input(self, line: dict[str, Any]) -> Input:
        name = line.pop("in")
        if not isinstance(name, str) or name not in INPUTS:
            self._fail(f"there is no input {name!r}; there are {', '.join(INPUTS)}")
        kind = INPUTS[name]
        if self._version < 4 and (added := ADDED_IN_4.get(kind)) is not None:
            line.setdefault(*added)  # a newer server may have continued the match's journal
        removed = kind is Restored and "removed" in line
        check(line, {**shape.INPUTS[name], **shape.OF_A_REMOVAL} if removed else shape.INPUTS[name])
        line.pop("name", None)
        if removed:
            line["removed"] = self._removed(line["removed"])
        return kind(**line)

    def _removed(self, seats: list[int]) -> tuple[int, ...]:
        house = [seat for seat, bot in enumerate(self._bots) if bot.house]
        if not seats or seats != sorted({*seats} & {*house}):
            self._fail(f'the field "removed" holds {seats} where seats of house bots belong, in order')
        return tuple(seats)

    def _check_effect(self, line: dict[str, Any]) -> None:
        name = line.pop("out")
        if not isinstance(name, str) or name not in shape.EFFECTS:
            self._fail(f"there is no effect {name!r}; there are {', '.join(shape.EFFECTS)}")
        fields = {**shape.EFFECTS[name], **self._over} if name == "over" else shape.EFFECTS[name]
        check(line, fields, extra=shape.OF_A_ROUND if name == "round" else None)

    def _ratings(self, objects: Iterator[dict[str, Any]], seats: int) -> tuple[RecordedRatingChange, ...]:
        line = next(objects, None)
        if line is None:
            self._line = None
            self._fail("the file ends before the ratings that its first line promises")
        check(line, shape.RATINGS_LINE)
        for each in line["ratings"]:
            check(each, {**shape.RATING, **shape.OF_A_QUOTA} if "beyond_quota" in each else shape.RATING)
        if len(line["ratings"]) != seats:
            self._fail(f"{len(line['ratings'])} ratings for {seats} seats")
        for seat, each in enumerate(line["ratings"]):
            others = each.get("beyond_quota")
            if others is not None and (not others or others != sorted({*others} & {*range(seats)} - {seat})):
                self._fail(f'the field "beyond_quota" of seat {seat} holds {others} where other seats belong, in order')
        return tuple(
            RecordedRatingChange(
                RecordedRating(each["before"], each["before_deviation"]),
                RecordedRating(each["after"], each["after_deviation"]),
                tuple(each.get("beyond_quota", ())),
            )
            for each in line["ratings"]
        )


def _added_in_4(line: dict[str, Any]) -> dict[str, Any]:
    for offer in line["offers"]:
        check(offer, shape.OFFER)
    offers = tuple(
        SeatOffer(**{**offer, "outcome": OfferOutcome(offer["outcome"]), "salt": bytes.fromhex(offer["salt"])})
        for offer in line["offers"]
    )
    return {
        "kind": MatchKind(line["kind"]),
        "dealt_by": line["dealt_by"],
        "rating_rule": line["rating_rule"],
        "offers": offers,
        "ladder": line.get("ladder", ""),
        "event": line.get("event", ""),
    }


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
