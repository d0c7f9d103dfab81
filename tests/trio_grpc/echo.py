"""The echo service of the tests: its message, its server part and its client part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import grpc
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from trio_grpc.grpc.call import Stream
from trio_grpc.grpc.server import Service

NAME: Final = "example.Echo"
GET: Final = f"/{NAME}/Get"
LIST: Final = f"/{NAME}/List"
SAY: Final = f"/{NAME}/Say"

if TYPE_CHECKING:

    class Item(Message):
        """The message of all methods, in both directions. A field without a value is not sent."""

        number: int
        text: str

        def __init__(self, *, number: int = 0, text: str = "") -> None: ...

else:

    def _item() -> type[Message]:
        file = FileDescriptorProto(name="echo.proto", package="example", syntax="proto2")
        item = file.message_type.add(name="Item")
        for number, (name, kind) in enumerate((("number", "UINT64"), ("text", "STRING")), start=1):
            item.field.add(
                name=name, number=number, label="LABEL_OPTIONAL", type=FieldDescriptorProto.Type.Value(f"TYPE_{kind}")
            )
        pool = DescriptorPool()
        pool.Add(file)
        return GetMessageClass(pool.FindMessageTypeByName("example.Item"))

    Item = _item()

EchoStream = Stream[Item, Item]


def _register(servicer: object, server: Any) -> None:
    kinds: dict[str, Any] = {
        "Get": grpc.unary_unary_rpc_method_handler,
        "List": grpc.unary_stream_rpc_method_handler,
        "Say": grpc.stream_stream_rpc_method_handler,
    }
    methods = {
        name: kind(getattr(servicer, name), Item.FromString, Item.SerializeToString)
        for name, kind in kinds.items()
        if hasattr(servicer, name)
    }
    server.add_registered_method_handlers(NAME, methods)


def service(servicer: object) -> Service:
    """Return the echo service with the servicer's methods: some of `Get` (unary), `List` (server stream) and `Say`
    (both stream).
    """
    return Service(_register, servicer)


class Stub:
    """Client stubs for the methods of the echo service."""

    def __init__(self, channel: Any) -> None:
        """Create the stubs on a channel of grpc or of grpc.aio."""
        self.Get: Any = channel.unary_unary(GET, Item.SerializeToString, Item.FromString)
        self.List: Any = channel.unary_stream(LIST, Item.SerializeToString, Item.FromString)
        self.Say: Any = channel.stream_stream(SAY, Item.SerializeToString, Item.FromString)
