"""Both versions of the standard reflection service, with which tools such as `grpcurl` list services and messages.

The library `grpc_reflection` answers requests, and this module only connects it to a `Stream`. The library implements
only v1alpha. v1 differs only in the package name; messages and bytes are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import grpc
from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc_reflection.v1alpha import reflection, reflection_pb2, reflection_pb2_grpc

from trio_grpc.grpc.call import send_within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from grpc_reflection.v1alpha.reflection_pb2 import ServerReflectionRequest, ServerReflectionResponse

    from trio_grpc.grpc.call import Stream

ALPHA: Final = "grpc.reflection.v1alpha"
FIRST: Final = "grpc.reflection.v1"
SERVICES: Final = (reflection.SERVICE_NAME, f"{FIRST}.ServerReflection")
"""The full names of the service, in both versions."""


class Reflection:
    """The servicer of `grpc.reflection.v1alpha.ServerReflection`, and of v1."""

    def __init__(self, services: Iterable[str]) -> None:
        """Describe the services with these full names."""
        _describe_first_version()
        self._library = reflection.ReflectionServicer(services)
        self._context: Any = None  # The library does not use the argument.

    async def ServerReflectionInfo(self, stream: Stream[ServerReflectionRequest, ServerReflectionResponse]) -> None:
        """Answer requests until the peer half-closes."""
        while (request := await stream.receive()) is not None:
            for response in self._library.ServerReflectionInfo(iter([request]), self._context):
                await send_within(stream, response)


def register(servicer: Reflection, server: Any) -> None:
    """Register both versions of the service with a server. Generated code would register only one."""
    add: Callable[[Reflection, Any], None] = reflection_pb2_grpc.add_ServerReflectionServicer_to_server
    add(servicer, server)
    parse: Callable[[bytes], Any] = reflection_pb2.ServerReflectionRequest.FromString
    serialize: Callable[[Any], bytes] = reflection_pb2.ServerReflectionResponse.SerializeToString
    method = grpc.stream_stream_rpc_method_handler(servicer.ServerReflectionInfo, parse, serialize)
    server.add_registered_method_handlers(SERVICES[1], {"ServerReflectionInfo": method})


def _describe_first_version() -> None:
    """Add v1 to the known descriptors, as a renamed copy of v1alpha, because some clients ask for v1."""
    file = FileDescriptorProto()
    reflection_pb2.DESCRIPTOR.CopyToProto(file)
    file.name, file.package = "grpc/reflection/v1/reflection.proto", FIRST
    for message in file.message_type:
        for field in message.field:
            if field.type_name:  # Setting this field, even to an empty value, would mark it as present.
                field.type_name = field.type_name.replace(f".{ALPHA}.", f".{FIRST}.")
    for service in file.service:
        for method in service.method:
            method.input_type = method.input_type.replace(f".{ALPHA}.", f".{FIRST}.")
            method.output_type = method.output_type.replace(f".{ALPHA}.", f".{FIRST}.")
    descriptor_pool.Default().AddSerializedFile(file.SerializeToString())  # Adding the same file twice has no effect.
