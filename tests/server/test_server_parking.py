"""Parked bots on a running server: they are notified, get no seats, and play again after they are resumed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import trio
from sqlalchemy import Connection
from trio.testing import MockClock, wait_all_tasks_blocked

from arena.server.arena import Arena
from arena.server.sessions.messages import Closed, NoticeKind, Reason
from arena.store.base.errors import NotParked, UnknownBot
from arena.store.bots import bots
from tests.server.server_rig import Bot, Hall, HouseBot, MemoryStore


def state(store: MemoryStore, name: str = "ann") -> bots.Bot:
    return store.now(partial(bots.find, name=name))


async def park(arena: Arena, ann: Bot, nursery: trio.Nursery) -> Bot:
    """Let Ann be silent and late in three matches against house bots. She stays connected afterwards."""
    ann.answers = False
    nursery.start_soon(ann.attend, arena)
    await ann.until(lambda: NoticeKind.PARKED in ann.kinds())
    return ann


async def test_three_matches_in_a_row_with_a_suspended_seat_park_a_bot_that_is_told_why(
    hall: Hall, store: MemoryStore, ann: Bot, nursery: trio.Nursery
) -> None:
    async with hall.open(house_bots=[HouseBot("house-a")], house=True) as arena:
        await park(arena, ann, nursery)
        assert len(ann.reports) == 3
        notice = ann.notices[-1]
        assert (notice.kind, notice.match_id) == (NoticeKind.PARKED, None)
        assert "in matches 1, 2 and 3, in a row" in notice.text
        assert "arena bots unpark ann" in notice.text
        with trio.move_on_after(1000):
            await ann.until(lambda: len(ann.invitations) > 3)
        assert len(ann.invitations) == 3, "no more seats"
        assert state(store).troubles == (1, 2, 3)


async def test_one_absence_is_one_trouble_however_many_seats_it_left(hall: Hall, store: MemoryStore, ann: Bot) -> None:
    ann.hello = ann.hello._replace(capacity=5)
    ann.answers = False
    async with hall.open(ann, house_bots=[HouseBot("house-a")], house=True) as arena:
        await ann.until(lambda: len(ann.questions) >= 5)
        ann.line.vanish()
        await trio.sleep(300)
        assert arena.playing == 0
        assert state(store).parked is None
        assert len(state(store).troubles) == 1


async def test_a_parked_bot_that_connects_is_told_and_plays_once_it_is_un_parked(
    hall: Hall, store: MemoryStore, ann: Bot, nursery: trio.Nursery
) -> None:
    async with hall.open(house_bots=[HouseBot("house-a")], house=True) as arena:
        await park(arena, ann, nursery)
    async with hall.open(house_bots=[HouseBot("house-a")], house=True) as arena:
        again = ann.again()
        again.row = state(store)
        hall.join(again)
        await again.until(lambda: again.notices)
        assert again.kinds() == [NoticeKind.PARKED]
        with trio.move_on_after(1000):
            await again.until(lambda: again.invitations)
        assert not again.invitations
        await arena.accounts.unpark("ANN")
        await again.until(lambda: again.reports)
        assert again.reports[0].scores
        assert state(store).troubles == ()
        with pytest.raises(NotParked):
            await arena.accounts.unpark("ann")


async def test_a_bot_may_be_un_parked_while_it_is_away(
    hall: Hall, store: MemoryStore, ann: Bot, nursery: trio.Nursery
) -> None:
    async with hall.open(house_bots=[HouseBot("house-a")], house=True) as arena:
        await park(arena, ann, nursery)
        ann.line.half_close()
        await ann.until(lambda: not arena.players.sessions())
        await arena.accounts.unpark("ann")
        again = ann.again()
        again.row = state(store)
        hall.join(again)
        await again.until(lambda: again.reports)
        assert again.kinds() == []


async def test_others_play_without_a_parked_bot(
    hall: Hall, store: MemoryStore, ann: Bot, nursery: trio.Nursery
) -> None:
    """A parked bot does not count, even if tables have as many seats as there are owners."""
    async with hall.open(house_bots=[HouseBot("house-a")], house=True) as arena:
        await park(arena, ann, nursery)
    async with hall.open(seats=(2, 3)):
        bots_here = [ann.again(), Bot(store.register("bob")), Bot(store.register("cleo"))]
        for bot in bots_here:
            bot.row = state(store, bot.row.name)
            hall.join(bot)
        bob = bots_here[1]
        await bob.until(lambda: len(bob.reports) >= 5)
        assert all(len(report.scores) == 2 for report in bob.reports)
        assert not bots_here[0].invitations


async def test_normal_matches_between_troubled_ones_park_nobody(hall: Hall, ann: Bot) -> None:
    async with hall.open(ann, house_bots=[HouseBot("house-a")], house=True):
        for silent in (True, True, False, True, True, False):
            ann.answers = not silent
            played = len(ann.reports)
            await ann.until(lambda played=played: len(ann.reports) > played)  # type: ignore[misc]
        assert NoticeKind.PARKED not in ann.kinds()


async def test_a_new_token_ends_the_stream_of_the_old_one(hall: Hall, ann: Bot) -> None:
    async with hall.open() as arena:
        for change, why in ((arena.accounts.rotate, "replaced"), (arena.accounts.revoke, "revoked")):
            bot = ann.again()
            hall.join(bot)
            await wait_all_tasks_blocked()
            await change("ann")
            await bot.until(lambda bot=bot: bot.end)  # type: ignore[misc]
            assert isinstance(bot.end, Closed)
            assert bot.end.reason is Reason.TOKEN_REVOKED
            assert why in str(bot.end)
            with pytest.raises(UnknownBot):
                await change("nobody")


async def test_a_token_that_is_revoked_while_it_is_looked_up_is_not_known(
    hall: Hall, store: MemoryStore, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader still saw the old state, but the time of the answer counts."""
    registered = store.now(partial(bots.register, name="ann", owner="", at=0))
    async with hall.open() as arena:
        read = store.read
        reads = 0

        async def slow_read(job):  # type: ignore[no-untyped-def]
            nonlocal reads
            reads += 1
            found = await read(job)
            if reads == 1:
                await arena.accounts.revoke("ann")
            return found

        monkeypatch.setattr(store, "read", slow_read)
        assert await arena.accounts.authenticate(registered.token) is None


