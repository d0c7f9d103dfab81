"""A bot that opens a stream, prints "playing", and then stays silent until it is killed.

    grpc_client.py ADDRESS [deaf]

It has read one answer by then; with "deaf" it reads none at all.
"""

import sys
import threading
from collections.abc import Iterator

import grpc

sys.path.insert(0, ".")
from arena_client.v1 import play_pb2 as pb
from arena_client.v1 import play_pb2_grpc as play


def requests() -> Iterator[pb.PlayRequest]:
    yield pb.PlayRequest(heartbeat=1)
    threading.Event().wait()


with grpc.insecure_channel(sys.argv[1]) as channel:
    answers = play.PlayServiceStub(channel).Play(requests())
    if "deaf" not in sys.argv:
        next(answers)
    print("playing", flush=True)
    threading.Event().wait()
