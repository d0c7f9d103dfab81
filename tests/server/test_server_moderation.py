"""The operator's decisions about bots and owners take effect at once on a running server, even on open streams."""

from __future__ import annotations

from functools import partial

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from arena.server.sessions.messages import Closed, NoticeKind, Reason
from arena.store.base.errors import OwnerBanned
from arena.store.bots import bots
from arena.store.matches import matches
from tests.server.server_rig import Bot, Hall, MemoryStore, answer

pytestmark = pytest.mark.virtual_clock


async def test_a_ban_ends_the_streams_of_an_owner_and_house_bots_play_on_at_once(
    hall: Hall, store: MemoryStore, nursery: trio.Nursery
) -> None:
    ann = Bot(store.register("ann"))
    eves = [Bot(store.register(f"eve-{number}", "Eve")) for number in range(2)]
    eves[0].answers = False
    async with hall.open(ann) as arena:
        nursery.start_soon(eves[0].attend, arena)
        await eves[0].until(lambda: eves[0].questions)
        nursery.start_soon(eves[1].attend, arena)
        await wait_all_tasks_blocked()
        began = trio.current_time()
        await arena.accounts.ban("eve", "a ring")
        for eve in eves:
            await eve.until(lambda eve=eve: eve.end)  # type: ignore[misc]
            assert isinstance(eve.end, Closed)
            assert (eve.end.reason, str(eve.end)) == (Reason.OWNER_BANNED, "eve is banned: a ring")
        await ann.until(lambda: ann.reports)
        assert trio.current_time() == pytest.approx(began, abs=0.01), "nobody waits for who cannot come back"
        assert ann.kinds()[:2] == [NoticeKind.GONE, NoticeKind.SUBSTITUTED]
        assert [session.hello.client for session in arena.players.sessions()] == ["test"]
    seats = {seat.bot: seat for seat in store.now(partial(matches.get_match, match_id=1)).seats}
    assert (seats["ann"].place, seats["eve-0"].place) == (1, 2)
    assert store.now(partial(bots.find, name="eve-0")).troubles == ()


async def test_the_seat_of_a_banned_bot_that_is_away_is_not_kept_for_it(hall: Hall, store: MemoryStore) -> None:
    ann, eve = Bot(store.register("ann")), Bot(store.register("eve"))
    eve.answers = False
    async with hall.open(ann, eve) as arena:
        await eve.until(lambda: eve.questions)
        eve.line.vanish()
        await ann.until(lambda: NoticeKind.GONE in ann.kinds())
        began = trio.current_time()
        await arena.accounts.ban("eve", "")
        await ann.until(lambda: ann.reports)
        assert trio.current_time() == pytest.approx(began, abs=0.01)


async def test_a_banned_bot_is_not_waited_for_before_a_match(hall: Hall, store: MemoryStore) -> None:
    ann, eve = Bot(store.register("ann")), Bot(store.register("eve"))
    eve.accepts = False
    async with hall.open(eve, ann) as arena:
        await eve.until(lambda: eve.invitations)
        began = trio.current_time()
        await arena.accounts.ban("eve", "")
        await ann.until(lambda: ann.notices)
        assert trio.current_time() == pytest.approx(began, abs=0.01)
        assert ann.notices[0].text == "the match does not take place: a bot left"
        await trio.sleep(60)
        assert len(eve.invitations) == len(ann.invitations) == 1


async def test_a_banned_bot_is_known_again_when_the_ban_is_lifted(hall: Hall) -> None:
    async with hall.open() as arena:
        token = (await arena.accounts.register("eve", "", "", by_invitation=False)).token
        await arena.accounts.ban("Eve", "a ring")
        with pytest.raises(OwnerBanned, match="a ring"):
            await arena.authorization.bot(token)
        with pytest.raises(OwnerBanned):
            await arena.authorization.require_control(token, "eve")
        await arena.accounts.unban("EVE", "mended")
        assert (await arena.authorization.bot(token)).name == "eve"


async def test_a_deleted_bot_is_gone_at_once_and_a_house_bot_plays_on(hall: Hall, store: MemoryStore) -> None:
    ann, eve = Bot(store.register("ann")), Bot(store.register("eve"))
    eve.answers = False
    async with hall.open(ann, eve) as arena:
        await eve.until(lambda: eve.questions)
        began = trio.current_time()
        await arena.accounts.delete("EVE", "")
        await eve.until(lambda: eve.end)
        assert isinstance(eve.end, Closed)
        assert eve.end.reason is Reason.TOKEN_REVOKED
        assert "deleted the bot" in str(eve.end)
        await ann.until(lambda: ann.reports)
        assert trio.current_time() == pytest.approx(began, abs=0.01)
    seats = {seat.bot: seat for seat in store.now(partial(matches.get_match, match_id=1)).seats}
    assert (seats["eve"].place, seats["eve"].deleted) == (2, True)


async def test_a_hidden_bot_plays_on(hall: Hall, store: MemoryStore) -> None:
    ann, eve = Bot(store.register("ann")), Bot(store.register("eve"))
    async with hall.open() as arena:
        await arena.accounts.hide("eve", "")
        hall.join(ann, eve)
        await eve.until(lambda: len(eve.reports) >= 3)
        await arena.accounts.show("eve", "")
        assert eve.end is None


async def test_a_renamed_bot_plays_on_and_is_called_by_its_new_name_from_the_next_match_on(
    hall: Hall, store: MemoryStore
) -> None:
    ann, eve = Bot(store.register("ann")), Bot(store.register("eve"))
    eve.answers = False
    async with hall.open(ann, eve) as arena:
        await eve.until(lambda: eve.questions)
        await arena.accounts.rename("eve", "eva", "a slip of the pen")
        eve.answers = True
        eve.line.say(answers=[answer(question) for question in eve.questions])
        await ann.until(lambda: len(ann.starts) == 2)
        assert [set(start.bots) for start in ann.starts] == [{"ann", "eve"}, {"ann", "eva"}]
        assert eve.end is None
    first, second = (store.now(partial(matches.get_match, match_id=number)) for number in (1, 2))
    assert {seat.bot for seat in first.seats} == {seat.bot for seat in second.seats} == {"ann", "eva"}
