"""The protocol's messages in forms that are the same on the wire and quicker to fill, for the server's own writing.

A packed list of numbers below 128 and a string of the same bytes are the same on the wire, and so are a message and
the string it is serialized to. A list costs time for every number and a message is copied into the one that holds it; a
string costs one copy. What is written here is read as the public message; whoever uses it answers for its numbers
being small.
"""

from __future__ import annotations

from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FieldDescriptorProto

from arena.v1 import play_pb2

SETTLED: Final = 4096
"""Views whose settled part is kept serialized: two or three for every seat that is being played."""


def _pool(top: FileDescriptor) -> descriptor_pool.DescriptorPool:
    """A file and what it imports, in which decisions, views and every list of uint32 in a view are strings."""
    pool = descriptor_pool.DescriptorPool()
    fields = play_pb2.Decision.DESCRIPTOR.oneofs_by_name["view"].fields
    views = {field.message_type.full_name for field in fields if field.message_type is not None}
    serialized = {f".{name}" for name in (play_pb2.Decision.DESCRIPTOR.full_name, *views)}

    def add(file: FileDescriptor) -> None:
        for needed in file.dependencies:
            add(needed)
        proto = descriptor_pb2.FileDescriptorProto()
        file.CopyToProto(proto)
        for message in proto.message_type:
            for field in message.field:
                if field.type_name in serialized:
                    field.type = FieldDescriptorProto.TYPE_BYTES
                    field.ClearField("type_name")
                elif (
                    f"{proto.package}.{message.name}" in views
                    and field.label == FieldDescriptorProto.LABEL_REPEATED
                    and field.type == FieldDescriptorProto.TYPE_UINT32
                ):
                    field.label = FieldDescriptorProto.LABEL_OPTIONAL
                    field.type = FieldDescriptorProto.TYPE_BYTES
        pool.Add(proto)

    add(top)
    return pool


_POOL = _pool(play_pb2.DESCRIPTOR)


def packed(name: str) -> Any:
    """The class of a message of the protocol, such as "PlayResponse", in this form."""
    return message_factory.GetMessageClass(_POOL.FindMessageTypeByName(f"{play_pb2.DESCRIPTOR.package}.{name}"))
