"""The audit of a log, which checks every leaf against the tables, and also the tree, the keys and the head.

The audit compares the current tables with the leaves, and trusts neither.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from sqlalchemy import Connection, select

from arena.log.keys import LogKeys
from arena.log.leaf import LeafError, LeafKind, decode_leaf
from arena.log.tree import TreeEdge
from arena.store import schema
from arena.store.base import leaves as log
from arena.store.base.statements import Statement
from arena.store.log.audit_tables import LogAudit, TablesAudit

AT_ONCE: Final = 1000
"""Number of leaves compared in one step."""
Progress: TypeAlias = Callable[[int, int], None]
"""Progress callback, called with the number of leaves compared so far, and the total number."""
_LOG: Final = schema.log.c
_ALL: Final = Statement(
    select(_LOG.number, _LOG.match_id, _LOG.kind, _LOG.leaf, _LOG.nodes).order_by(_LOG.number)
)  # fmt: skip


def audit(connection: Connection, replays: bool = False, progress: Progress = lambda done, whole: None) -> LogAudit:
    """Audit the log. With `replays`, also compare the text of every stored replay, which takes minutes."""
    made = LogAudit(replays=0 if replays else None)
    head, whole = log.head(connection), log.size(connection)
    tables, tree, keys = TablesAudit(connection, made), TreeEdge(), list[bytes]()
    signed, signed_root, last = 0 if head is None else head.size, None, 0
    leaves = _ALL.run(connection, {})
    while rows := leaves.fetchmany(AT_ONCE):
        tables.load([row[1] for row in rows if row[1] is not None], replays)
        for number, match_id, kind, text, nodes in rows:
            if number != last + 1:
                made.fault(number, f"leaf {last + 1} is missing")
            last, content, leaf = number, text.encode(), None
            if match_id is not None and tables.say(number, match_id, kind, text):
                made.kinds[kind] += 1
            else:
                leaf = _leaf(number, match_id, kind, content, made)
            if leaf is not None and leaf["kind"] == LeafKind.RESTORE.value and leaf["root"] != tree.root().hex():
                made.fault(number, "the head at which it says the log was cut is not that of the leaves before it")
            if tree.add(number - 1, content) != nodes:
                made.fault(number, "the hashes stored with it are not those of its leaf and the leaves before it")
            if number == signed:
                signed_root = tree.root()
            if leaf is not None:
                made.kinds[leaf["kind"]] += 1
                tables.compare(number, leaf)
                if leaf["kind"] == LeafKind.KEY.value:
                    keys.append(content)
        made.leaves = last
        progress(last, whole)
    made.root = tree.root()
    _check_head(head, signed_root, keys, made)
    tables.finish()
    return made


def _leaf(number: int, match_id: int | None, kind: str, content: bytes, made: LogAudit) -> dict[str, Any] | None:
    try:
        leaf = decode_leaf(content)
    except LeafError as error:
        made.fault(number, str(error))
        return None
    if (leaf["number"], leaf.get("match"), leaf["kind"]) != (number, match_id, kind):
        about = f"of match {leaf.get('match')} and the kind {leaf['kind']}"
        made.fault(number, f"it says that it is leaf {leaf['number']}, {about}")
    return leaf


def _check_head(head: Any, root: bytes | None, keys: Sequence[bytes], made: LogAudit) -> None:
    if head is None:
        made.fault(None, "the log has no signed head")
        return
    made.signed = head.size
    if root is None:
        made.fault(None, f"its head is of {head.size} leaves, and there are {made.leaves}: leaves are gone")
    elif root != head.root:
        made.fault(None, f"the root of the first {head.size} leaves is not the one that was signed")
    try:
        if not LogKeys(keys).signed(head):
            made.fault(None, "its head is not signed by its key")
    except LeafError as error:
        made.fault(None, str(error))
