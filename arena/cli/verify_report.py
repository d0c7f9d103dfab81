"""The result of verifying a replay, as text for people."""

from __future__ import annotations

from rich.text import Text

from arena.cli.verify_proofs import Proofs
from arena.replay.header import DEALT_BY_MATCH_RUNNER
from arena.replay.replay import Replay
from arena.replay.verify import ReplayDifference, ReplayVerdict


def drawn_verdict(replay: Replay, verdict: ReplayVerdict, proofs: Proofs) -> Text:
    """Draw what was checked and what was not, or the first line that differs."""
    if verdict.difference is not None:
        return _difference(verdict.source, verdict.difference)
    if proofs.problem:
        return Text.assemble(("REFUSED", "bold red"), f" {verdict.source}: {proofs.problem}")
    receipt, log = proofs.receipt, proofs.log
    checked = [
        f"the chain of {verdict.lines} lines is unbroken",
        "the seed opens the commitment"
        + (" that the bot was shown before the deal" if receipt is not None and receipt.commitment else " in the file"),
        f"all {verdict.inputs} inputs, played again, give every deal, trick and point of the file",
        "every seat was shown what re-playing shows it, by its digests",
        f"the result: {_result(replay, verdict)}",
    ]
    if verdict.ratings:
        checked.append("the ratings, computed again")
    if receipt is not None:
        checked.append(
            f"the receipt of {receipt.leaf['names'][receipt.seat]} (seat {receipt.seat}, {receipt.source}): leaf"
            f" {receipt.entry.number}, under a head that the server signed, says the same"
        )
    if log is not None:
        checked.append(f"the log of results as it is now: leaf {log.number} of {log.size} says the same")
        if receipt is not None:
            checked.append("the log was only added to since the receipt was given")
    words = "is consistent in itself." if receipt is None and log is None else "is what was played."
    text = Text.assemble(("OK", "bold green"), f" {verdict.source} {words}")
    for line in checked:
        text.append_text(Text.assemble("\n  ", ("✔", "green"), f" {line}"))
    for line in _unchecked(replay, proofs):
        text.append_text(Text.assemble("\n  ", ("–", "yellow"), f" {line}"))
    return text


def _unchecked(replay: Replay, proofs: Proofs) -> list[str]:
    """Return what was not shown, in words."""
    if replay.header.dealt_by == DEALT_BY_MATCH_RUNNER:
        return ["dealt by the match runner, on one machine: nobody else has a receipt or a log to bear it out"]
    if proofs.log is not None and proofs.log.void:
        return [f"its result was made void afterwards: {proofs.log.void}"]
    if proofs.log is not None:
        return []
    if proofs.receipt is not None:
        return ["not checked: whether the result was made void later, which --server tells"]
    return [
        "not checked: whether it is what was played. A file can be invented whole: a bot's receipt (--receipts DIR) or"
        " the server's log (--server HOST:PORT) shows it"
    ]


def _difference(source: str, difference: ReplayDifference) -> Text:
    text = Text.assemble(("DIFFERS", "bold red"), f" {source}, line {difference.line}: {difference.text}")
    for what, line in (("expected", difference.expected), ("found", difference.found)):
        if line is not None:
            text.append_text(Text.assemble("\n  ", (f"{what:<9}", "dim"), line))
    return text


def _result(replay: Replay, verdict: ReplayVerdict) -> str:
    result = verdict.result
    if result.interrupted:
        return f"none, interrupted ({result.interrupted})"
    seats = sorted(zip(result.places, result.scores, replay.header.bots, strict=True), key=lambda seat: seat[0])
    return ", ".join(f"{place}. {bot.name} {score}" for place, score, bot in seats)
