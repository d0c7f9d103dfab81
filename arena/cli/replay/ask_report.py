"""The report on a bot that answered past decisions again, as a drawing and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from rich.console import Group, RenderableType
from rich.text import Text

from arena.cli.terminal.fitted_table import FittedTable, TableColumn
from arena.local.ask.asking import AskingCost, PastSeat
from arena.replay.render.show import renderer_of
from engine.points import points_above


class _Different(NamedTuple):
    past: PastSeat
    at: int

    @property
    def old(self) -> str:
        return _name(self.past, self.past.decisions[self.at].action)

    @property
    def new(self) -> str:
        return _name(self.past, self.past.most(self.at))


def asked_document(found: Sequence[PastSeat], cost: AskingCost) -> dict[str, Any]:
    """Return the document that --json prints, without its fields `bot`, `version` and `times`."""
    split = _rounds(found)
    return {
        "decisions": sum(len(each.free) for each in found),
        "same": _same(found),
        "rounds": [len(points) for points in split],
        "above": [fmean(points) if points else None for points in split],
        "kinds": [{"kind": kind, "decisions": number, "same": same} for kind, number, same in _kinds(found)],
        "seats": [
            {
                "source": each.replay.source,
                "match": each.replay.header.match_id,
                "game": each.replay.header.game.name,
                "seat": each.seat,
                "bot": each.bot,
                "decisions": len(each.free),
                "same": _same([each]),
                "differ": sum(map(each.differs, each.free)),
                "points": each.replay.result.scores[each.seat] if each.replay.result.scores else None,
                "place": each.replay.result.places[each.seat] if each.replay.result.places else None,
                "above": each.above,
            }
            for each in found
        ],
        "different": [
            {
                "source": one.past.replay.source,
                "match": one.past.replay.header.match_id,
                "seat": one.past.seat,
                "round": one.past.decisions[one.at].round + 1,
                "decision": one.past.decisions[one.at].ask.decision,
                "kind": _kind(one.past, one.at),
                "old": one.old,
                "new": one.new,
                "same": one.past.same(one.at),
            }
            for one in _different(found)
        ],
        "cost": {"decisions": cost.decisions, "processor_us": 1e6 * cost.processor / cost.decisions},
    }


def ask_report(
    bot: str, version: str, times: int, found: Sequence[PastSeat], cost: AskingCost, most: int
) -> RenderableType:
    """Draw a report on a bot's answers that lists at most `most` differences."""
    decisions, different = sum(len(each.free) for each in found), list(_different(found))
    parts: list[RenderableType] = [
        Text.assemble((bot, "bold"), (f" · {version}", "dim")),
        Text(
            f"{_same(found):.1%} of its answers to {decisions} decisions with a choice are the old ones"
            + (f", asked {times} times" if times > 1 else "")
            + f"; {len(different)} differ."
        ),
        Text(
            f"{1e6 * cost.processor / cost.decisions:.0f} µs of processor time a decision, the bot's own included: "
            f"about {cost.decisions / cost.processor:,.0f} a second.",
            "dim",
        ),
        _kinds_table(found),
    ]
    if different:
        parts += [_seats_table(found), *_rounds_in_words(found)]
        if shown := different[:most]:
            parts.append(_different_table(shown))
        if len(different) > len(shown):
            parts.append(Text(f"{len(different) - len(shown)} more; --show N lists more, --json all.", "dim"))
    return Group(*parts)


def _kinds_table(found: Sequence[PastSeat]) -> RenderableType:
    rows = list(_kinds(found))
    columns = [
        TableColumn("Kind", [Text(kind) for kind, _, _ in rows], "left"),
        TableColumn("Decisions", [Text(str(number)) for _, number, _ in rows]),
        TableColumn("Same", [Text(f"{same:.1%}") for _, _, same in rows]),
    ]
    return FittedTable("By kind of choice", columns, ())