async def test_a_token_is_looked_up_again_only_after_a_change(
    hall: Hall, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = store.now(partial(bots.register, name="ann", owner="", at=0)).token
    look_up, looked_up = store.read, list[str]()
    async with hall.open() as arena:

        async def read(job: Callable[[Connection], object]) -> object:
            looked_up.append("once more")
            return await look_up(job)

        monkeypatch.setattr(store, "read", read)
        first = await arena.accounts.authenticate(token)
        assert await arena.accounts.authenticate(token) is first
        assert len(looked_up) == 1
        assert await arena.accounts.authenticate("nobody's") is None
        assert await arena.accounts.authenticate("nobody's") is None
        assert len(looked_up) == 3
        await arena.accounts.revoke("ann")
        assert await arena.accounts.authenticate(token) is None


async def test_matches_that_end_well_do_not_have_a_token_looked_up_again(
    hall: Hall, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = store.now(partial(bots.register, name="ann", owner="", at=0)).token
    look_up, looked_up = store.read, list[str]()
    async with hall.open() as arena:

        async def read(job: Callable[[Connection], object]) -> object:
            looked_up.append("once more")
            if len(looked_up) < 3:  # otherwise the test would not end
                arena.accounts.park(())
            return await look_up(job)

        monkeypatch.setattr(store, "read", read)
        found = await arena.accounts.authenticate(token)
    assert found is not None
    assert (found.name, len(looked_up)) == ("ann", 1)


async def test_a_bot_is_counted_in_the_transaction_that_stores_the_result(
    hall: Hall, ann: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hall.open(house_bots=[HouseBot("house-a")], house=True):

        def fail(connection: Connection, *_: object) -> None:
            raise RuntimeError("a fault of ours")

        monkeypatch.setattr("arena.store.moderation.parking.count", fail)
        hall.join(ann)
        await ann.until(lambda: ann.reports)
        assert ann.reports[0].interrupted, "without the count there is no result"
        assert ann.reports[0].rating is None
