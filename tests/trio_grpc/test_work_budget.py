"""The budget of processor time for calls without a valid token, in numbers: charges, savings and refunds."""

from __future__ import annotations

import pytest
import trio

from trio_grpc.grpc.refusals import over_budget
from trio_grpc.limits.connection_limits import LOOPBACK, Origin
from trio_grpc.limits.work_budget import MAX_DEBT, SAVED, WorkBudget, charge_caller, metered

FIRST, SECOND = Origin("192.0.2.1"), Origin("192.0.2.2")
METADATA = {"authorization": "Bearer secret"}


def test_what_was_saved_up_may_be_spent_at_once_and_comes_back_with_time() -> None:
    budget = WorkBudget(20.0)
    assert budget.wait(FIRST, 100.0) == -SAVED
    budget.charge(FIRST, 0.2 * SAVED, 100.0)
    assert budget.wait(FIRST, 100.0) == pytest.approx(0)
    budget.charge(FIRST, 0.2, 100.0)
    assert budget.wait(FIRST, 100.0) == pytest.approx(1)
    assert budget.wait(FIRST, 101.0) == pytest.approx(0)
    assert budget.wait(FIRST, 200.0) <= -SAVED
    budget.charge(FIRST, 0.2, 200.0)
    assert budget.wait(FIRST, 200.0) == pytest.approx(1 - SAVED), "no more is saved up than that"


def test_addresses_have_budgets_of_their_own() -> None:
    budget = WorkBudget(10.0)
    budget.charge(FIRST, 5.0, 0.0)
    assert budget.wait(FIRST, 0.0) > 0
    assert budget.wait(SECOND, 0.0) == -SAVED


def test_a_debt_has_a_limit() -> None:
    budget = WorkBudget(10.0)
    budget.charge(FIRST, 1000.0, 0.0)
    assert budget.wait(FIRST, 0.0) == MAX_DEBT


def test_what_is_given_back_may_be_spent_again() -> None:
    budget = WorkBudget(10.0)
    budget.charge(FIRST, 2.0, 0.0)
    budget.charge(FIRST, -2.0, 0.0)
    assert budget.wait(FIRST, 0.0) == pytest.approx(-SAVED)


def test_nothing_is_kept_of_an_address_whose_budget_is_full() -> None:
    budget = WorkBudget(10.0)
    budget.charge(FIRST, 0.1, 0.0)
    budget.charge(SECOND, 0.2, 0.0)
    budget.forget_full(1.5)
    assert list(budget._full_at) == [SECOND]


def test_a_token_that_was_valid_has_a_budget_of_its_own_until_it_is_refused() -> None:
    budget = WorkBudget(10.0)
    assert budget.origin_of(METADATA, LOOPBACK) == LOOPBACK
    budget.remember(METADATA)
    own = budget.origin_of(METADATA, LOOPBACK)
    assert own != LOOPBACK
    assert "secret" not in own
    assert budget.origin_of({"authorization": "Bearer other"}, LOOPBACK) == LOOPBACK
    budget.forget(METADATA)
    assert budget.origin_of(METADATA, LOOPBACK) == LOOPBACK


def test_who_is_trusted_without_a_token_stays_its_address() -> None:
    budget = WorkBudget(10.0)
    budget.remember({})
    assert budget.origin_of({}, LOOPBACK) == LOOPBACK


def test_of_the_tokens_that_were_valid_the_newest_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trio_grpc.limits.work_budget.MAX_KNOWN_TOKENS", 2)
    budget = WorkBudget(10.0)
    for token in "abc":
        budget.remember({"authorization": token})
    known = [budget.origin_of({"authorization": token}, LOOPBACK) != LOOPBACK for token in "abc"]
    assert known == [False, True, True]


def test_the_refusal_says_when_to_come_again() -> None:
    refusal = over_budget(2.25, 10.0)
    assert refusal.text.endswith("try again in 3 s")


async def test_steps_and_other_threads_are_metered_and_values_and_errors_pass() -> None:
    charged: list[float] = []

    async def handler() -> int:
        charge_caller(5.0)
        with trio.move_on_after(0):
            await trio.sleep_forever()
        try:
            await trio.to_thread.run_sync(int, "x")
        except ValueError:
            return 7
        return 0

    assert await metered(handler(), charged.append) == 7
    assert 5.0 in charged
    assert len(charged) > 3
    assert sum(charged) < 6.0


async def test_nothing_is_charged_where_no_stranger_called() -> None:
    charge_caller(5.0)
