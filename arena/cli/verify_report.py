"""The result of verifying a replay, as text for people."""

from __future__ import annotations

from rich.text import Text

from arena.replay.replay import Replay
from arena.replay.verify import ReplayDifference, ReplayVerdict


def drawn_verdict(replay: Replay, verdict: ReplayVerdict) -> Text:
    """Draw what was checked, or the first line that differs."""
    if verdict.difference is not None:
        return _difference(verdict.source, verdict.difference)
    checked = [
        f"the chain of {verdict.lines} lines is unbroken",
        "the seed opens the commitment that was published before the deal",
        f"all {verdict.inputs} inputs, played again, give every deal, trick and point of the file",
        "every seat was shown what re-playing shows it, by its digests",
        f"the result: {_result(replay, verdict)}",
    ]
    if verdict.ratings:
        checked.append("the ratings, computed again")
    text = Text.assemble(("OK", "bold green"), f" {verdict.source} is what was played.")
    for line in checked:
        text.append_text(Text.assemble("\n  ", ("✔", "green"), f" {line}"))
    return text


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
