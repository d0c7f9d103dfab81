"""Bundles, from which anybody can recompute a finished event.

A bundle has a JSON object on each line: the log's keys and head; all leaves about the event and its matches, each with
its inclusion proof; and the replays. A leaf is an entry of the log. The last leaf contains the baselines of the
matches.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from arena.analysis.proofs import NotProved, leaf_differences, proved_leaf
from arena.log.head import LogEntry, LogHead
from arena.log.keys import LogKeys
from arena.log.leaf import LeafError, LeafKind
from arena.replay.header import Header, MatchKind
from arena.replay.read import read
from arena.replay.replay import Replay, ReplayError
from arena.replay.verify import verify
from arena.scheduling.event.course import (
    Contestant,
    EarlierMatches,
    EventCourse,
    EventTerms,
    PlayedTable,
    race_document,
)
from arena.scheduling.event.race import EventError
from arena.store.matches.event_documents import FORMAT, bundle_line
from engine.deal import match_key

NAMED: Final = 0.1
"""Minimum probability of being the best at which the result of an undecided event names a bot."""


class BundleDiffersError(ValueError):
    """The bundle of an event is damaged or proves another result. The message names the first difference."""


def perhaps_best(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the standings of the bots among which a result is undecided, the most likely one first."""
    likely = sorted((each for each in result["standings"] if each["still_in"]), key=lambda each: -float(each["best"]))
    return [each for each in likely if each["best"] >= NAMED] or likely[:1] or result["standings"][:1]


def is_bundle(path: Path) -> bool:
    """Return True if a file starts like a bundle. Raises: OSError."""
    with path.open("rb") as file:
        return file.read(16).startswith(b'{"arena_event":')


def verify_bundle(path: Path) -> tuple[str, str, dict[str, Any]]:
    """Recompute an event from its bundle. Return its name, the name of the log that proves it, and the result.

    The keys come from the bundle itself, so compare the log's name with that of the server's log.

    Raises:
        BundleDiffersError: Something in the bundle does not follow from the rest; the message names it.
        OSError: The file cannot be read.
    """
    lines = path.read_bytes().split(b"\n")
    if lines[-1]:
        raise BundleDiffersError(f"line {len(lines)} is not complete")
    objects = [_object(at, line) for at, line in enumerate(lines[:-1], start=1)]
    try:
        head = objects[0]
        if head["arena_event"] != FORMAT or head.keys() != {"arena_event", "event", "keys", "head"}:
            raise BundleDiffersError(f"line 1: this program reads bundles of the format {FORMAT}")
        keys = LogKeys([key.encode() for key in head["keys"]])
        under = LogHead(
            head["head"]["size"], bytes.fromhex(head["head"]["root"]), bytes.fromhex(head["head"]["signature"])
        )
        leaves = [_leaf(each, under, keys) for each in objects[1:] if "leaf" in each]
        replays = {each["replay"]: _replay(each) for each in objects[1 + len(leaves) :]}
    except BundleDiffersError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise BundleDiffersError(f"it is no bundle of an event ({type(error).__name__}: {error})") from error
    if [each["number"] for each in leaves] != sorted({each["number"] for each in leaves}):
        raise BundleDiffersError("its leaves are not in the order of their numbers")
    return str(head["event"]), keys.log, _recomputed(str(head["event"]), leaves, replays)


