"""A match that waits for its bots: invitations, valid answers, and the end of the wait."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256

import pytest

from arena.match.policy import ReadyLimits
from arena.replay.header import MatchKind, OfferOutcome
from arena.server.config import LadderSettings
from arena.server.matches.ready_check import NO_NONCE, ReadyCheck
from arena.server.sessions.messages import BotMessage, Hello, Invitation, NoticeKind, Outgoing, Ready
from arena.server.sessions.player import BotPlayer, Expected, Player
from arena.server.sessions.session import Session
from engine.deal import commitment
from tests.server.server_rig import CODEC, GAME, NONCE, Line, house_players, ladder, turns

pytestmark = pytest.mark.virtual_clock

SEED = bytes(range(32))
LADDER = ladder(options={"rounds": 3})
LIMITS = ReadyLimits(answer=30.0, offer=2.0, seat=3.0)


def guest(number: int, name: str) -> BotPlayer:
    """Return a bot on a connection that the server never reads, so its queued messages stay there."""
    player = BotPlayer(number, name, name, lambda _: None)
    arrive(player)
    return player


def arrive(player: BotPlayer) -> Session:
    session = Session(Line(), CODEC, Hello((GAME.name,), 4, ""), turns())
    player.connected(0.0, session)
    return session


def waiting(player: BotPlayer) -> Outgoing:
    assert player.session is not None
    return player.session._waiting or Outgoing()


def received(player: BotPlayer) -> list[Invitation]:
    return waiting(player).invitations


def received_id(player: BotPlayer) -> int:
    return received(player)[-1].invitation_id


def notices(player: BotPlayer) -> list[tuple[NoticeKind, str]]:
    return [(notice.kind, notice.text) for notice in waiting(player).notices]


def ready_check(
    *players: Player,
    on: LadderSettings = LADDER,
    settled: Callable[[ReadyCheck], None] = lambda _: None,
    replacement: Callable[[ReadyCheck, bool], Player | None] = lambda _, __: None,
) -> ReadyCheck:
    return ReadyCheck(on, players, SEED, 0.0, LIMITS, settled, replacement)


async def test_everybody_is_invited_and_the_match_is_on_when_all_are_ready() -> None:
    ann, bob = guest(1, "ann"), guest(2, "bob")
    (filler,) = house_players("house-a")
    settled: list[ReadyCheck] = []
    table = ready_check(ann, filler, bob, settled=settled.append)
    table.invite_all()
    (invitation,) = received(bob)
    assert invitation.options == {"rounds": "3"}
    assert invitation.kind is MatchKind.RATED
    table.ready(bob, NONCE)
    assert settled == []
    table.ready(ann, b"")
    assert settled == [table]
    assert table.failure is None
    assert table.nonces == (NO_NONCE, NO_NONCE, NONCE)
    assert [(offer.seat, offer.bot, offer.outcome) for offer in table.offers] == [
        (2, "bob", OfferOutcome.ACCEPTED),
        (0, "ann", OfferOutcome.ACCEPTED),
    ]
    assert table.offers[0].invitation_id == invitation.invitation_id
    assert sha256(table.offers[0].salt + commitment(SEED)).digest() == invitation.commitment


async def test_invitations_to_one_table_have_nothing_in_common() -> None:
    ann, bob = guest(1, "ann"), guest(2, "bob")
    ready_check(ann, bob).invite_all()
    (to_ann,), (to_bob,) = received(ann), received(bob)
    assert to_ann.invitation_id != to_bob.invitation_id
    assert to_ann.commitment != to_bob.commitment
    alike = {"invitation_id": 0, "commitment": b""}
    assert replace(to_ann, **alike) == replace(to_bob, **alike), "what is left is the offer, the same for all"  # type: ignore[arg-type]
    assert all(each.invitation_id < 1 << 53 for each in (to_ann, to_bob))
    assert "ann" not in repr(to_bob)


async def test_the_first_nonce_counts() -> None:
    ann = guest(1, "ann")
    table = ready_check(ann)
    table.ready(ann, NONCE)
    table.ready(ann, bytes(reversed(NONCE)))
    assert table.nonces == (NONCE,)


async def test_a_match_called_off_is_over_even_if_all_are_ready() -> None:
    ann, bob = guest(1, "ann"), guest(2, "bob")
    settled: list[ReadyCheck] = []
    table = ready_check(ann, bob, settled=settled.append)
    table.call_off("the server was stopped")
    table.ready(ann, NONCE)
    table.ready(bob, NONCE)
    assert settled == [table], "once"
    assert table.failure == "the server was stopped"
    table.withdraw()
    assert notices(ann) == notices(bob)
    assert notices(ann) == [(NoticeKind.WITHDRAWN, "the match does not take place: the server was stopped")]


async def test_a_silent_seat_is_offered_to_another_bot_too_and_the_first_ready_takes_it() -> None:
    ann, bob, eve = guest(1, "ann"), guest(2, "bob"), guest(3, "eve")
    settled: list[ReadyCheck] = []
    table = ready_check(ann, bob, settled=settled.append, replacement=lambda _, at_once: None if at_once else eve)
    table.invite_all()
    assert table.deadline == 2.0
    table.ready(ann, NONCE)
    table.on_timer(2.0)
    assert table.deadline == 3.0
    assert len(received(eve)) == 1
    assert {player.name for player in table.candidates} == {"ann", "bob", "eve"}
    table.ready(eve, NONCE)
    assert settled == [table]
    assert (table.failure, table.players) == (None, (ann, eve))
    table.dissolve()
    late = received_id(bob)
    assert bob.busy == 0
    assert not bob.offers.availability.invitable, "it still owes a word"
    bob.hear(BotMessage(9.0, [Ready(late, NONCE)], (), None))
    assert [kind for kind, _ in notices(bob)] == [NoticeKind.TAKEN]
    assert bob.offers.availability.invitable, "a late Ready is not charged"
    assert [(offer.seat, offer.bot, offer.outcome) for offer in table.offers] == [
        (0, "ann", OfferOutcome.ACCEPTED),
        (1, "eve", OfferOutcome.ACCEPTED),
        (1, "bob", OfferOutcome.SILENT),
    ]


async def test_a_bot_that_leaves_before_it_answers_a_withdrawn_invitation_is_soon_invited_again() -> None:
    """Otherwise the server would wait 30 s for an answer that no later session of the bot could give."""
    ann, bob = guest(1, "ann"), guest(2, "bob")
    table = ready_check(ann, bob)
    table.invite_all()
    ann.offers.forgo(ann, 1.0, charged=True)
    assert table.failure == "a bot left"
    table.withdraw()
    table.dissolve()
    assert not bob.offers.availability.invitable
    assert bob.session is not None
    bob.disconnected(1.5, bob.session)
    assert bob.offers.availability.deadline == 2.5
    bob.offers.availability.on_timer(2.5)
    assert bob.offers.availability.invitable


async def test_the_bot_asked_first_keeps_its_seat_where_it_is_quicker() -> None:
    ann, bob, eve = guest(1, "ann"), guest(2, "bob"), guest(3, "eve")
    table = ready_check(ann, bob, replacement=lambda _, __: eve)
    table.ready(ann, NONCE)
    table.on_timer(2.0)
    table.ready(bob, NONCE)
    assert table.players == (ann, bob)
    assert eve.busy == 0


async def test_a_declined_seat_goes_to_the_house_at_once() -> None:
    ann, bob = guest(1, "ann"), guest(2, "bob")
    (filler,) = house_players("house-a")
    table = ready_check(ann, bob, replacement=lambda _, __: filler)
    table.ready(ann, NONCE)
    table.forgo(bob, 1.0, OfferOutcome.DECLINED)
    assert (table.failure, table.players, table.nonces) == (None, (ann, filler), (NONCE, NO_NONCE))
    assert bob.offers.availability.failed[OfferOutcome.DECLINED] == 1


async def test_a_bot_that_was_ready_and_leaves_is_replaced() -> None:
    ann, bob = guest(1, "ann"), guest(2, "bob")
    (filler,) = house_players("house-a")
    table = ready_check(ann, bob, replacement=lambda _, __: filler)
    table.ready(bob, NONCE)
    table.forgo(bob, 1.0, OfferOutcome.LEFT)
    table.ready(ann, NONCE)
    assert (table.players, table.nonces) == ((ann, filler), (NONCE, NO_NONCE))
    outcomes = [(offer.bot, offer.outcome) for offer in table.offers]
    assert outcomes == [("bob", OfferOutcome.LEFT), ("ann", OfferOutcome.ACCEPTED)], "its seat is another's"


async def test_a_match_that_nobody_can_complete_is_called_off_and_who_waited_waits_as_before() -> None:
    ann, bob = guest(1, "ann"), guest(2, "bob")
    ann.offers.waiting_since[GAME.name] = -17.0
    table = ready_check(ann, bob)
    ann.offers.seated(0.0, GAME.name)
    table.ready(ann, NONCE)
    table.forgo(bob, 1.0, OfferOutcome.DECLINED)
    assert table.failure == "a bot declined"
    table.withdraw()
    table.dissolve()
    assert ann.offers.waiting_since[GAME.name] == -17.0
    assert ann.offers.availability.invitable
    assert (ann.busy, ann.offers.pending[GAME.name]) == (0, 0)


async def test_no_match_waits_longer_than_three_seconds_for_a_seat() -> None:
    ann, bob = guest(1, "ann"), guest(2, "bob")
    settled: list[ReadyCheck] = []
    table = ready_check(ann, bob, settled=settled.append)
    table.ready(ann, NONCE)
    table.on_timer(2.0)
    assert settled == []
    table.on_timer(3.0)
    assert settled == [table]
    assert table.failure == "not every bot accepted in time"
    assert table.deadline == math.inf, "the timer fires once"
    table.dissolve()
    assert not bob.offers.availability.invitable


async def test_a_house_bot_takes_the_seat_at_the_last_call() -> None:
    ann, bob = guest(1, "ann"), guest(2, "bob")
    (filler,) = house_players("house-a")
    table = ready_check(ann, bob, replacement=lambda _, at_once: filler if at_once else None)
    table.ready(ann, NONCE)
    table.on_timer(2.0)
    table.on_timer(3.0)
    assert table.players == (ann, filler)


async def test_a_decline_of_a_bot_that_has_said_it_has_no_room_is_not_charged() -> None:
    ann, bob = guest(1, "ann"), guest(2, "bob")
    ready_check(ann, bob).invite_all()
    bob.hear(BotMessage(1.0, (), (), None, 0, [received_id(bob)]))
    assert bob.offers.availability.failed[OfferOutcome.DECLINED] == 0
    ann.hear(BotMessage(1.0, (), (), None, 4, [received_id(ann)]))
    assert ann.offers.availability.failed[OfferOutcome.DECLINED] == 0, "the match was called off before"


async def test_who_was_ready_is_not_invited_again() -> None:
    ann, bob = guest(1, "ann"), guest(2, "bob")
    table = ready_check(ann, bob)
    table.ready(ann, NONCE)
    arrive(ann)
    arrive(bob)
    assert received(ann) == []
    assert len(received(bob)) == 1, "a bot that comes back is asked again"


async def test_the_seat_of_a_bot_that_goes_is_offered_on() -> None:
    ann, bob, eve = guest(1, "ann"), guest(2, "bob"), guest(3, "eve")
    table = ready_check(ann, bob, replacement=lambda _, __: eve)
    assert bob.session is not None
    bob.disconnected(0.0, bob.session)
    assert len(received(eve)) == 1
    arrive(bob)
    assert received(bob) == []
    table.ready(ann, NONCE)
    table.ready(eve, NONCE)
    assert table.players == (ann, eve)


async def test_the_seats_are_kept_from_the_forming_to_the_end() -> None:
    ann = guest(1, "ann")
    ann.offers.pace.played(0.0, 0.005)
    table = ready_check(ann)
    table.ready(ann, NONCE)
    assert (ann.busy, ann.room(1), ann.room(2)) == (1, False, True)
    table.dissolve()
    assert (ann.busy, ann.room(1)) == (0, True)


async def test_what_a_match_was_expected_to_cost_is_given_back_to_whoever_does_not_play_it() -> None:
    ann, bob = guest(1, "ann"), guest(2, "bob")
    table = ready_check(ann, bob)
    before = ann.offers.pace.balance
    for each in (ann, bob):
        each.offers.expect(table, Expected(5.0, 10.0))
    assert ann.offers.pace.balance == before - 5
    assert ann.offers.free_at == 10.0
    table.ready(ann, NONCE)
    table.forgo(bob, 1.0, OfferOutcome.DECLINED)
    table.withdraw()
    table.dissolve()
    assert (ann.offers.pace.balance, bob.offers.pace.balance) == (before, before)
    assert ann.offers.free_at == -math.inf


async def test_a_seat_on_one_ladder_of_a_game_leaves_the_others_alone() -> None:
    ann, bob, slow = guest(1, "ann"), guest(2, "bob"), replace(LADDER, name="slow")
    ann.offers.waiting_since = {GAME.name: -17.0, "slow": -9.0}
    table = ready_check(ann, bob, on=slow)
    ann.offers.seated(0.0, "slow")
    table.invite_all()
    assert [each.game for each in received(ann)] == [GAME.name]
    assert ann.offers.waiting_since == {GAME.name: -17.0, "slow": 0.0}
    assert ann.offers.pending == {"slow": 1}
    table.ready(ann, NONCE)
    table.call_off("the server is stopping")
    table.withdraw()
    table.dissolve()
    assert ann.offers.waiting_since == {GAME.name: -17.0, "slow": -9.0}
    assert ann.offers.pending == {"slow": 0}
