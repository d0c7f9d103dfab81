"""The Merkle tree of RFC 6962 (also RFC 9162): hashes, and proofs of inclusion and consistency.

A server could change a result long after the match, and its database would look fine. So it publishes, again and again,
one hash over all results so far: the root of this tree. With a few hashes, anyone who remembers a root can check that a
leaf is under it, or that a later tree only added leaves. Nobody has to download the list or trust the server. Two bots
that compare roots can even detect that they were shown different lists. We chose Certificate Transparency's tree
because it is proven, and other people's verifiers work on it.

A tree over n leaves splits at the largest power of two below n, so its left part is a complete tree that never changes
again. A tree is stored as its *nodes*: `Nodes(level, index)` is the hash of the complete subtree over the leaves from
index · 2**level up to, not including, (index + 1) · 2**level. A new leaf completes the subtree that consists of itself,
and a larger one for each trailing 1 bit of its index. The store adds the hashes of all these. Roots and proofs are
computed on demand from log n stored nodes, whatever the size of the tree. Leaves and nodes are hashed with different
first bytes; otherwise a node could pass for a leaf.

All hashes are SHA-256 and have 32 bytes; leaves are counted from 0, unlike the log's own numbers, which begin at 1.
Nothing here reads or writes anything. The ugly part is the two verifying functions. They follow the RFC's bit tricks
step by step, and we have not found a form that is both shorter and obviously right. The test vectors and the other
clients' verifiers are their proof.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Final, TypeAlias

Nodes: TypeAlias = Callable[[int, int], bytes]
"""A function that returns the hash of a complete subtree, given its level and index."""

EMPTY: Final = sha256().digest()
"""Root of the tree without leaves."""


def leaf_hash(content: bytes) -> bytes:
    """Return the hash of a leaf: SHA-256 of the byte 0 and its content."""
    return sha256(b"\0" + content).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of a node: SHA-256 of the byte 1 and the two hashes below it."""
    return sha256(b"\1" + left + right).digest()


def completed(index: int, leaf: bytes, nodes: Nodes) -> list[bytes]:
    """Return the hashes of the complete subtrees that a new leaf completes, by level; level 0 is the leaf's own hash.

    It calls `nodes` for subtrees of earlier leaves only.
    """
    hashes, level = [leaf], 0
    while index >> level & 1:
        hashes.append(node_hash(nodes(level, (index >> level) - 1), hashes[-1]))
        level += 1
    return hashes


class TreeEdge:
    """The complete subtrees at the right edge of a tree, from the leaves up, which suffice to add leaves in order.

    If a leaf is missing, the hashes match no tree, but this raises no error.
    """

    def __init__(self) -> None:
        self._edge: Final[list[bytes | None]] = []

    def add(self, index: int, content: bytes) -> bytes:
        """Add a leaf; return the concatenated hashes of `completed`."""
        made, edge = sha256(b"\0" + content).digest(), self._edge
        hashes, level = made, 0
        while index >> level & 1 and level < len(edge) and (left := edge[level]) is not None:
            made = sha256(b"\1" + left + made).digest()
            hashes += made
            edge[level] = None
            level += 1
        if level == len(edge):
            edge.append(None)
        edge[level] = made
        return hashes

    def root(self) -> bytes:
        """Return the root of the leaves so far."""
        made: bytes | None = None
        for left in self._edge:
            if left is not None:
                made = left if made is None else node_hash(left, made)
        return EMPTY if made is None else made


def root(size: int, nodes: Nodes) -> bytes:
    """Return the root of the tree over the first `size` leaves (MTH in RFC 6962, 2.1)."""
    return _hash(0, size, nodes) if size else EMPTY


def inclusion_proof(index: int, size: int, nodes: Nodes) -> list[bytes]:
    """Return the proof that a leaf is in the tree of `size` leaves (PATH in RFC 6962, 2.1.1).

    Raises:
        ValueError: the tree has no such leaf.
    """
    if not 0 <= index < size:
        raise ValueError(f"there is no leaf {index} in a tree of {size}")
    proof, start, end = [], 0, size
    while end - start > 1:
        start, end, left, right = _below(index, start, end)
        proof.append(_hash(left, right, nodes))
    return proof[::-1]


def consistency_proof(first: int, second: int, nodes: Nodes) -> list[bytes]:
    """Return the proof that the tree of `first` leaves is a prefix of the tree of `second` (PROOF in RFC 6962, 2.1.2).

    It is empty if `first` is 0 or equals `second`.

    Raises:
        ValueError: `first` is larger than `second`.
    """
    if not 0 <= first <= second:
        raise ValueError(f"a tree of {second} leaves does not begin with one of {first}")
    if first in {0, second}:
        return []
    proof, start, end = [], 0, second
    while end != first:
        start, end, left, right = _below(first - 1, start, end)
        proof.append(_hash(left, right, nodes))
    if start:  # a subtree of both trees that is not the whole of the first
        proof.append(_hash(start, end, nodes))
    return proof[::-1]


def root_of_inclusion(index: int, size: int, leaf: bytes, proof: Sequence[bytes]) -> bytes | None:
    """Return the root that follows from a leaf's hash and its proof (RFC 9162, 2.1.3.2); None for an invalid proof."""
    if not 0 <= index < size:
        return None
    place, last, made = index, size - 1, leaf
    for each in proof:
        if not last:
            return None
        if place & 1 or place == last:
            made = node_hash(each, made)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            made = node_hash(made, each)
        place, last = place >> 1, last >> 1
    return None if last else made


def consistent(first: int, first_root: bytes, second: int, second_root: bytes, proof: Sequence[bytes]) -> bool:
    """Return True if a proof shows that the first tree is a prefix of the second (RFC 9162, 2.1.4.2)."""
    if not 0 <= first <= second:
        return False
    if first in {0, second}:
        return not proof and first_root == (second_root if first else EMPTY)
    rest = list(proof) if first & first - 1 else [first_root, *proof]
    if not rest:
        return False
    place, last = first - 1, second - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    old = new = rest[0]
    for each in rest[1:]:
        if not last:
            return False
        if place & 1 or place == last:
            old, new = node_hash(each, old), node_hash(each, new)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            new = node_hash(new, each)
        place, last = place >> 1, last >> 1
    return not last and (old, new) == (first_root, second_root)


def _hash(start: int, end: int, nodes: Nodes) -> bytes:
    """Return the root over a range of leaves. The first leaf must begin a subtree large enough for all of them."""
    size = end - start
    level = size.bit_length() - 1
    if size == 1 << level:
        return nodes(level, start >> level)
    middle = start + (1 << level)
    return node_hash(nodes(level, start >> level), _hash(middle, end, nodes))


def _below(index: int, start: int, end: int) -> tuple[int, int, int, int]:
    """Return the range of the half of a subtree that has the leaf `index`, and the range of the other half."""
    middle = start + (1 << (end - start - 1).bit_length() - 1)
    return (start, middle, middle, end) if index < middle else (middle, end, start, middle)
