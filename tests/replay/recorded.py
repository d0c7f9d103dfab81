"""Recorded matches of 6th Sense or any other game. Seeded bots sometimes make mistakes, are late or leave."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from random import Random

from arena.ladder.live import NEW, Rating, RatingChange, update
from arena.match.effects import Ask, Over
from arena.match.inputs import (
    Acted,
    Begun,
    Input,
    Instant,
    Interrupted,
    Left,
    Restored,
    Returned,
    Sent,
    StoodIn,
    TimeUp,
)
from arena.match.match import Match
from arena.match.policy import Policy
from arena.replay.hash_chain import Chain, pack, unpack, without_chain
from arena.replay.header import Entry, Header, OfferOutcome, SeatedBot, SeatOffer
from arena.replay.record import encode
from arena.replay.replay import RecordedRating as RecordedRating
from engine.deal import SeededDecks, commitment, match_key
from engine.game import Game, Option, settle_options
from engine.sixth_sense import SIXTH_SENSE

STARTED = 1_790_000_000_123_456
STEP = 1_000


def header_of(game: Game, seats: int, options: Mapping[str, Option], chance: int) -> Header:
    seed = sha256(b"seed %d" % chance).digest()
    nonces = tuple(sha256(b"nonce %d" % seat).digest()[:16] if seat else bytes(16) for seat in range(seats))
    return Header(
        match_id=100 + chance,
        game=game,
        options=settle_options(game, seats, options),
        bots=tuple(SeatedBot(f"bot-{seat}", house=not seat) for seat in range(seats)),
        seed=seed,
        commitment=commitment(seed),
        nonces=nonces,
        stand_in="house-counter 1",
        policy=Policy(soft_limit=100 * STEP, bank=1000 * STEP, incidents=1000),
        started=STARTED,
        server="0.1.0",
        offers=tuple(
            SeatOffer(seat, f"bot-{seat}", OfferOutcome.ACCEPTED, 1000 + seat, sha256(b"salt %d" % seat).digest())
            for seat in range(1, seats)
        ),
    )


def play(
    seats: int = 4,
    *,
    game: Game = SIXTH_SENSE,
    errs: bool = True,
    stays_away: bool = False,
    chance: int = 1,
    interrupted_after: int | None = None,
    **options: Option,
) -> tuple[Header, list[Entry]]:
    """Play a whole match. A bot that leaves returns at once and never answers, or stays away for a random time."""
    header = header_of(game, seats, options, chance)
    decks = SeededDecks(match_key(header.seed, header.nonces))
    match = Match(game, seats, header.options, decks, header.policy)
    entries: list[Entry] = []
    rng, queue, now = Random(chance), deque[Ask](), 0
    # names are drawn instead of numbers, so another numbering of the actions leads to the same match
    by_name = sorted(range(len(game.actions)), key=lambda action: game.actions[action].name)
    any_answer = (*by_name, *range(len(by_name), 300), -1)  # including numbers that denote no action

    def put(event: Input) -> None:
        effects = match.receive(event)
        entries.append((event, effects))
        queue.extend(effect for effect in effects if isinstance(effect, Ask))

    put(Begun(Instant(0)))
    while not match.over:
        if interrupted_after is not None and len(entries) > interrupted_after:
            put(Interrupted(Instant(now), "the server stops – good night"))
            break
        now += rng.randrange(STEP)
        if not queue:
            assert match.deadline is not None
            now = max(now, match.deadline) + 7
            put(Returned(Instant(now), rng.randrange(seats)))
            continue
        ask = queue.popleft()
        choices = sorted(ask.legal, key=by_name.index)
        if match.substituted(ask.seat):
            put(StoodIn(Instant(now), ask.seat, ask.decision, choices[0]))
            continue
        put(Sent(Instant(now), ask.seat, ask.decision, lag=7919 * ask.decision % 400_000))
        now += rng.randrange(STEP)
        match rng.randrange(30) if errs else -1:
            case 0:
                put(Left(Instant(now), ask.seat))
                if not stays_away:
                    known = len(queue)
                    put(Returned(Instant(now), ask.seat))
                    while len(queue) > known:
                        again = queue.pop()
                        put(Sent(Instant(now), again.seat, again.decision, lag=0))
            case 1:
                pass
            case 2:
                put(Acted(Instant(now), ask.seat, ask.decision, rng.choice(any_answer)))
            case 3:
                put(Acted(Instant(now), ask.seat, rng.randrange(ask.decision), choices[0]))
                queue.append(ask)
            case _:
                put(Acted(Instant(now), ask.seat, ask.decision, rng.choice(choices)))
    return header, entries


def rate(
    before: Sequence[RecordedRating],
    places: Sequence[int],
    bots: Sequence[str],
    counts: Sequence[bool],
    spoilt: Sequence[bool],
    beyond_quota: Collection[tuple[int, int]] = (),
) -> list[RecordedRating]:
    """Compute ratings as the ladder does, for the verification of a replay."""
    ratings = [Rating(rating.value, rating.deviation) for rating in before]
    after = update(ratings, places, bots, counts, spoilt, beyond_quota)
    return [RecordedRating(rating.value, rating.deviation) for rating in after]


def changes(entries: Sequence[Entry]) -> list[RatingChange]:
    """Return the rating changes of bots with slightly different ratings."""
    [over] = [effect for _, effects in entries for effect in effects if isinstance(effect, Over)]
    before = [Rating(NEW.value + 10 * seat, NEW.deviation - seat) for seat in range(len(over.places))]
    after = update(before, over.places, counts=over.counts, spoilt=over.spoilt)
    return [RatingChange(*pair) for pair in zip(before, after, strict=True)]


def rated(
    seats: int = 4,
    *,
    game: Game = SIXTH_SENSE,
    chance: int = 1,
    errs: bool = True,
    stays_away: bool = False,
    **options: Option,
) -> bytes:
    """Return the file of a rated match."""
    header, entries = play(seats, game=game, chance=chance, errs=errs, stays_away=stays_away, **options)
    return encode(header, entries, changes(entries))


def restarted(stand_in: str = "", removed: tuple[int, ...] = ()) -> bytes:
    """Return the file of a rated match whose server died twice. All bots return, one of them just in time."""
    header, entries = play(interrupted_after=60)
    match = Match(header.game, 4, header.options, SeededDecks(match_key(header.seed, header.nonces)), header.policy)
    entries = [(event, match.receive(event)) for event, _ in entries[:-1]]
    now, open_to = match.now, dict[int, Ask]()

    def put(event: Input) -> None:
        effects = match.receive(event)
        entries.append((event, effects))
        open_to.update({effect.seat: effect for effect in effects if isinstance(effect, Ask)})

    for come_back in (3, 4):
        put(Restored(now, stand_in, removed))
        for seat in range(come_back):
            put(Returned(now, seat))
        now = Instant(now + header.policy.restart_hold)
        put(TimeUp(now))
        put(Returned(now, 3))
    while not match.over:
        ask = next(ask for seat, ask in open_to.items() if match.open_decision(seat) == ask.decision)
        put(Acted(now, ask.seat, ask.decision, ask.legal[0]))
    return encode(header, entries, changes(entries))


def long_names(seats: int, game: Game) -> bytes:
    """Return the file of a rated match between bots with the longest allowed names."""
    header, entries = play(seats, game=game)
    bots = tuple(SeatedBot(f"a-bot-with-a-name-of-forty-characters-{seat:02}", house=True) for seat in range(seats))
    return encode(replace(header, bots=bots), entries, changes(entries))


def lines_of(file: bytes) -> list[str]:
    return unpack(file).decode().splitlines()


def objects_of(file: bytes) -> list[dict[str, object]]:
    """Return the contents of the lines without their chain fields."""
    return [json.loads(without_chain(line) or "") for line in lines_of(file)]


def forged(objects: Sequence[object]) -> bytes:
    """Return a file with these contents and a correct chain."""
    texts = [json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in objects]
    return pack(map(Chain().line, texts))
