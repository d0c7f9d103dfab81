"""Messages in an `Any`: encoded as protobuf encodes them, and described for readers without the messages' code."""

from __future__ import annotations

import pytest
from arena_client.descriptors import unpacked
from arena_client.v1 import matches_pb2, play_pb2
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool

from arena.api.game_codecs import any_encoder, described, in_any


@pytest.mark.parametrize("size", [0, 1, 127, 128, 5000])
def test_an_any_is_written_as_protobuf_writes_it(size: int) -> None:
    message = play_pb2.Hello(client="x" * size)
    encode = any_encoder(play_pb2.Hello, play_pb2.Hello.SerializeToString)
    packed = in_any(message)
    assert AnyMessage.FromString(encode(message)) == packed
    assert packed.type_url == "type.googleapis.com/arena.v1.Hello"
    read = play_pb2.Hello()
    assert packed.Unpack(read)
    assert read == message


def test_every_file_is_described_once_and_after_those_it_imports() -> None:
    files = FileDescriptorSet.FromString(described(matches_pb2.MatchEvent, play_pb2.Decision)).file
    names = [file.name for file in files]
    assert len({*names}) == len(names)
    assert {"arena/v1/matches.proto", "arena/v1/play.proto", "google/protobuf/timestamp.proto"} <= {*names}
    pool = DescriptorPool()
    for number, file in enumerate(files):
        assert {*file.dependency} <= {*names[:number]}
        pool.AddSerializedFile(file.SerializeToString())
    event = matches_pb2.MatchEvent(round=play_pb2.RoundReport(round=3))
    event.began.started.seconds = 5
    assert unpacked(in_any(event), pool).SerializeToString() == event.SerializeToString()
