"""Messages in a `google.protobuf.Any`, and the descriptors with which a reader without their code can read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.message import Message

from arena.protobuf.fields import FieldPrefix

_VALUE = FieldPrefix(AnyMessage, "value")


def in_any(message: Message) -> AnyMessage:
    """Return an `Any` that holds a message."""
    packed = AnyMessage()
    packed.Pack(message)
    return packed


def any_encoder(kind: type[Message], encode: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    """Return a function that serializes an `Any`; `encode` serializes the message of this type that it holds."""
    begin = in_any(kind()).SerializeToString()

    def encoded(value: Any) -> bytes:
        content = encode(value)
        return begin + _VALUE.of(len(content)) + content

    return encoded


def described(*kinds: type[Message]) -> bytes:
    """Return a serialized `FileDescriptorSet` of all that these messages consist of, each file after its imports."""
    files: dict[str, Any] = {}

    def add(file: Any) -> None:
        for imported in file.dependencies:
            add(imported)
        files.setdefault(file.name, file)

    for kind in kinds:
        add(kind.DESCRIPTOR.file)
    found = FileDescriptorSet()
    for file in files.values():
        file.CopyToProto(found.file.add())
    return found.SerializeToString()
