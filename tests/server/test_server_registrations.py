"""Registrations: a limit per hour and address, and no line in the log about them."""

from __future__ import annotations

import pytest
import structlog

from arena.server.sessions.hourly import HOUR, MOST_REMEMBERED, Registrations, TooManyRegistrations
from arena.server.sessions.limits import Limits
from tests.server.server_rig import MemoryStore, running

pytestmark = pytest.mark.virtual_clock


def test_an_address_may_ask_for_so_many_registrations_an_hour() -> None:
    registrations = Registrations(4)
    for _ in range(4):
        registrations.take("192.0.2.1", 0.0)
    with pytest.raises(TooManyRegistrations, match=r"^4 registrations an hour .* try again in 15 min"):
        registrations.take("192.0.2.1", 0.0)
    registrations.take("192.0.2.2", 0.0)
    registrations.take("192.0.2.1", HOUR / 4 + 1)
    with pytest.raises(TooManyRegistrations):
        registrations.take("192.0.2.1", HOUR / 4 + 1)


def test_of_many_addresses_only_those_that_registered_lately_are_remembered() -> None:
    registrations = Registrations(4)
    for number in range(MOST_REMEMBERED):
        registrations.take(str(number), 0.0)
    registrations.take("late", HOUR)
    assert list(registrations._allowance._left) == ["late"]


async def test_invited_registrations_are_not_counted() -> None:
    async with running(MemoryStore(), limits=Limits(registrations_per_address=1)) as arena:
        for number in range(3):
            code = await arena.accounts.invite("anna")
            await arena.accounts.register(f"bot-{number}", "", code, by_invitation=True, origin="192.0.2.1")
        await arena.accounts.register("last", "", "", by_invitation=False, origin="192.0.2.1")
        with pytest.raises(TooManyRegistrations):
            await arena.accounts.register("more", "", "", by_invitation=False, origin="192.0.2.1")


async def test_a_stranger_writes_no_line_into_the_log() -> None:
    async with running(MemoryStore()) as arena:
        with structlog.testing.capture_logs() as logs:
            await arena.accounts.register("ann", "", "", by_invitation=False, origin="192.0.2.1")
    assert [line["log_level"] for line in logs if "ann" in line.values()] == ["debug"]
