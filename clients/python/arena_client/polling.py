"""The first import of gRPC, set to poll its sockets in the thread that waits for completed operations.

Otherwise other threads poll, and each message must also wake that thread. This is done only on systems where it was
measured. It never overrides the environment and leaves nothing in it, since a server started from here may want another
setting. gRPC reads the setting on import; after an earlier import nothing changes.
"""

from __future__ import annotations

import os
import sys

_SETTING = "GRPC_EXPERIMENTS"

if sys.platform == "linux" and _SETTING not in os.environ:
    os.environ[_SETTING] = "-event_engine_client"
    try:
        import grpc  # noqa: F401 - for what it reads
    finally:
        del os.environ[_SETTING]
