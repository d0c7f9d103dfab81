"""`arena …`: one file a group of verbs. It parses, wires things together and prints."""

import os

# gRPC's own log repeats what strangers send, line breaks and escapes included. It is read when grpc is imported.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
# It shall poll its sockets in the thread that waits for completed operations, not in others that then have to wake it.
# A version that knows no such experiment goes on without.
os.environ.setdefault("GRPC_EXPERIMENTS", "-event_engine_listener")