def _recomputed(name: str, leaves: Sequence[Mapping[str, Any]], replays: Mapping[int, Replay]) -> dict[str, Any]:
    """Compute the result from proved leaves and verified replays, and compare it with the last leaf."""
    of_event = [each for each in leaves if "event" in each]
    kinds = [each["kind"] for each in of_event]
    rolls = [each for each in of_event if each["kind"] == LeafKind.ROLL.value]
    expected = [LeafKind.EVENT.value, LeafKind.ENTRANTS.value, *["roll"] * len(rolls), LeafKind.OUTCOME.value]
    if kinds != expected or {each["event"] for each in of_event} != {name}:
        raise BundleDiffersError(f"the leaves about the event {name} are {', '.join(kinds)}, not {', '.join(expected)}")
    event, entrants, outcome = of_event[0], of_event[1], of_event[-1]
    seed = bytes.fromhex(outcome["seed"])
    if sha256(seed).hexdigest() != event["commitment"]:
        raise BundleDiffersError(f"leaf {outcome['number']}: the seed is not the one of the commitment")
    results = {each["match"]: each for each in leaves if "match" in each}
    if sorted(results) != sorted(outcome["tables"]) or sorted(replays) != sorted(outcome["tables"]):
        raise BundleDiffersError("its matches are not those of the last leaf")
    contestants = tuple(
        Contestant(bot, bot_name, bytes.fromhex(nonce))
        for bot, bot_name, nonce in zip(entrants["bots"], entrants["names"], entrants["nonces"], strict=True)
    )
    everyone = event["format"] == "all"
    earlier = EarlierMatches.of(entrants["earlier"])
    terms = EventTerms(seed, contestants, event["seats"], event["matches"], everyone, earlier)
    if len(outcome["baselines"]) != (len(outcome["tables"]) if earlier.house else 0):
        raise BundleDiffersError(f"leaf {outcome['number']} has the baselines of {len(outcome['baselines'])} matches")
    try:
        course = EventCourse(terms)
        for at, roll in enumerate(rolls):
            if roll["round"] != at:
                raise BundleDiffersError(f"leaf {roll['number']} is of round {roll['round']}, not {at}")
            course.end_round(roll["used"])
            if course.race.over:
                break
            course.begin_round(roll["present"], roll["used"])
            until = rolls[at + 1]["number"] if at + 1 < len(rolls) else outcome["number"]
            for table in course.open_tables:
                match_id = outcome["tables"][table.number]
                result = results[match_id]
                _check_table(f"{name}/{table.number}", result, replays[match_id], (roll["number"], until))
                house = tuple(outcome["baselines"][table.number]) if earlier.house else ()
                check_baselines(replays[match_id].header, earlier.house, house)
                played = PlayedTable(tuple(result["bots"]), tuple(result["points"]), tuple(result["counts"]), house)
                course.record(table.number, played)
    except (EventError, IndexError, KeyError) as error:
        raise BundleDiffersError(f"the rounds are not those of the event ({error})") from error
    document = race_document(course.race)
    if not course.race.over or len(course.race.tables) != len(outcome["tables"]):
        raise BundleDiffersError(f"the event is not over after {len(rolls)} rounds")
    digest = sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    if (digest, document["winner"]) != (outcome["result"], outcome["winner"]):
        raise BundleDiffersError(f"leaf {outcome['number']}: another result follows from the matches")
    return document


def _check_table(event: str, leaf: Mapping[str, Any], replay: Replay, between: tuple[int, int]) -> None:
    match_id, header = leaf["match"], replay.header
    if differing := leaf_differences(replay, leaf):
        raise BundleDiffersError(f"the replay of match {match_id} differs from its leaf in {', '.join(differing)}")
    if (header.kind, header.event) != (MatchKind.EVENT, event):
        raise BundleDiffersError(f"match {match_id} is of {header.event or header.kind.value}, not of {event}")
    if not between[0] < leaf["number"] < between[1]:
        raise BundleDiffersError(f"match {match_id} was not played in the round of {event}")


def check_baselines(header: Header, house: str, given: tuple[int, ...]) -> None:
    """Compare a match's baselines with a replay of its deals, if this program has the same house bots.

    `house`: the house bots and versions that replayed the deals for the event. `given`: the baselines by seat, or
    nothing. Raises: BundleDiffersError.
    """
    from arena.house import replayers, titles  # Imported here, because it loads all games.
    from arena.house.selfplay import baseline

    bots = replayers(header.game.name)
    if not given or titles(bots) != house:
        return
    key = match_key(header.seed, header.nonces)
    each = [baseline(header.game, len(header.bots), header.options, key, None, 1, bot) for bot in bots]
    if given != (expected := tuple(int(sum(points)) for points in zip(*each, strict=True))):
        raise BundleDiffersError(f"match {header.match_id} has the baselines {given}; its deals give {expected}")


def _leaf(line: Mapping[str, Any], under: LogHead, keys: LogKeys) -> Mapping[str, Any]:
    proof = tuple(bytes.fromhex(step) for step in line["proof"])
    entry = LogEntry(line["number"], line["leaf"].encode(), under, proof)
    try:
        leaf = proved_leaf(entry, keys)
    except (NotProved, LeafError, ValueError) as error:
        raise BundleDiffersError(f"leaf {line['number']} is not proved ({error})") from error
    if leaf["number"] != line["number"] or line.keys() != {"number", "leaf", "proof"}:
        raise BundleDiffersError(f"leaf {line['number']} has another number or further fields")
    return leaf


def _replay(line: Mapping[str, Any]) -> Replay:
    match_id = line["replay"]
    try:
        content = b64decode(line["content"], validate=True)
        if b64encode(content).decode() != line["content"] or line.keys() != {"replay", "content"}:
            raise BundleDiffersError(f"the replay of match {match_id} is written otherwise than in a bundle")
        replay = read(content, f"the replay of match {match_id}")
        verdict = verify(replay)
    except (ReplayError, ValueError) as error:
        raise BundleDiffersError(f"the replay of match {match_id} is damaged ({error})") from error
    if not verdict.verified:
        raise BundleDiffersError(f"the replay of match {match_id} does not follow from its inputs")
    return replay


def _object(at: int, line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise BundleDiffersError(f"line {at} is no JSON ({error})") from error
    if not isinstance(found, dict) or bundle_line(found).encode() != line + b"\n":
        raise BundleDiffersError(f"line {at} is written otherwise than in a bundle")
    return found
