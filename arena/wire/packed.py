"""The messages of the protocol with lists of small numbers as strings of bytes, for the server's own quick writing.

A packed list of numbers below 128 and a string of the same bytes are the same on the wire. Filling such a list costs
time for every number, a string costs one copy: a view takes a quarter of the time. What is written here is read as the
public message; whoever uses it answers for its numbers being small.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FieldDescriptorProto

from arena.v1 import play_pb2


def _pool(top: FileDescriptor) -> descriptor_pool.DescriptorPool:
    """A file and what it imports, in which every list of uint32 in a game's view is a string."""
    pool = descriptor_pool.DescriptorPool()
    fields = play_pb2.Decision.DESCRIPTOR.oneofs_by_name["view"].fields
    views = {field.message_type.full_name for field in fields if field.message_type is not None}

    def add(file: FileDescriptor) -> None:
        for needed in file.dependencies:
            add(needed)
        proto = descriptor_pb2.FileDescriptorProto()
        file.CopyToProto(proto)
        for message in proto.message_type:
            if f"{proto.package}.{message.name}" in views:
                for field in message.field:
                    if (
                        field.label == FieldDescriptorProto.LABEL_REPEATED
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
