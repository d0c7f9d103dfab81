"""Challenges on a running server: named bots, accepted by all, unrated, few per hour, and without effect on other
matches.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import trio

from arena.replay.header import MatchKind
from arena.server.arena import Arena
from arena.server.matchmaking.challenges import BadChallenge, NotChallenged, TooManyChallenges
from arena.server.sessions.limits import Limits
from arena.server.sessions.messages import NoticeKind
from arena.store.bots import bots
from arena.store.matches import matches
from tests.server.server_rig import GAME, Bot, Hall, HouseBot, MemoryStore, running

HOUSE = [HouseBot("house-a"), HouseBot("house-b")]


class Picky(Bot):
    """A bot that accepts every invitation except challenges, which it answers only if the test says so."""

    takes = False

    def hear(self, message: Any) -> None:
        challenges = [each for each in message.invitations if each.kind is MatchKind.CHALLENGE]
        if self.takes or not challenges:
            super().hear(message)
            return
        self.invitations += message.invitations
        message.invitations[:] = [each for each in message.invitations if each not in challenges]
        super().hear(message)


def challenger(store: MemoryStore, name: str, owner: str = "", kind: Callable[..., Bot] = Bot, **how: Any) -> Bot:
    bot = kind(store.register(name, owner), **how)
    bot.hello = bot.hello._replace(challenges=True)
    return bot


async def come(arena: Arena, nursery: trio.Nursery, *here: Bot) -> None:
    for bot in here:
        nursery.start_soon(bot.attend, arena)
        await bot.until(partial(_welcomed, bot))


def _welcomed(bot: Bot) -> bool:
    return bot.welcome is not None


def names(store: MemoryStore, match_id: int) -> list[str]:
    return sorted(seat.bot for seat in store.now(lambda connection: matches.get_match(connection, match_id)).seats)


def challenges(bot: Bot) -> list[Any]:
    return [each for each in bot.invitations if each.kind is MatchKind.CHALLENGE]


async def test_a_challenge_names_its_bots_in_the_invitation_and_moves_no_rating(
    hall: Hall, store: MemoryStore, nursery: trio.Nursery
) -> None:
    ann, bob = challenger(store, "ann"), challenger(store, "bob")
    async with hall.open() as arena:
        await come(arena, nursery, ann)
        await come(arena, nursery, bob)
        with trio.fail_after(60):
            match_id = await arena.matchmaker.challenge("ann", ["Bob"], GAME.name)
        await ann.until(lambda: match_id in [each.match_id for each in ann.reports])
        [report] = [each for each in ann.reports if each.match_id == match_id]
        assert (report.kind, report.rating) == (MatchKind.CHALLENGE, None)
        [invited] = challenges(ann)
        [start] = [each for each in ann.starts if each.match_id == match_id]
        assert sorted(invited.bots) == ["ann", "bob"]
        assert invited.bots == start.bots
        assert [each.bots for each in ann.invitations if each.kind is MatchKind.RATED][:1] == [()]
        row = store.now(lambda connection: matches.get_match(connection, match_id))
        assert row.kind is MatchKind.CHALLENGE
        assert [seat.rating_after for seat in row.seats] == [None, None]


async def test_bots_that_are_always_full_keep_a_place_free_for_a_challenge(
    hall: Hall, store: MemoryStore, nursery: trio.Nursery
) -> None:
    here = [challenger(store, name) for name in ("ann", "bob", "cleo", "dora")]
    async with hall.open() as arena:
        await come(arena, nursery, *here)
        await here[0].until(lambda: len(here[0].reports) >= 3)
        for opponent in ("bob", "cleo", "dora"):
            with trio.fail_after(60):
                await arena.matchmaker.challenge("ann", [opponent], GAME.name)
        played = len(here[0].reports)
        await here[0].until(lambda: len(here[0].reports) > played + 3)
        assert [len(challenges(bot)) for bot in here] == [3, 1, 1, 1]
        assert all(player.offers.reserved == 0 for player in arena.players)


async def test_bots_of_one_owner_and_house_bots_may_be_challenged(
    hall: Hall, store: MemoryStore, nursery: trio.Nursery
) -> None:
    ann, bob = challenger(store, "ann", "anna"), challenger(store, "bob", "anna")
    async with hall.open(house_bots=HOUSE, house=True, seats=(2, 3)) as arena:
        await come(arena, nursery, ann, bob)
        with trio.fail_after(60):
            both = await arena.matchmaker.challenge("ann", ["bob"], GAME.name)
            house = await arena.matchmaker.challenge("bob", ["house-a", "house-a"], GAME.name)
        assert names(store, both) == ["ann", "bob"]
        assert names(store, house) == ["bob", "house-a", "house-a"]


@pytest.mark.parametrize("silently", [True, False])
async def test_who_does_not_accept_a_challenge_is_named_and_nothing_is_charged(
    hall: Hall, store: MemoryStore, nursery: trio.Nursery, silently: bool
) -> None:
    ann, bob = challenger(store, "ann"), challenger(store, "bob", kind=Picky, capacity=2)
    async with hall.open() as arena:
        await come(arena, nursery, ann, bob)

        async def decline() -> None:
            await bob.until(lambda: challenges(bob))
            if not silently:
                bob.line.say(declined=[challenges(bob)[0].invitation_id])

        nursery.start_soon(decline)
        why = "bob did not accept in time" if silently else "bob declined"
        with trio.fail_after(60), pytest.raises(NotChallenged, match=f"^{why}$"):
            await arena.matchmaker.challenge("ann", ["bob"], GAME.name)
        player = arena.players.get(bob.row.id)
        assert player is not None
        assert player.offers.availability.invitable
        assert not player.offers.availability.doubtful
        bob.line.say(ready=[])
        rated = len(bob.reports)
        await bob.until(lambda: len(bob.reports) > rated)
        assert bob.reports[-1].kind is MatchKind.RATED


async def test_troubles_in_a_challenge_are_nobodys(hall: Hall, store: MemoryStore, nursery: trio.Nursery) -> None:
    ann, bob = challenger(store, "ann"), challenger(store, "bob")
    async with hall.open(seats=(2,)) as arena:
        await come(arena, nursery, ann, bob)
        await ann.until(lambda: ann.reports)
        with trio.fail_after(60):
            match_id = await arena.matchmaker.challenge("ann", ["bob"], GAME.name)
        bob.answers = False
        await ann.until(lambda: match_id in [each.match_id for each in ann.reports])
        bob.answers = True
        assert match_id not in store.now(lambda connection: bots.find(connection, "bob")).troubles


async def test_a_challenge_moves_no_balance_and_is_no_news_for_the_ladder(
    hall: Hall, store: MemoryStore, nursery: trio.Nursery
) -> None:
    ann, bob = challenger(store, "ann", capacity=3), challenger(store, "bob", "ann", capacity=3)
    async with running(store) as arena:  # both belong to one owner, so they play no other matches
        await come(arena, nursery, ann, bob)
        player = arena.players.get(ann.row.id)
        assert player is not None

        def known() -> tuple[object, ...]:
            return (
                player.offers.pace.balance,
                dict(player.offers.waiting_since),
                player.offers.pending[GAME.name],
                dict(player.offers.last_length),
            )

        before = known()
        with trio.fail_after(60):
            match_id = await arena.matchmaker.challenge("ann", ["bob"], GAME.name)
        assert known() == before
        await ann.until(lambda: match_id in [each.match_id for each in ann.reports])
        assert known() == before


@pytest.mark.parametrize(
    ("opponents", "game", "refusal", "why"),
    [
        (["bob"], "chess", BadChallenge, "this server plays counting, not chess"),
        ([], GAME.name, BadChallenge, "played here by 2 at a table, and these are 1 with ann"),
        (["bob", "cleo"], GAME.name, BadChallenge, "these are 3 with ann"),
        (["ann"], GAME.name, BadChallenge, "ann is named twice"),
        (["nobody"], GAME.name, NotChallenged, "nobody is not connected"),
        (["shy"], GAME.name, NotChallenged, "shy takes no challenges"),
    ],
)
async def test_a_challenge_that_cannot_be_is_refused_with_the_reason(
    hall: Hall,
    store: MemoryStore,
    nursery: trio.Nursery,
    opponents: list[str],
    game: str,
    refusal: type[Exception],
    why: str,
) -> None:
    here = [challenger(store, name) for name in ("ann", "bob", "cleo")]
    async with hall.open() as arena:
        await come(arena, nursery, *here, Bot(store.register("shy")))
        with pytest.raises(refusal, match=why):
            await arena.matchmaker.challenge("ann", opponents, game)
        assert all(player.offers.reserved == 0 for player in arena.players)


async def test_nobody_is_flooded_with_challenges(hall: Hall, store: MemoryStore, nursery: trio.Nursery) -> None:
    ann, bob, cleo = (challenger(store, name, capacity=9) for name in ("ann", "bob", "cleo"))
    limits = Limits(challenges_per_owner=3, challenges_per_bot=4)
    async with hall.open(limits=limits) as arena:
        await come(arena, nursery, ann, bob, cleo)
        for _ in range(3):
            await arena.matchmaker.challenge("ann", ["bob"], GAME.name)
        with pytest.raises(TooManyChallenges, match=r"^3 challenges an hour the bots of one owner may send"):
            await arena.matchmaker.challenge("ann", ["bob"], GAME.name)
        await arena.matchmaker.challenge("cleo", ["bob"], GAME.name)
        with pytest.raises(TooManyChallenges, match=r"^4 challenges an hour bob may be sent"):
            await arena.matchmaker.challenge("cleo", ["bob"], GAME.name)
        await arena.matchmaker.challenge("cleo", ["ann"], GAME.name)
        assert len(challenges(bob)) == 4


async def test_a_bot_has_one_challenge_at_a_time_and_one_without_room_fails_after_half_a_minute(
    hall: Hall, store: MemoryStore, nursery: trio.Nursery
) -> None:
    ann, cleo = challenger(store, "ann", "anna"), challenger(store, "cleo", "anna")
    full = challenger(store, "full", capacity=0)
    async with hall.open() as arena:
        await come(arena, nursery, ann, full, cleo)
        ends: list[str] = []

        async def challenge() -> None:
            try:
                await arena.matchmaker.challenge("ann", ["full"], GAME.name)
            except NotChallenged as refusal:
                ends.append(f"{refusal} after {trio.current_time() - began:.0f} s")

        began = trio.current_time()
        nursery.start_soon(challenge)
        await trio.sleep(1)
        with pytest.raises(NotChallenged, match="full has another challenge"):
            await arena.matchmaker.challenge("cleo", ["full"], GAME.name)
        await trio.sleep(40)
        assert ends == ["full had no room for 30 s after 30 s"]
        assert all(player.offers.reserved == 0 for player in arena.players)


@pytest.mark.parametrize("given_up", [True, False])
async def test_a_place_that_was_kept_in_vain_is_not_kept_again_so_soon(
    hall: Hall, store: MemoryStore, nursery: trio.Nursery, given_up: bool
) -> None:
    """Without this limit, two names could keep a bot that accepts challenges from its matches for half of each hour."""
    ann, bob = challenger(store, "ann", "anna"), challenger(store, "bob", "anna")
    full = challenger(store, "full", capacity=0)
    async with hall.open(seats=(2, 3)) as arena:
        await come(arena, nursery, ann, bob, full)
        kept = []
        for wait in (1, 200, 300):
            await trio.sleep(wait)
            with trio.move_on_after(20 if given_up else 40):
                async with trio.open_nursery() as waiting:
                    waiting.start_soon(failing, arena, "ann", "bob", "full")
                    await trio.sleep(1)
                    kept.append({player.name: player.offers.reserved for player in arena.players})
        assert [each["bob"] for each in kept] == [1, 0, 1]
        assert {(each["ann"], each["full"]) for each in kept} == {(1, 1)}, "who wants it, and who is waited for"
        assert all(player.offers.reserved == 0 for player in arena.players)


async def failing(arena: Arena, challenger: str, *opponents: str) -> None:
    with pytest.raises(NotChallenged, match="had no room"):
        await arena.matchmaker.challenge(challenger, [*opponents], GAME.name)


async def test_a_challenge_ends_where_a_bot_leaves_or_the_server_stops(
    hall: Hall, store: MemoryStore, nursery: trio.Nursery
) -> None:
    ann, full = challenger(store, "ann"), challenger(store, "full", capacity=0)
    ends: list[str] = []
    async with hall.open() as arena:
        await come(arena, nursery, ann, full)

        async def challenge() -> None:
            try:
                await arena.matchmaker.challenge("ann", ["full"], GAME.name)
            except NotChallenged as refusal:
                ends.append(str(refusal))

        nursery.start_soon(challenge)
        await trio.sleep(1)
        full.line.vanish()
        await trio.sleep(1)
        assert ends == ["full left or takes no challenges any more"]
        await come(arena, nursery, again := full.again())
        assert again.hello.challenges is False
        again.hello = again.hello._replace(challenges=True)
        await come(arena, nursery, third := Bot(full.row, capacity=0))
        third.hello = third.hello._replace(challenges=True)
        with pytest.raises(NotChallenged, match="takes no challenges"):
            await arena.matchmaker.challenge("ann", ["full"], GAME.name)
        fourth = Bot(full.row, capacity=0)
        fourth.hello = fourth.hello._replace(challenges=True)
        await come(arena, nursery, fourth)
        nursery.start_soon(challenge)
        await trio.sleep(1)
        await arena.drain(0)
        await trio.sleep(1)
        assert ends[1:] == ["the server is stopping"]
        assert NoticeKind.DRAINING in fourth.kinds()