def _seats_table(found: Sequence[PastSeat]) -> RenderableType:
    rows = [each for each in found if any(map(each.differs, each.free))]
    columns = [
        TableColumn("Match", [Text(each.replay.source) for each in rows], "left", folds=True),
        TableColumn("Seat", [Text(str(each.seat)) for each in rows]),
        TableColumn("Bot", [Text(each.bot) for each in rows], "left", folds=True),
        TableColumn("Decisions", [Text(str(len(each.free))) for each in rows]),
        TableColumn("Differ", [Text(str(sum(map(each.differs, each.free)))) for each in rows], style="bold"),
        TableColumn("Points", [Text(_result(each, each.replay.result.scores)) for each in rows]),
        TableColumn("Above", [Text("–" if each.above is None else f"{each.above:+.1f}") for each in rows]),
        TableColumn("Place", [Text(_result(each, each.replay.result.places)) for each in rows]),
    ]
    return FittedTable("Where it decides differently, and what these games scored", columns, ("Above", "Decisions"))


def _rounds_in_words(found: Sequence[PastSeat]) -> Iterator[Text]:
    other, same = _rounds(found)
    if other:
        words = f"In {len(other)} rounds it decides differently; there the old bot had {fmean(other):+.2f} points"
        words += " above the others"
        if same:
            words += f", in the {len(same)} other rounds {fmean(same):+.2f}"
        yield Text(words + ".")


def _different_table(different: Sequence[_Different]) -> RenderableType:
    columns = [
        TableColumn("Match", [Text(each.past.replay.source) for each in different], "left", folds=True),
        TableColumn("Round", [Text(str(each.past.decisions[each.at].round + 1)) for each in different]),
        TableColumn("Seat", [Text(str(each.past.seat)) for each in different]),
        TableColumn("Decision", [Text(str(each.past.decisions[each.at].ask.decision)) for each in different]),
        TableColumn("Old", [Text(each.old) for each in different], "left", folds=True),
        TableColumn("New", [Text(each.new) for each in different], "left", folds=True, style="bold"),
        TableColumn("Old again", [Text(f"{each.past.same(each.at):.0%}") for each in different]),
    ]
    return FittedTable("Decisions that differ", columns, ("Old again", "Decision"))


def _different(found: Sequence[PastSeat]) -> Iterator[_Different]:
    for each in found:
        yield from (_Different(each, at) for at in each.free if each.differs(at))


def _rounds(found: Sequence[PastSeat]) -> tuple[list[float], list[float]]:
    """Return the points above the others' mean, round by round: rounds with a different decision, then other rounds."""
    split: tuple[list[float], list[float]] = [], []
    for each in found:
        differ = {each.decisions[at].round for at in each.free if each.differs(at)}
        asked = {each.decisions[at].round for at in each.free}
        for report in each.reports:
            if report.round in asked:
                worth = renderer_of(each.replay.header.game).worth(report)
                split[report.round not in differ].append(points_above(worth, each.seat))
    return split


def _kinds(found: Sequence[PastSeat]) -> Iterator[tuple[str, int, float]]:
    """Yield each kind of choice, its number of decisions, and the share of answers equal to the old ones."""
    shares: dict[str, list[float]] = {}
    for each in found:
        for at in each.free:
            shares.setdefault(_kind(each, at), []).append(each.same(at))
    for kind, same in sorted(shares.items(), key=lambda item: -len(item[1])):
        yield kind, len(same), fmean(same)


def _same(found: Sequence[PastSeat]) -> float:
    shares = [each.same(at) for each in found for at in each.free]
    return fmean(shares) if shares else 1.0


def _kind(past: PastSeat, at: int) -> str:
    return past.replay.header.game.actions[past.decisions[at].action].kind


def _name(past: PastSeat, action: int) -> str:
    return past.replay.header.game.actions[action].name


def _result(past: PastSeat, values: Sequence[int]) -> str:
    return str(values[past.seat]) if values else "–"
