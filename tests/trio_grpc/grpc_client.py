"""A client that opens a stream, prints "open", and then stays silent until it is killed.

    grpc_client.py ADDRESS [deaf]

The client reads one answer first. With "deaf" it reads no answer.
"""

import sys
import threading
from collections.abc import Iterator

import grpc

sys.path.insert(0, ".")
from tests.trio_grpc.echo import Item, Stub


def requests() -> Iterator[Item]:
    yield Item(number=1)
    threading.Event().wait()


with grpc.insecure_channel(sys.argv[1]) as channel:
    answers = Stub(channel).Say(requests())
    if "deaf" not in sys.argv:
        next(answers)
    print("open", flush=True)
    threading.Event().wait()
