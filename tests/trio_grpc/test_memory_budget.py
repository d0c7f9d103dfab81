"""The memory budget of unauthenticated peers: what counts against it, and which peer the server evicts beyond it."""

from __future__ import annotations

from random import Random

from trio_grpc.limits.memory_budget import MemoryBudget


class Hoarder:
    """A peer that holds memory and records its eviction."""

    def __init__(self, name: str, evicted: list[str]) -> None:
        self.held = 0
        self.name = name
        self._evicted = evicted

    def __repr__(self) -> str:
        return f"<Hoarder {self.name} with {self.held}>"

    def evict(self) -> None:
        assert not self.held
        self._evicted.append(self.name)


def hoarders(evicted: list[str], *names: str) -> list[Hoarder]:
    return [Hoarder(name, evicted) for name in names]


def test_whoever_holds_most_is_evicted_and_nobody_before_the_budget_is_exceeded() -> None:
    evicted: list[str] = []
    budget = MemoryBudget(1000)
    small, large, late = hoarders(evicted, "small", "large", "late")
    budget.hold(small, 100)
    budget.hold(large, 800)
    budget.hold(late, 100)
    assert (budget.held, evicted) == (1000, [])
    budget.hold(late, 101)
    assert (budget.held, evicted) == (201, ["large"])
    assert (small.held, large.held, late.held) == (100, 0, 101)


def test_of_equals_the_first_to_come_is_evicted() -> None:
    evicted: list[str] = []
    budget = MemoryBudget(1000)
    for holder in hoarders(evicted, *"abcdefghijkl"):
        budget.hold(holder, 100)
    assert evicted == ["a", "b"]


def test_who_asks_for_most_evicts_itself_and_nobody_else() -> None:
    evicted: list[str] = []
    budget = MemoryBudget(1000)
    first, second = hoarders(evicted, "first", "second")
    budget.hold(first, 300)
    budget.hold(second, 5000)
    assert (budget.held, evicted) == (300, ["second"])


def test_as_many_are_evicted_as_have_to_be() -> None:
    evicted: list[str] = []
    budget = MemoryBudget(1000)
    many = hoarders(evicted, *map(str, range(10)))
    for holder in many:
        budget.hold(holder, 100)
    budget.hold(Hoarder("last", evicted), 90)
    assert (budget.held, evicted) == (990, ["0"])


def test_who_is_forgotten_counts_no_more() -> None:
    evicted: list[str] = []
    budget = MemoryBudget(1000)
    (one,) = hoarders(evicted, "one")
    budget.hold(one, 600)
    budget.hold(one, 0)
    budget.hold(one, 0)
    budget.hold(Hoarder("other", evicted), 1000)
    assert (budget.held, evicted) == (1000, [])


def test_the_sum_is_right_after_any_changes() -> None:
    chance, evicted = Random(3), list[str]()
    budget = MemoryBudget(50_000)
    many = hoarders(evicted, *map(str, range(50)))
    for _ in range(5000):
        budget.hold(chance.choice(many), chance.choice((0, 1, 100, chance.randrange(20_000))))
        assert budget.held == sum(holder.held for holder in many) <= 50_000
    assert evicted
