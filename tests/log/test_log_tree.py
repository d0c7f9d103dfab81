"""The log's tree: test vectors of Certificate Transparency's own implementations, and every small tree."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from random import Random

import pytest

from arena.log.tree import (
    EMPTY,
    Nodes,
    completed,
    consistency_proof,
    consistent,
    inclusion_proof,
    leaf_hash,
    node_hash,
    root,
    root_of_inclusion,
)

# The eight leaves, roots and proofs of google/certificate-transparency's merkle_tree_test.cc (and of its successors).
LEAVES = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
INCLUSIONS = {
    (0, 1): [],
    (0, 8): [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
    (5, 8): [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 3): ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"],
    (1, 5): [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
}
CONSISTENCIES = {
    (1, 1): [],
    (1, 8): [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
    (6, 8): [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 5): [
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
}


def nodes_of(leaves: Sequence[bytes]) -> Nodes:
    """Return the complete subtrees over the given leaves, each created when its last leaf is added."""
    stored: dict[tuple[int, int], bytes] = {}
    for index, content in enumerate(leaves):
        for level, each in enumerate(completed(index, leaf_hash(content), lambda *at: stored[at])):
            stored[level, index >> level] = each
    return lambda level, index: stored[level, index]


def plain_root(leaves: Sequence[bytes]) -> bytes:
    """Compute the root directly from the definition in RFC 6962, section 2.1."""
    if not leaves:
        return hashlib.sha256().digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return hashlib.sha256(b"\x01" + plain_root(leaves[:split]) + plain_root(leaves[split:])).digest()


def hexed(proof: Sequence[bytes]) -> list[str]:
    return [each.hex() for each in proof]


def test_roots_are_those_of_certificate_transparency() -> None:
    nodes = nodes_of(LEAVES)
    assert [root(size, nodes).hex() for size in range(9)] == ROOTS
    assert EMPTY.hex() == ROOTS[0]


@pytest.mark.parametrize(("index", "size"), INCLUSIONS)
def test_inclusion_proofs_are_those_of_certificate_transparency(index: int, size: int) -> None:
    proof = inclusion_proof(index, size, nodes_of(LEAVES))
    assert hexed(proof) == INCLUSIONS[index, size]
    made = root_of_inclusion(index, size, leaf_hash(LEAVES[index]), proof)
    assert made is not None
    assert made.hex() == ROOTS[size]


@pytest.mark.parametrize(("first", "second"), CONSISTENCIES)
def test_consistency_proofs_are_those_of_certificate_transparency(first: int, second: int) -> None:
    proof = consistency_proof(first, second, nodes_of(LEAVES))
    assert hexed(proof) == CONSISTENCIES[first, second]
    roots = [bytes.fromhex(text) for text in ROOTS]
    assert consistent(first, roots[first], second, roots[second], proof)


def test_every_small_tree_proves_what_it_holds() -> None:
    leaves = [b"%d" % number for number in range(40)]
    nodes = nodes_of(leaves)
    roots = [root(size, nodes) for size in range(len(leaves) + 1)]
    assert roots == [plain_root(leaves[:size]) for size in range(len(leaves) + 1)]
    for size in range(1, len(leaves) + 1):
        for index in range(size):
            proof = inclusion_proof(index, size, nodes)
            assert root_of_inclusion(index, size, leaf_hash(leaves[index]), proof) == roots[size]
        for first in range(size + 1):
            proof = consistency_proof(first, size, nodes)
            assert consistent(first, roots[first], size, roots[size], proof)


def test_a_proof_that_was_touched_or_is_of_another_tree_proves_nothing() -> None:
    leaves = [b"%d" % number for number in range(23)]
    nodes = nodes_of(leaves)
    roots = [root(size, nodes) for size in range(len(leaves) + 1)]
    chance = Random(1)
    for _ in range(2000):
        size = chance.randrange(1, len(leaves) + 1)
        index, first = chance.randrange(size), chance.randrange(1, size + 1)
        proof = _touched(inclusion_proof(index, size, nodes), chance)
        assert root_of_inclusion(index, size, leaf_hash(leaves[index]), proof) != roots[size]
        proof = _touched(consistency_proof(first, size, nodes), chance)
        assert not consistent(first, roots[first], size, roots[size], proof)
        assert not consistent(first, leaf_hash(b"else"), size, roots[size], consistency_proof(first, size, nodes))
        other = chance.randrange(len(leaves) + 1)
        if other != first:
            assert not consistent(other, roots[first], size, roots[size], consistency_proof(first, size, nodes))


def _touched(proof: list[bytes], chance: Random) -> list[bytes]:
    """Return changed proofs: one flipped bit, one added hash, or one removed hash."""
    kind = chance.randrange(3)
    if kind == 0 or not proof:
        proof.insert(chance.randrange(len(proof) + 1), chance.randbytes(32))
    elif kind == 1:
        del proof[chance.randrange(len(proof))]
    else:
        place = chance.randrange(len(proof))
        proof[place] = bytes([proof[place][0] ^ 1]) + proof[place][1:]
    return proof


def test_a_leaf_is_no_node_and_what_is_not_there_has_no_proof() -> None:
    nodes = nodes_of(LEAVES)
    one, two = leaf_hash(LEAVES[0]), leaf_hash(LEAVES[1])
    assert leaf_hash(one + two) != node_hash(one, two)
    for index, size in ((1, 1), (-1, 3), (0, 0)):
        with pytest.raises(ValueError, match="there is no leaf"):
            inclusion_proof(index, size, nodes)
        assert root_of_inclusion(index, size, one, []) is None
    with pytest.raises(ValueError, match="does not begin with one of 4"):
        consistency_proof(4, 3, nodes)
    assert not consistent(4, one, 3, one, [])
    assert not consistent(2, one, 3, one, [])
