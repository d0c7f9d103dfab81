"""The log in the database: leaves, signed heads and proofs.

A leaf is an entry of the log. The leaves form a Merkle tree, and a head is the tree's signed root. A leaf is added in
the transaction of the event that it records. A head is signed at the end of that transaction.

A row contains a leaf and the hashes of the subtrees that this leaf completes. All other tree nodes can be computed
from these hashes. So adding a leaf, computing a root and creating a proof each read some twenty rows, regardless of the
log's length. Signing is not part of this module.

Signing and proofs read the newest rows again and again. So a connection caches the hashes of the rows that it used
last. Committed rows never change, and a rollback clears the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from sqlalchemy import Connection, bindparam, func, insert, literal_column, select, update

from arena.log.head import LogEntry, LogHead, LogState
from arena.log.leaf import LeafKind, encode_leaf
from arena.log.tree import completed, consistency_proof, inclusion_proof, leaf_hash, root
from arena.store import schema
from arena.store.base.statements import Statement, cache

Sign: TypeAlias = Callable[[int, bytes], bytes]
"""A function that signs a head, given the number of leaves and the root."""

HASH: Final = 32
"""Number of bytes in a hash."""
_KEPT: Final = 1024
"""Maximum number of rows whose hashes a connection caches."""
_AT_ONCE: Final = 500
"""Number of matches read by one query."""
_NONE: Final[dict[int, bytes]] = {}
_LOG: Final = schema.log.c
_HEAD: Final = schema.log_head.c
_SEATS: Final = schema.match_seats.c
_ADD: Final = Statement(insert(schema.log), "number", "match_id", "kind", "leaf", "nodes")
_SIZE: Final = Statement(select(func.max(_LOG.number)))
_NEWER: Final = Statement(
    select(_LOG.number, _LOG.nodes)
    .where(_LOG.number >= bindparam("known"))
    .where(_LOG.number > select(func.max(_LOG.number)).scalar_subquery() - literal_column("64"))
    .order_by(_LOG.number)
)
"""Leaves from number `known` on, at most the newest 64. The hashes of older ones are read when they are needed."""
_NODES: Final = Statement(select(_LOG.nodes).where(_LOG.number == bindparam("of_number")))
_LEAF: Final = Statement(select(_LOG.leaf).where(_LOG.number == bindparam("of_number")))
_OF_MATCH: Final = Statement(select(func.min(_LOG.number)).where(_LOG.match_id == bindparam("of_match")))
_NEWEST_HEAD: Final = Statement(select(_HEAD.size, _HEAD.root, _HEAD.signature))
_FIRST_HEAD: Final = Statement(insert(schema.log_head), "only", "size", "root", "signature")
_NEXT_HEAD: Final = Statement(update(schema.log_head), "size", "root", "signature")
_SEATED: Final = Statement(
    select(_SEATS.bot_id, schema.bots.c.name, schema.versions.c.version)
    .select_from(schema.match_seats.join(schema.bots).join(schema.versions, schema.versions.c.id == _SEATS.node))
    .where(_SEATS.match_id == bindparam("of_match"))
    .order_by(_SEATS.seat)
)


def append(connection: Connection, kind: LeafKind, at: int, **fields: Any) -> int:
    """Add a leaf to the log and return its number.

    `fields`: the fields of this kind of leaf. `at`: in microseconds since 1970.
    """
    number = _size(connection) + 1
    leaf = encode_leaf(number, kind, at, **fields)
    store_leaf(connection, number, kind, leaf, fields.get("match"))
    return int(number)


def store_leaf(connection: Connection, number: int, kind: LeafKind, leaf: bytes, match_id: int | None = None) -> None:
    """Add the next leaf, given as bytes."""
    hashes = completed(number - 1, leaf_hash(leaf), partial(node, connection))
    nodes = b"".join(hashes)
    row = {"number": number, "match_id": match_id, "kind": kind.value, "leaf": leaf.decode(), "nodes": nodes}
    _ADD.write(connection, row)
    _keep(connection, number, nodes)
    cache(connection)[_SIZE] = _transaction(connection), number


def append_result(
    connection: Connection,
    kind: LeafKind,
    at: int,
    match_id: int,
    ladder: Mapping[str, str],
    seats: Mapping[str, list[Any]],
    places: Sequence[int],
    counts: Sequence[bool],
    points: Sequence[int],
    replay: bytes | None,
) -> int:
    """Add the result of a match, given by seat, and return the leaf's number.

    `ladder`: a value of `ladder_fields`. `seats`: a value of `seated`. `replay`: the digest of the replay's text.
    """
    result = {"places": [*places], "counts": [*map(bool, counts)], "points": [*points]}
    digest = None if replay is None else replay.hex()
    return append(connection, kind, at, match=match_id, **ladder, **seats, **result, replay=digest)


def ladder_fields(game: str, ladder_id: str) -> dict[str, str]:
    """Return the leaf fields that name a match's game and ladder. A ladder id equal to the game's name is omitted."""
    return {"game": game} if ladder_id == game else {"game": game, "ladder": ladder_id}


def seated(connection: Connection, match_id: int) -> dict[str, list[Any]]:
    """Return a match's bots, current names and versions by seat, under the field names of a leaf."""
    return by_field(_SEATED.run(connection, {"of_match": match_id}).fetchall())


