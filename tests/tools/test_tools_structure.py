"""The structure check finds every kind of fault that it checks."""

from __future__ import annotations

import ast

import pytest

from tools import structure


def trees(**sources: str) -> dict[str, ast.Module]:
    return {name.replace("__", "."): ast.parse(source) for name, source in sources.items()}


@pytest.mark.thorough
def test_this_tree_has_no_fault() -> None:
    assert structure.faults() == []


def test_two_public_classes_of_one_name_are_found() -> None:
    found = list(structure.repeated_classes(trees(arena__a="class Seat: ...", arena__b="class Seat: ...")))
    assert found == ["two public classes are called Seat: arena.a, arena.b"]


def test_private_classes_and_the_parallel_pieces_of_two_games_may_share_a_name() -> None:
    assert not list(structure.repeated_classes(trees(arena__a="class _Seat: ...", arena__b="class _Seat: ...")))
    games = {f"arena__house__{game}__counter": "class CounterBot: ..." for game in structure.GAMES}
    assert len(games) > 1
    assert not list(structure.repeated_classes(trees(**games)))


@pytest.mark.parametrize("source", ["def f(match: int): ...", "class C:\n    match: matches.MatchId"])
def test_a_number_of_a_match_that_is_called_otherwise_is_found(source: str) -> None:
    assert len(list(structure.numbers_of_matches(trees(arena__a=source)))) == 1


def test_a_circle_is_found_even_where_it_is_for_types_only() -> None:
    back = "if TYPE_CHECKING:\n    from arena.a import A"
    graph = structure.imports(trees(arena__a="from arena import b", arena__b="from arena.c import C", arena__c=back))
    assert "these import each other: arena.a, arena.b, arena.c" in structure.forbidden_circles(graph)


def test_a_chain_is_as_long_as_its_longest_way_and_a_circle_counts_whole() -> None:
    graph = structure.imports(
        trees(
            arena__server__a="from arena.server.b import B",
            arena__server__b="from arena.server.c import C",
            arena__server__c="from arena.server.b import B\nfrom arena.server.d import D",
            arena__server__d="",
        )
    )
    assert structure.chain(graph, "arena.server") == [f"arena.server.{name}" for name in "abcd"]
