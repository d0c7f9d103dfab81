"""The report of `arena replay verify`: facts that are proved, and checks that were omitted."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from arena.analysis.proofs import LogProof, NotProved, compare_log, compare_receipt, find_receipt
from arena.ladder import live
from arena.log.receipt import Receipt
from arena.replay.header import DEALT_BY_MATCH_RUNNER
from arena.replay.replay import RecordedRating, Replay
from arena.replay.verify import ReplayVerdict, verify

if TYPE_CHECKING:
    from arena.analysis.proofs import LogSource


@dataclass(frozen=True, slots=True)
class Proofs:
    """The proofs of a replay."""

    receipt: Receipt | None = None
    log: LogProof | None = None
    problem: str = ""
    """The reason why a proof fails or is missing; empty if all requested proofs hold."""


def prove(replay: Replay, receipts: Path | None, source: LogSource | None) -> Proofs:
    """Compare a replay with receipts and the log, if given. Raises errors of the log's source."""
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
    """Verify a replay by playing it again, including its live ratings."""

    def rate(
        before: Sequence[RecordedRating],
        places: Sequence[int],
        bots: Sequence[str],
        counts: Sequence[bool],
        spoilt: Sequence[bool],
        beyond_quota: Collection[tuple[int, int]],
    ) -> list[RecordedRating]:
        ratings = [live.Rating(rating.value, rating.deviation) for rating in before]
        after = live.update(ratings, places, bots, counts, spoilt, beyond_quota)
        return [RecordedRating(rating.value, rating.deviation) for rating in after]

    return verify(replay, rate)


def checked(replay: Replay, verdict: ReplayVerdict, proofs: Proofs) -> list[str]:
    """Describe what has been proved about a verified replay."""
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
