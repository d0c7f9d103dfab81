"""Decoding of messages of games that have no field in the protocol, with the descriptors in their catalogues."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from arena_client.errors import ProtocolMismatchError
from arena_client.v1.game_pb2 import GameCatalog

MOST_POOLS = 16
"""Number of cached pools, so that a bot gets messages of the same classes after reconnecting."""


def pool_of(games: Iterable[GameCatalog]) -> DescriptorPool:
    """Return a pool of exactly the messages that the given catalogues describe.

    Raises `ProtocolMismatchError` if the catalogues contradict each other or themselves.
    """
    return _pool(tuple(dict.fromkeys(game.descriptors for game in games if game.descriptors)))


@lru_cache(maxsize=MOST_POOLS)
def _pool(descriptors: tuple[bytes, ...]) -> DescriptorPool:
    pool = DescriptorPool()
    try:
        for described in descriptors:
            for file in FileDescriptorSet.FromString(described).file:
                pool.AddSerializedFile(file.SerializeToString())
    except (DecodeError, TypeError) as error:
        raise ProtocolMismatchError(f"the server describes a game's messages wrongly: {error}") from None
    return pool


def unpacked(packed: AnyMessage, pool: DescriptorPool) -> Message:
    """Return the message that is packed in an `Any`. Raises `ProtocolMismatchError` if it cannot be decoded."""
    name = packed.TypeName()
    try:
        return GetMessageClass(pool.FindMessageTypeByName(name)).FromString(packed.value)
    except (KeyError, DecodeError) as error:
        raise ProtocolMismatchError(f"a message {name or 'without a type'} cannot be read: {error}") from None