def by_field(rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """Group the rows (bot, name, version) of all seats by the field names of a leaf."""
    return {field: [row[place] for row in rows] for place, field in enumerate(("bots", "names", "versions"))}


def size(connection: Connection) -> int:
    """Return the number of leaves."""
    (number,) = _SIZE.run(connection, {}).fetchone() or (None,)
    return int(number or 0)


def _size(connection: Connection) -> int:
    """Return the number of leaves. The first call in a transaction reads it, and caches the hashes of new leaves."""
    transaction, number = cache(connection).get(_SIZE, (None, 0))
    if transaction is not None and transaction is _transaction(connection):
        return int(number)
    newer = _NEWER.run(connection, {"known": number}).fetchall()
    for each, nodes in newer:
        _keep(connection, each, bytes(nodes))
    return int(newer[-1][0]) if newer else 0


def _transaction(connection: Connection) -> object:
    return connection.get_nested_transaction() or connection.get_transaction()


def node(connection: Connection, level: int, index: int) -> bytes:
    """Return the hash of a complete subtree, numbered as in `arena.log.tree`."""
    number = (index + 1) << level
    nodes: bytes | None = cache(connection).get(_NODES, _NONE).get(number)
    if nodes is None:
        row = _NODES.run(connection, {"of_number": number}).fetchone()
        if row is None:
            raise ValueError(f"the log has no leaf {number}")
        nodes = bytes(row[0])
        _keep(connection, number, nodes)
    return nodes[HASH * level : HASH * (level + 1)]


def _keep(connection: Connection, number: int, nodes: bytes) -> None:
    kept: dict[int, bytes] = cache(connection).setdefault(_NODES, {})
    if len(kept) >= _KEPT:
        kept.clear()  # Later calls read some twenty of these hashes again.
    kept[number] = nodes


def root_of(connection: Connection, leaves: int) -> bytes:
    """Return the root of the tree over the first `leaves` leaves."""
    return root(leaves, partial(node, connection))


def seal_added(connection: Connection, sign: Sign) -> None:
    """Sign and store the head of the log if this transaction has added leaves.

    On a connection that uses this function, each transaction that adds leaves must end with it.
    """
    transaction, leaves = cache(connection).get(_SIZE, (None, 0))
    if transaction is None or transaction is not _transaction(connection):
        return
    _sign(connection, leaves, sign)


def seal(connection: Connection, sign: Sign) -> None:
    """Sign and store the head of all leaves, unless it is already stored or the log is empty."""
    leaves, before = size(connection), head(connection)
    if leaves != (0 if before is None else before.size):
        _sign(connection, leaves, sign)


def _sign(connection: Connection, leaves: int, sign: Sign) -> None:
    made = root_of(connection, leaves)
    row = {"size": leaves, "root": made, "signature": sign(leaves, made)}
    if _NEXT_HEAD in cache(connection):  # No head is ever deleted.
        _NEXT_HEAD.write(connection, row)
    elif not _NEXT_HEAD.run(connection, row).rowcount:
        _FIRST_HEAD.run(connection, row | {"only": 1})
    cache(connection)[_NEXT_HEAD] = True


def head(connection: Connection) -> LogHead | None:
    """Return the newest signed head, or None before the first head."""
    row = _NEWEST_HEAD.run(connection, {}).fetchone()
    return None if row is None else LogHead(*row)


def entry(connection: Connection, number: int, under: LogHead) -> LogEntry:
    """Return a leaf with the proof that the head `under` includes the leaf.

    Raises: ValueError: The head does not include the leaf.
    """
    proof = inclusion_proof(number - 1, under.size, partial(node, connection))
    return LogEntry(number, leaf(connection, number), under, tuple(proof))


def leaf(connection: Connection, number: int) -> bytes:
    """Return the canonical bytes of a leaf in the log."""
    (text,) = _LEAF.run(connection, {"of_number": number}).fetchone() or ("",)
    return str(text).encode()


def outcome(connection: Connection, match_id: int) -> LogEntry | None:
    """Return the leaf with which a match ended, with its proof; None if the newest head does not include it."""
    (number,) = _OF_MATCH.run(connection, {"of_match": match_id}).fetchone() or (None,)
    under = head(connection)
    return None if number is None or under is None or number > under.size else entry(connection, number, under)


def entries(connection: Connection, match_id: int) -> tuple[LogEntry, ...]:
    """Return the log's entries about a match under the newest head: the result, then an annulment if there is one."""
    found = connection.scalars(select(_LOG.number).where(_LOG.match_id == match_id).order_by(_LOG.number))
    return _under_newest(connection, found)


def state(connection: Connection) -> LogState | None:
    """Return the current state of the log, or None before its first head."""
    under = head(connection)
    if under is None:
        return None
    keys = tuple(leaf for number, leaf in about_no_match(connection, LeafKind.KEY) if number <= under.size)
    return LogState(keys, under, restores(connection))


def restores(connection: Connection) -> tuple[LogEntry, ...]:
    """Return the leaves of restorations from backups under the newest head, in order."""
    return _under_newest(connection, [number for number, _ in about_no_match(connection, LeafKind.RESTORE)])


def key_leaves(connection: Connection) -> tuple[bytes, ...]:
    """Return the leaves that name the log's keys, in order; empty before the first leaf."""
    return tuple(leaf for _, leaf in about_no_match(connection, LeafKind.KEY))


def consistency(connection: Connection, first: int, second: int) -> tuple[bytes, ...]:
    """Return the proof that the log of size `first` is the beginning of the log of size `second`.

    Raises: ValueError.
    """
    if second > size(connection):
        raise ValueError(f"the log has {size(connection)} leaves, not {second}")
    return tuple(consistency_proof(first, second, partial(node, connection)))


def numbers_about(connection: Connection, match_ids: Sequence[int]) -> list[int]:
    """Return the numbers of the leaves about some matches."""
    found: list[int] = []
    for at in range(0, len(match_ids), _AT_ONCE):
        these = match_ids[at : at + _AT_ONCE]
        found += connection.scalars(select(_LOG.number).where(_LOG.match_id.in_(these)))
    return found


def _under_newest(connection: Connection, numbers: Iterable[int]) -> tuple[LogEntry, ...]:
    under = head(connection)
    return () if under is None else tuple(entry(connection, each, under) for each in numbers if each <= under.size)


def about_no_match(connection: Connection, kind: LeafKind) -> list[tuple[int, bytes]]:
    """Return the leaves of a kind that concern no match, with their numbers, in order."""
    # The condition lets the query use an index. It runs for every welcome, and many other leaves, such as those of
    # prunings, have no match either.
    these = (_LOG.match_id.is_(None)) & (_LOG.kind == kind.value)
    rows = connection.execute(select(_LOG.number, _LOG.leaf).where(these).order_by(_LOG.number))
    return [(row.number, row.leaf.encode()) for row in rows]
