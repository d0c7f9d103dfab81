"""The `arena` command, one module for each verb: parses options, calls the store or a server, and prints."""

import os

# gRPC's log contains unescaped data from peers, so switch it off. grpc reads the variable when it is imported.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
