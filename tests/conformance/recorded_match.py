"""A whole match at any table between seeded bots that make mistakes, are late or leave for a moment; and its replay
file.
"""

from __future__ import annotations

from collections import deque
from hashlib import sha256
from random import Random
from typing import Final

from arena.match.effects import Ask
from arena.match.inputs import Acted, Begun, Input, Instant, Left, Returned, Sent
from arena.match.match import Match
from arena.match.policy import Policy
from arena.replay.header import Entry, Header, OfferOutcome, SeatedBot, SeatOffer
from arena.replay.record import encode
from engine.deal import SeededDecks, commitment, match_key
from tests.conformance.table import Table

POLICY: Final = Policy(soft_limit=1000, bank=20_000, incidents=1000)


def recorded(table: Table, chance: int) -> bytes:
    """Return the replay file of a match that was played to its end."""
    seed = sha256(b"seed %d" % chance).digest()
    header = Header(
        match_id=chance,
        game=table.game,
        options=table.options,
        bots=tuple(SeatedBot(f"bot-{seat}", house=not seat) for seat in range(table.seats)),
        seed=seed,
        commitment=commitment(seed),
        nonces=tuple(sha256(b"nonce %d" % seat).digest()[:16] for seat in range(table.seats)),
        stand_in="house-random 1",
        policy=POLICY,
        started=1_790_000_000_123_456,
        server="1.2.3",
        offers=tuple(
            SeatOffer(seat, f"bot-{seat}", OfferOutcome.ACCEPTED, 1000 + seat, sha256(b"salt %d" % seat).digest())
            for seat in range(1, table.seats)
        ),
    )
    match = Match(table.game, table.seats, table.options, SeededDecks(match_key(seed, header.nonces)), POLICY)
    entries: list[Entry] = []
    rng, queue, now = Random(f"{table} {chance}"), deque[Ask](), 0

    def put(event: Input) -> None:
        effects = match.receive(event)
        entries.append((event, effects))
        queue.extend(effect for effect in effects if isinstance(effect, Ask))

    put(Begun(Instant(0)))
    while not match.over:
        now += rng.randrange(200)
        if not queue:  # every open decision is due before any bot is silent
            assert match.deadline is not None
            now = max(now, match.deadline)
            put(Returned(Instant(now), rng.randrange(table.seats)))
            continue
        ask = queue.popleft()
        put(Sent(Instant(now), ask.seat, ask.decision, lag=rng.randrange(300)))
        match rng.randrange(80):
            case 0:
                put(Left(Instant(now), ask.seat))
                put(Returned(Instant(now), ask.seat))
            case 1:
                pass  # this bot never answers
            case 2:
                put(Acted(Instant(now), ask.seat, ask.decision, rng.randrange(-1, 300)))
            case _:
                put(Acted(Instant(now), ask.seat, ask.decision, rng.choice(ask.legal)))
    return encode(header, entries)
