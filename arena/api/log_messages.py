"""Protobuf messages of the log, made from the values of `arena.log`."""

from __future__ import annotations

from arena_client.v1 import log_pb2

from arena.log.head import LogEntry, LogHead, LogState


def encode_entry(entry: LogEntry) -> log_pb2.LogEntry:
    """Encode an entry."""
    return log_pb2.LogEntry(number=entry.number, leaf=entry.leaf, head=encode_head(entry.head), proof=entry.proof)


def encode_head(head: LogHead) -> log_pb2.LogHead:
    """Encode a head."""
    return log_pb2.LogHead(size=head.size, root=head.root, signature=head.signature)


def encode_state(state: LogState) -> log_pb2.LogState:
    """Encode the state of a log."""
    return log_pb2.LogState(
        keys=state.keys, head=encode_head(state.head), restores=[encode_entry(each) for each in state.restores]
    )
