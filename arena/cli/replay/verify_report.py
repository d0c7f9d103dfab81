"""The result of verifying a replay, as text for people."""

from __future__ import annotations

from rich.text import Text

from arena.analysis.verdict import Proofs, checked, unchecked
from arena.replay.replay import Replay
from arena.replay.verify import ReplayDifference, ReplayVerdict


def drawn_verdict(replay: Replay, verdict: ReplayVerdict, proofs: Proofs) -> Text:
    """Draw the checks that were made and those that were not, or the first line that differs."""
    if verdict.difference is not None:
        return _difference(verdict.source, verdict.difference)
    if proofs.problem:
        return Text.assemble(("REFUSED", "bold red"), f" {verdict.source}: {proofs.problem}")
    receipt, log = proofs.receipt, proofs.log
    words = "is consistent in itself." if receipt is None and log is None else "is what was played."
    text = Text.assemble(("OK", "bold green"), f" {verdict.source} {words}")
    for line in checked(replay, verdict, proofs):
        text.append_text(Text.assemble("\n  ", ("✔", "green"), f" {line}"))
    for line in unchecked(replay, proofs):
        text.append_text(Text.assemble("\n  ", ("–", "yellow"), f" {line}"))
    return text


def _difference(source: str, difference: ReplayDifference) -> Text:
    text = Text.assemble(("DIFFERS", "bold red"), f" {source}, line {difference.line}: {difference.text}")
    for what, line in (("expected", difference.expected), ("found", difference.found)):
        if line is not None:
            text.append_text(Text.assemble("\n  ", (f"{what:<9}", "dim"), line))
    return text
