"""The report of `arena replay verify`: proved facts and omitted checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, cast

from arena.analysis.proofs import LogProof, LogSource, NotProved, compare_log, compare_receipt, find_receipt
from arena.ladder import live
from arena.log.receipt import Receipt
from arena.replay.header import DEALT_BY_MATCH_RUNNER
from arena.replay.replay import RecordedRating, Replay, ReplayError
from arena.replay.verify import ReplayVerdict, verify


@dataclass(frozen=True, slots=True)
class Proofs:
    """The proofs of a replay."""

    receipt: Receipt | None = None
    log: LogProof | None = None
    problem: str = ""
    """The reason why a proof fails or is missing. Empty if all requested proofs hold."""


class ReceiptDocument(TypedDict):
    """A bot's receipt that agrees with a replay."""

    file: str
    seat: int
    log: str
    """The name of the log."""
    number: int
    """Number of the leaf with the result."""


class DifferenceDocument(TypedDict):
    """The first line of a replay that differs from the expected one."""

    line: int | None
    """Number of the line, from 1. Null if the receipt or the log disagrees with the replay as a whole."""
    expected: str | None
    """The replayed line. Null if the file should have ended."""
    found: str | None
    words: str


class VerdictDocument(TypedDict):
    """The check of a replay: the answer of `arena replay verify`. For a damaged file most fields are null."""

    source: str
    verified: bool
    match: int | None
    lines: int | None
    inputs: int | None
    scores: Sequence[int] | None
    places: Sequence[int] | None
    ratings_checked: bool | None
    receipt: ReceiptDocument | None
    """The receipt that agrees with the replay. Null if none was compared."""
    log: LogProof | None
    """The entry of the log that agrees with the replay. Null if none was compared."""
    difference: DifferenceDocument | None


def verdict_document(replay: Replay, verdict: ReplayVerdict, proofs: Proofs) -> VerdictDocument:
    """Return the check of a replay as a document."""
    difference: DifferenceDocument | None = None
    if (found := verdict.difference) is not None:
        difference = {"line": found.line, "expected": found.expected, "found": found.found, "words": found.text}
    elif proofs.problem:
        difference = {"line": None, "expected": None, "found": None, "words": proofs.problem}
    receipt = proofs.receipt
    return {
        "source": verdict.source,
        "verified": verdict.verified and not proofs.problem,
        "match": replay.header.match_id,
        "lines": verdict.lines,
        "inputs": verdict.inputs,
        "scores": verdict.result.scores,
        "places": verdict.result.places,
        "ratings_checked": verdict.ratings,
        "receipt": None
        if receipt is None
        else {"file": receipt.source, "seat": receipt.seat, "log": receipt.keys.log, "number": receipt.entry.number},
        "log": proofs.log,
        "difference": difference,
    }


def damage_document(source: str, error: ReplayError) -> VerdictDocument:
    """Return the document for a replay that cannot be read."""
    difference = {"line": error.line, "expected": None, "found": None, "words": error.problem}
    document = dict.fromkeys(VerdictDocument.__annotations__) | {"source": source, "verified": False}
    return cast("VerdictDocument", document | {"difference": difference})


def prove(replay: Replay, receipts: Path | None, source: LogSource | None) -> Proofs:
    """Compare a replay with receipts and the log, if given. Errors of the log's source propagate."""
    receipt, log = None, None
    try:
        if receipts is not None:
            found = find_receipt(replay, receipts)
            compare_receipt(replay, found)
            receipt = found
        if source is not None:
            log = compare_log(replay, source, receipt)
    except NotProved as why:
        return Proofs(receipt, log, str(why))
    return Proofs(receipt, log)


def verified(replay: Replay) -> ReplayVerdict:
    """Verify a replay, including its live ratings, by playing it again."""

    def rate(before: Sequence[RecordedRating], *result: Any) -> list[RecordedRating]:
        after = live.update([live.Rating(rating.value, rating.deviation) for rating in before], *result)
        return [RecordedRating(rating.value, rating.deviation) for rating in after]

    return verify(replay, rate)


def checked(replay: Replay, verdict: ReplayVerdict, proofs: Proofs) -> list[str]:
    """Describe the facts that are proved about a verified replay."""
    receipt, log = proofs.receipt, proofs.log
    words = [
        f"the chain of {verdict.lines} lines is unbroken",
        "the seed opens the commitment"
        + (" that the bot was shown before the deal" if receipt is not None and receipt.commitment else " in the file"),
        f"all {verdict.inputs} inputs, played again, give every deal, trick and point of the file",
        "the digests of all views equal the replayed ones",
        f"the result: {_result(replay, verdict)}",
    ]
    if verdict.ratings:
        words.append("the ratings, computed again")
    if receipt is not None:
        words.append(
            f"the receipt of {receipt.leaf['names'][receipt.seat]} (seat {receipt.seat}, {receipt.source}): leaf"
            f" {receipt.entry.number}, under a head that the server signed, says the same"
        )
    if log is not None:
        words.append(f"the log of results as it is now: leaf {log.number} of {log.size} says the same")
        if receipt is not None:
            words.append("the log has only grown since the receipt")
    return words


def unchecked(replay: Replay, proofs: Proofs) -> list[str]:
    """Describe the omitted checks."""
    if replay.header.dealt_by == DEALT_BY_MATCH_RUNNER:
        return ["dealt by the match runner, on one machine: there is no other party's receipt or log"]
    if proofs.log is not None and proofs.log.void:
        return [f"its result was annulled later: {proofs.log.void}"]
    if proofs.log is not None:
        return []
    if proofs.receipt is not None:
        return ["not checked: whether the result was annulled later (--server)"]
    return [
        "not checked: whether the match took place. A whole file can be invented: a bot's receipt (--receipts DIR) or"
        " the server's log (--server HOST:PORT) shows it"
    ]


def _result(replay: Replay, verdict: ReplayVerdict) -> str:
    result = verdict.result
    if result.interrupted:
        return f"none, interrupted ({result.interrupted})"
    seats = sorted(zip(result.places, result.scores, replay.header.bots, strict=True), key=lambda seat: seat[0])
    return ", ".join(f"{place}. {bot.name} {score}" for place, score, bot in seats)
