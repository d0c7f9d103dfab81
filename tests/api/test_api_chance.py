"""Deals that no player can influence or predict, shown by all messages of a match between two bots and a house bot.

The server commits to its seed before it accepts a nonce. Only a bot's first nonce counts, and a house bot's nonce is
zero. Seed, nonces and keys are secret until the match is over. Then the replay contains them all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import Any, cast

import pytest
import trio
from arena_client.v1 import play_pb2 as pb
from trio.testing import MockClock

from arena.api.play_service import PlayService
from arena.house.random_bot import RandomBot
from arena.replay.header import Header
from arena.replay.read import read
from arena.server.arena import Arena, open_arena
from arena.store.base.errors import NoReplay, UnknownMatch
from arena.store.bots import bots
from arena.store.matches import matches
from arena.store.store import Store
from engine.deal import SeededDecks, match_key, round_key
from engine.game import Game
from engine.nullern import NULLERN
from engine.sixth_sense import SIXTH_SENSE
from tests.server.server_rig import MemoryStore, config
from tests.trio_grpc.memory import MemoryPeer

NONCES = {"ann": sha256(b"ann").digest()[:16], "bob": sha256(b"bob").digest()[:16]}
ZERO = bytes(16)


@dataclass
class Guest:
    """A bot that stores every byte that it receives."""

    name: str
    nonce: bytes
    sent: list[bytes] = field(default_factory=list)
    """All messages up to the match's report."""
    invitations: list[pb.Invitation] = field(default_factory=list)
    starts: list[pb.MatchStart] = field(default_factory=list)
    readied: int | None = None
    """Number of messages that the bot had received when it sent its nonce."""
    hands: dict[int, bytes] = field(default_factory=dict)
    """By round, the cards in the bot's first view of the round."""
    replays: list[type[Exception]] = field(default_factory=list)
    """The errors with which the store refuses the replay; the bot requests it before each of its answers."""

    async def play(self, arena: Arena, store: MemoryStore, game: Game, token: str) -> None:
        peer: MemoryPeer[bytes, bytes] = MemoryPeer({"authorization": f"Bearer {token}"})
        async with trio.open_nursery() as nursery:
            nursery.start_soon(peer.converse, PlayService(arena).Play)
            peer.send(pb.PlayRequest(hello=pb.Hello(games=[game.name], capacity=1)).SerializeToString())
            while True:
                content = await peer.receive()
                assert content is not None, peer.status
                message = pb.PlayResponse.FromString(content)
                self.sent.append(content)
                if message.reports:
                    break
                self._look(store, message, peer)
            nursery.cancel_scope.cancel()

    def _look(self, store: MemoryStore, message: pb.PlayResponse, peer: MemoryPeer[bytes, bytes]) -> None:
        self.invitations += message.invitations
        self.starts += message.starts
        for invitation in message.invitations:
            self.readied = len(self.sent)
            number = invitation.invitation_id
            twice = [pb.Ready(invitation_id=number, nonce=nonce) for nonce in (self.nonce, self.nonce[::-1])]
            peer.send(pb.PlayRequest(ready=twice).SerializeToString())
        for decision in message.decisions:
            view: Any = getattr(decision, decision.WhichOneof("view") or "")
            self.hands.setdefault(view.round, bytes(view.hand))
            try:
                store.now(partial(matches.get_replay, match_id=decision.match_id))
            except (NoReplay, UnknownMatch) as error:
                self.replays.append(type(error))
            answer = pb.Answer(match_id=decision.match_id, decision_id=decision.decision_id, action=decision.legal[0])
            # no second nonce is sent
            again = pb.Ready(invitation_id=self.invitations[0].invitation_id, nonce=self.nonce[::-1])
            peer.send(pb.PlayRequest(ready=[again], answers=[answer]).SerializeToString())


async def played(game: Game) -> tuple[Mapping[str, Guest], Header]:
    """Play a match of two bots and a house bot. Return the two bots by name, and the replay's header."""
    store = MemoryStore()
    guests = {name: Guest(name, nonce) for name, nonce in NONCES.items()}
    house = {game.name: (RandomBot(game.name),)}
    settings = config(games=(game,), seats=(3,), house=True, patience=0.0)
    async with open_arena(settings, cast("Store", store), house) as arena:
        with trio.fail_after(1000):
            async with trio.open_nursery() as nursery:
                for name, guest in guests.items():
                    registered = store.now(partial(bots.register, name=name, owner="", at=0))
                    # a bot with an unknown pace first plays house bots
                    arena.players.pace(registered.bot.id).played(trio.current_time(), 0.005)
                    nursery.start_soon(guest.play, arena, store, game, registered.token)
    return guests, read(store.now(partial(matches.get_replay, match_id=1))).header


@pytest.mark.parametrize("game", [SIXTH_SENSE, NULLERN], ids=lambda game: game.name)
async def test_nobody_steers_or_foresees_a_deal(game: Game, autojump_clock: MockClock) -> None:
    guests, header = await played(game)
    key = match_key(header.seed, header.nonces)
    secrets = {"the seed": header.seed, "the match key": key}
    secrets |= {f"the key of round {number}": round_key(key, number) for number in range(3)}
    seats = {bot.name: seat for seat, bot in enumerate(header.bots)}
    assert [header.nonces[seats[name]] for name in NONCES] == list(NONCES.values()), "the first nonce counts"
    assert [header.nonces[seat] for seat, bot in enumerate(header.bots) if bot.house] == [ZERO]
    for name, guest in guests.items():
        (invitation,) = guest.invitations
        (start,) = guest.starts
        assert start.commitment == header.commitment == sha256(header.seed).digest()
        assert invitation.commitment == sha256(start.salt + start.commitment).digest()
        assert (start.invitation_id, list(start.bots)) == (
            invitation.invitation_id,
            [bot.name for bot in header.bots],
        )
        assert start.seat == seats[name]
        assert guest.readied is not None
        before = b"".join(guest.sent[: guest.readied])
        assert invitation.commitment in before, "it was there before the nonce was sent"
        told = {"the commitment": header.commitment, "a name": next(iter(NONCES.keys() - {name})).encode()}
        for what, secret in told.items():
            assert secret not in before, f"{name} was sent {what} before its nonce"
        others = {f"the nonce of {other}": nonce for other, nonce in NONCES.items() if other != name}
        for what, secret in (secrets | others).items():
            assert not any(secret in message for message in guest.sent), f"{name} was sent {what}"
            assert not any(secret.hex().encode() in message for message in guest.sent), f"{name} was sent {what}"
        assert len(guest.replays) > 10
        assert set(guest.replays) == {NoReplay}, "the replay opens the seed, so there is none while the match runs"


@pytest.mark.parametrize("game", [SIXTH_SENSE, NULLERN], ids=lambda game: game.name)
async def test_bot_can_deal_its_own_hands_again_once_the_match_is_over(game: Game, autojump_clock: MockClock) -> None:
    guests, header = await played(game)
    decks = SeededDecks(match_key(header.seed, header.nonces))
    for name, guest in guests.items():
        seat = next(seat for seat, bot in enumerate(header.bots) if bot.name == name)
        blind = 19  # in the blind round of Nullern no seat sees its cards before it plays them
        seen = {number: hand for number, hand in guest.hands.items() if (game, number) != (NULLERN, blind)}
        assert len(seen) >= 6
        for number, hand in seen.items():
            deck = decks(number, len(game.cards), 3 * len(hand))
            assert bytes(sorted(deck[seat * len(hand) : (seat + 1) * len(hand)])) == hand
