"""Registrations: a limit per hour and address, no log line about them, and entry to ladders."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
import structlog
import trio
from trio.testing import MockClock

from arena.server.config import LadderTable
from arena.server.sessions.accounts import Accounts
from arena.server.sessions.hourly import HOUR, MOST_REMEMBERED, HourlyAllowance, TooManyRegistrations
from arena.server.sessions.limits import Limits
from arena.server.sessions.messages import Closed, Reason
from arena.server.sessions.players import Players
from arena.store.bots import bots
from arena.store.bots.entry import NewInvitations
from arena.store.nodes import NodeStart
from arena.store.store import Store, open_store
from tests.server.server_rig import GAME, Bot, MemoryStore, config, running

pytestmark = pytest.mark.virtual_clock


async def test_an_address_may_ask_for_so_many_registrations_an_hour(autojump_clock: MockClock) -> None:
    limits = config(limits=Limits(registrations_per_address=4))
    accounts = Accounts(cast("Store", MemoryStore()), Players(), limits, lambda kind, fields: None)
    for _ in range(4):
        await accounts._take_registration("192.0.2.1")
    with pytest.raises(TooManyRegistrations, match=r"^4 registrations an hour .* try again in 15 min"):
        await accounts._take_registration("192.0.2.1")
    await accounts._take_registration("192.0.2.2")
    await trio.sleep(HOUR / 4 + 1)
    await accounts._take_registration("192.0.2.1")
    with pytest.raises(TooManyRegistrations):
        await accounts._take_registration("192.0.2.1")


def test_of_many_addresses_only_those_that_registered_lately_are_remembered() -> None:
    registrations = HourlyAllowance(4 / HOUR)
    for number in range(MOST_REMEMBERED):
        registrations.take(str(number), 0.0)
    registrations.take("late", HOUR)
    assert list(registrations._left) == ["late"]


async def test_invited_registrations_are_not_counted() -> None:
    async with running(MemoryStore(), limits=Limits(registrations_per_address=1)) as arena:
        for number in range(3):
            ((_, code),) = await arena.accounts.invite(NewInvitations("anna"))
            await arena.accounts.register(f"bot-{number}", "", code, by_invitation=True, origin="192.0.2.1")
        await arena.accounts.register("last", "", "", by_invitation=False, origin="192.0.2.1")
        with pytest.raises(TooManyRegistrations):
            await arena.accounts.register("more", "", "", by_invitation=False, origin="192.0.2.1")


async def test_an_address_registers_so_often_at_all_nodes_together(tmp_path: Path) -> None:
    starts = [NodeStart(number, f"localhost:{number}", "arena", "", (1, 2)) for number in (1, 2)]
    limits = config(limits=Limits(registrations_per_address=3))
    async with open_store(tmp_path, 1, node=starts[0]) as one, open_store(tmp_path, 1, node=starts[1], lock=0) as two:
        accounts = [Accounts(store, Players(), limits, lambda kind, fields: None) for store in (one, two)]

        async def register(node: int, name: str, code: str = "") -> None:
            await accounts[node].register(name, "", code, by_invitation=bool(code), origin="192.0.2.1")

        ((_, code),) = await accounts[0].invite(NewInvitations("anna"))
        await register(1, "invited", code)
        for number, node in enumerate((0, 1, 0)):
            await register(node, f"bot-{number}")
        with pytest.raises(TooManyRegistrations, match="try again in 20 min"):
            await register(1, "more")


async def test_a_stranger_writes_no_line_into_the_log() -> None:
    async with running(MemoryStore()) as arena:
        with structlog.testing.capture_logs() as logs:
            await arena.accounts.register("ann", "", "", by_invitation=False, origin="192.0.2.1")
    assert [line["log_level"] for line in logs if "ann" in line.values()] == ["debug"]


CLASS = LadderTable(GAME, (2,), name="class", entry="invited")
LISTED = LadderTable(GAME, (2,), name="listed", entry=("Anna", "carl"))


async def test_a_bot_plays_on_a_closed_ladder_only_with_a_right(autojump_clock: MockClock) -> None:
    store = MemoryStore()
    async with trio.open_nursery() as nursery, running(store, ladders=(CLASS, LISTED)) as arena:

        async def come(row: bots.Bot, *ladders: str) -> Bot:
            bot = Bot(row)
            bot.hello = bot.hello._replace(ladders=ladders)
            nursery.start_soon(bot.attend, arena)
            await bot.until(lambda: bot.welcome or bot.end)
            return bot

        ann, bob = store.register("ann", "anna"), store.register("bob")
        for row, ladders, why in (
            (ann, ("class",), "ann may not enter the ladder class: it is by invitation; ask the server's operator"),
            (ann, ("listed", "class"), "ann may not enter the ladder class: it is by invitation"),
            (bob, (GAME.name, "listed"), "bob may not enter the ladder listed: its owner, bob, is not listed there"),
        ):
            bot = await come(row, *ladders)
            assert isinstance(bot.end, Closed)
            assert (bot.end.reason, why in str(bot.end)) == (Reason.ENTRY_REFUSED, True)
        assert "`arena-bot join bob class CODE`" in str((await come(bob, "class")).end)
        [(_, code), (_, other)] = await arena.accounts.invite(NewInvitations(prefix="class-", count=2, ladder="class"))
        await arena.accounts.join(bob, "class", code)
        new = (await arena.accounts.register("new", "", other, by_invitation=False)).bot
        for row, named in ((ann, "listed"), (ann, ""), (bob, f"class {GAME.name}"), (new, "class")):
            bot = await come(row, *named.split())
            assert (bot.end, bot.welcome is not None) == (None, True)
        nursery.cancel_scope.cancel()


async def test_a_default_ladder_may_be_closed(autojump_clock: MockClock) -> None:
    store = MemoryStore()
    bot = Bot(store.register("ann"))
    async with running(store, games=(), ladders=(LadderTable(GAME, (2,), entry="invited"),)) as arena:
        await bot.attend(arena)
        assert isinstance(bot.end, Closed)
        assert f"ann may not enter the ladder {GAME.name}: it is by invitation" in str(bot.end)


async def test_open_ladders_read_nothing_when_a_bot_comes() -> None:
    store = MemoryStore()
    async with running(store, ladders=(CLASS,)) as arena:

        async def authorize() -> bots.Bot:
            raise AssertionError

        await arena.accounts.require_entry(authorize, (GAME.name,))
