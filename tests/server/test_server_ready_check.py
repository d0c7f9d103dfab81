"""A match that waits for its bots: who is invited, whose word counts, and what becomes of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256

from trio.testing import MockClock

from arena.replay.header import MatchKind, OfferOutcome
from arena.server.matches.ready_check import NO_NONCE, ReadyCheck
from arena.server.sessions.messages import Hello, Invitation, NoticeKind, Outgoing
from arena.server.sessions.player import BotPlayer, Player
from arena.server.sessions.session import Session
from engine.deal import commitment
from tests.server.server_rig import CODEC, GAME, NONCE, Line, house_players, turns

SEED = bytes(range(32))


class Guest(BotPlayer):
    """A bot that sits on a line that nobody serves: what was queued for it is looked at."""

    def __init__(self, number: int, name: str) -> None:
        super().__init__(number, name, name, lambda _: None)
        self.arrive()

    def arrive(self) -> Session:
        session = Session(Line(), CODEC, Hello((GAME.name,), 4, ""), turns())
        self.connected(0.0, session)
        return session

    @property
    def received(self) -> list[Invitation]:
        return self._waiting.invitations

    @property
    def notices(self) -> list[tuple[NoticeKind, str]]:
        return [(notice.kind, notice.text) for notice in self._waiting.notices]

    @property
    def _waiting(self) -> Outgoing:
        assert self.session is not None
        return self.session._waiting or Outgoing()


def ready_check(*players: Player, settled: Callable[[ReadyCheck], None] = lambda _: None) -> ReadyCheck:
    return ReadyCheck(GAME, {"rounds": 3}, players, SEED, 30.0, settled)


async def test_everybody_is_invited_and_the_match_is_on_when_all_are_ready(autojump_clock: MockClock) -> None:
    ann, bob = Guest(1, "ann"), Guest(2, "bob")
    (filler,) = house_players("house-a")
    settled: list[ReadyCheck] = []
    table = ready_check(ann, filler, bob, settled=settled.append)
    table.invite_all()
    (invitation,) = bob.received
    assert invitation.options == {"rounds": "3"}
    assert invitation.kind is MatchKind.RATED
    table.ready(bob, NONCE)
    assert settled == []
    assert table.failure == "not every bot accepted in time"
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


async def test_invitations_to_one_table_have_nothing_in_common(autojump_clock: MockClock) -> None:
    ann, bob = Guest(1, "ann"), Guest(2, "bob")
    ready_check(ann, bob).invite_all()
    (to_ann,), (to_bob,) = ann.received, bob.received
    assert to_ann.invitation_id != to_bob.invitation_id
    assert to_ann.commitment != to_bob.commitment
    alike = {"invitation_id": 0, "commitment": b""}
    assert replace(to_ann, **alike) == replace(to_bob, **alike), "what is left is the offer, the same for all"  # type: ignore[arg-type]
    assert all(each.invitation_id < 1 << 53 for each in (to_ann, to_bob))
    assert "ann" not in repr(to_bob)


async def test_the_first_nonce_counts(autojump_clock: MockClock) -> None:
    ann = Guest(1, "ann")
    table = ready_check(ann)
    table.ready(ann, NONCE)
    table.ready(ann, bytes(reversed(NONCE)))
    assert table.nonces == (NONCE,)


async def test_a_match_called_off_is_over_even_if_all_are_ready(autojump_clock: MockClock) -> None:
    ann, bob = Guest(1, "ann"), Guest(2, "bob")
    settled: list[ReadyCheck] = []
    table = ready_check(ann, bob, settled=settled.append)
    table.call_off("the server was stopped")
    table.ready(ann, NONCE)
    table.ready(bob, NONCE)
    assert settled == [table], "once"
    assert table.failure == "the server was stopped"
    table.withdraw()
    assert ann.notices == bob.notices
    assert ann.notices == [(NoticeKind.WITHDRAWN, "the match does not take place: the server was stopped")]


async def test_whoever_is_not_ready_when_the_alarm_rings_did_not_come(autojump_clock: MockClock) -> None:
    ann, bob = Guest(1, "ann"), Guest(2, "bob")
    settled: list[ReadyCheck] = []
    table = ready_check(ann, bob, settled=settled.append)
    assert table.deadline == 30.0
    table.ready(ann, NONCE)
    table.on_timer(30.0)
    assert settled == [table]
    assert table.failure == "not every bot accepted in time"
    assert table.deadline == math.inf, "it rings once"


async def test_who_was_ready_is_not_invited_again(autojump_clock: MockClock) -> None:
    ann, bob = Guest(1, "ann"), Guest(2, "bob")
    table = ready_check(ann, bob)
    table.ready(ann, NONCE)
    ann.arrive()
    bob.arrive()
    assert ann.received == []
    assert len(bob.received) == 1, "a bot that comes back is asked again"


async def test_who_is_away_is_neither_invited_nor_told(autojump_clock: MockClock) -> None:
    ann, bob = Guest(1, "ann"), Guest(2, "bob")
    table = ready_check(ann, bob)
    assert bob.session is not None
    bob.disconnected(0.0, bob.session)
    table.invite(bob)
    table.withdraw()
    assert [kind for kind, _ in ann.notices] == [NoticeKind.WITHDRAWN]


async def test_the_seats_are_kept_from_the_forming_to_the_end(autojump_clock: MockClock) -> None:
    ann = Guest(1, "ann")
    table = ready_check(ann)
    assert (ann.busy, ann.room(1), ann.room(2)) == (1, False, True)
    table.dissolve()
    assert (ann.busy, ann.room(1)) == (0, True)
