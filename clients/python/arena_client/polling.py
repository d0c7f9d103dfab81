"""The first import of gRPC, configured to poll its sockets in the thread that waits for completed operations.

Otherwise other threads poll, and each message must wake the waiting thread, too. The setting is made only on systems
where it was measured. It never overrides the environment and is removed afterwards, since a server started from here
may need another one. gRPC reads it on import; if gRPC was imported earlier, nothing changes. `new_connection` imports
this module, so that the import of the SDK alone sets nothing for the rest of the program.
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
