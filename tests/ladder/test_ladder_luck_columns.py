"""Figures of the luck columns: plain arithmetic over the matches with known luck, in the order played."""

from __future__ import annotations

from collections import defaultdict
from random import Random
from statistics import fmean, stdev

import pytest

from arena.ladder.events import Node
from arena.ladder.luck import Luck
from arena.ladder.luck_columns import DealKind, LuckColumns, ReplayedMatch

KINDS = (DealKind(2, "{}", "a 1, b 1"), DealKind(3, "{}", "a 1, b 1"), DealKind(2, "{}", "a 2, b 1"))


def played(count: int) -> list[ReplayedMatch]:
    """Return several kinds of matches. A version may have two seats, and not every result counts."""
    chance = Random(1)
    found = []
    for number in range(1, count + 1):
        kind = chance.choice(KINDS)
        cards = [chance.randint(0, 40) for _ in range(kind.seats)]
        found.append(
            ReplayedMatch(
                number,
                1000 + number,
                kind,
                tuple(Node(chance.randint(1, 4)) for _ in cards),
                tuple(chance.random() < 0.9 for _ in cards),
                tuple(card + chance.randint(0, 20) for card in cards),
                tuple(cards),
            )
        )
    return found


def taken(matches: list[ReplayedMatch], voids: frozenset[int] = frozenset()) -> LuckColumns:
    luck = LuckColumns()
    for match in matches:
        luck.take(match, void=match.match_id in voids)
    return luck


def test_means_and_errors_are_those_of_the_matches_that_count() -> None:
    matches, voids = played(80), frozenset({1005, 1044})
    luck = {kind: Luck(kind.seats) for kind in KINDS}
    plain, adjusted = defaultdict[Node, list[float]](list), defaultdict[Node, list[float]](list)
    for match in matches:
        scores = luck[match.kind].take(match.scores, match.baselines)
        for node in {*match.nodes} if match.match_id not in voids else ():
            own = [seat for seat, sitter in enumerate(match.nodes) if sitter == node]
            if any(match.counts[seat] for seat in own):
                plain[node].append(fmean(match.scores[seat] for seat in own))
                adjusted[node].append(fmean(scores[seat] for seat in own))
    columns = taken(matches, voids)
    assert columns.through == 80
    for figure in columns.figures():
        many = len(plain[figure.node])
        assert figure.matches == many
        assert figure.plain == pytest.approx(fmean(plain[figure.node]))
        assert figure.plain_error == pytest.approx(stdev(plain[figure.node]) / many**0.5)
        assert figure.adjusted == pytest.approx(fmean(adjusted[figure.node]))
        assert figure.adjusted_error == pytest.approx(stdev(adjusted[figure.node]) / many**0.5)
        assert figure.adjusted_error is not None
        assert figure.plain_error is not None
        assert figure.adjusted_error < figure.plain_error
    assert [figure.node for figure in columns.figures()] == [1, 2, 3, 4]


def test_one_match_has_no_error_and_none_has_no_figure() -> None:
    assert taken([]).figures() == ()
    kind = KINDS[0]
    match = ReplayedMatch(1, 7, kind, (Node(1), Node(2)), (True, False), (5, 3), (1, 2))
    assert taken([match]).figures() == ((1, 1, 5.0, None, 5.0, None),)
    assert taken([match], frozenset({7})).figures() == ()


def test_what_comes_later_changes_no_adjustment_before_it() -> None:
    matches = played(60)
    lone = ReplayedMatch(61, 2000, KINDS[0], (Node(9), Node(8)), (True, True), (40, 0), (20, 0))
    before, after = taken(matches), taken([*matches, lone])
    assert after.figures()[: len(before.figures())] == before.figures()
