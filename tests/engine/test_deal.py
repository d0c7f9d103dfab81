"""The portable shuffle: its published test vectors, checked by a second implementation written from the text alone."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis.strategies import DataObject, binary, data, integers

import engine.deal
from engine.deal import SeededDecks, commitment, match_key, opens, roll_key, round_key, shuffled

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(engine.deal.__file__).parent / "deal_vectors.json").read_text(encoding="utf-8")
)["vectors"]


def plain_shuffle(key: bytes, size: int) -> tuple[list[int], int]:
    """Return the whole shuffled deck and the number of rejected words."""
    stream = b"".join(
        hashlib.sha256(key + bytes([0, 0, counter // 256, counter % 256])).digest() for counter in range(99)
    )
    deck = list(range(size))
    used = thrown = 0
    for place in range(size - 1):
        choices = size - place
        largest_multiple = 65536 // choices * choices
        while True:
            word = 256 * stream[used] + stream[used + 1]
            used += 2
            if word < largest_multiple:
                break
            thrown += 1
        other = place + word % choices
        deck[place], deck[other] = deck[other], deck[place]
    return deck, thrown


def plain_roll(key: bytes, faces: int) -> tuple[int, int]:
    """Return the face of a die and the number of rejected words."""
    thrown = 0
    while True:
        block = hashlib.sha256(key + (thrown // 16).to_bytes(4, "big")).digest()
        word = 256 * block[thrown % 16 * 2] + block[thrown % 16 * 2 + 1]
        if word < 65536 // faces * faces:
            return word % faces, thrown
        thrown += 1


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: str(vector["what"]))
def test_the_published_vectors_hold(vector: dict[str, Any]) -> None:
    seed = bytes.fromhex(vector["seed"])
    nonces = [bytes.fromhex(nonce) for nonce in vector["nonces"]]
    key = hashlib.sha256(seed + b"".join(nonces)).digest()
    assert commitment(seed).hex() == hashlib.sha256(seed).hexdigest() == vector["commitment"]
    assert match_key(seed, nonces).hex() == key.hex() == vector["match_key"]
    decks = SeededDecks(key)
    for expected in vector["decks"]:
        number, size, deck = expected["round"], expected["size"], expected["deck"]
        this_round = hashlib.sha256(key + bytes([0, 0, 0, number])).digest()
        assert round_key(key, number).hex() == this_round.hex() == expected["round_key"]
        plain, thrown = plain_shuffle(this_round, size)
        assert plain == deck
        assert thrown == expected["words_thrown_away"]
        assert list(decks(number, size, size)) == deck
    for expected in vector["rolls"]:
        number, roll, faces = expected["round"], expected["number"], expected["faces"]
        this_roll = hashlib.sha256(key + bytes([0, 0, 0, number, 0, 0, roll // 256, roll % 256])).digest()
        assert roll_key(key, number, roll).hex() == this_roll.hex() == expected["roll_key"]
        assert plain_roll(this_roll, faces) == (expected["face"], expected["words_thrown_away"])
        assert decks.roll(number, roll, faces) == expected["face"]


@pytest.mark.parametrize("drawn", ["decks", "rolls"])
def test_a_vector_covers_a_word_thrown_away(drawn: str) -> None:
    assert any(each["words_thrown_away"] for vector in VECTORS for each in vector[drawn])


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 57, 69, 70])
def test_a_prefix_is_the_beginning_of_the_whole_deck(count: int) -> None:
    key = bytes(range(32))
    assert list(shuffled(key, 70, count)) == list(shuffled(key, 70, 70))[:count]


@settings(max_examples=60)
@given(key=binary(min_size=32, max_size=32), size=integers(1, 80), data=data())
def test_any_prefix_agrees_with_the_plain_shuffle(key: bytes, size: int, data: DataObject) -> None:
    count = data.draw(integers(0, size))
    assert list(shuffled(key, size, count)) == plain_shuffle(key, size)[0][:count]


def test_every_card_is_as_likely_in_every_place() -> None:
    decks = SeededDecks(bytes(32))
    first = Counter(decks(number, 70, 3)[2] for number in range(14_000))
    assert sorted(first) == list(range(70))
    chi_squared = sum((first[card] - 200) ** 2 / 200 for card in range(70))
    assert chi_squared < 111, "more than 69 degrees of freedom allow once in a thousand"


def test_every_face_is_as_likely_and_no_roll_tells_another() -> None:
    decks = SeededDecks(bytes(32))
    pairs = Counter((decks.roll(0, roll, 6), decks.roll(0, roll + 1, 6)) for roll in range(0, 14_400, 2))
    assert len(pairs) == 36
    chi_squared = sum((count - 200) ** 2 / 200 for count in pairs.values())
    assert chi_squared < 67, "more than 35 degrees of freedom allow once in a thousand"


def test_a_roll_is_the_same_at_every_call_and_leaves_the_deck_alone() -> None:
    decks, other = SeededDecks(bytes(32)), SeededDecks(bytes(32))
    rolled = [other.roll(3, roll, 20) for roll in (5, 0, 5)]
    assert rolled[0] == rolled[2] == decks.roll(3, 5, 20)
    assert list(other(3, 70, 70)) == list(decks(3, 70, 70))


def test_only_the_committed_seed_opens_the_commitment() -> None:
    seed = bytes(range(32))
    assert opens(seed, commitment(seed))
    assert not opens(bytes(32), commitment(seed))
    assert not opens(seed[:31], commitment(seed))


def test_keys_of_a_wrong_length_are_refused() -> None:
    with pytest.raises(ValueError, match="a seed has 32 bytes, not 31"):
        commitment(bytes(31))
    with pytest.raises(ValueError, match="a nonce has 16 bytes, not 15"):
        match_key(bytes(32), [bytes(16), bytes(15)])
    with pytest.raises(ValueError, match="a match key has 32 bytes, not 0"):
        SeededDecks(b"")


def test_decks_say_nothing_of_their_key() -> None:
    assert repr(SeededDecks(bytes(32))) == "SeededDecks(secret)"
