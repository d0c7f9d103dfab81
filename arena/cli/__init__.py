"""`arena …`: one file a group of verbs. It parses, wires things together and prints."""

import os

# gRPC's own log repeats what strangers send, line breaks and escapes included. It is read when grpc is imported.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
