"""Import gRPC for the first time, with polling in the thread that waits for completed operations.

By default other threads poll, and each message must also wake the waiting thread. The setting is used only on systems
where it was measured. It never overrides the environment, and is removed afterwards, because a server started from here
may need another setting. gRPC reads it on import, so it has no effect if gRPC was imported earlier. `new_connection`
imports this module, so that importing the SDK alone has no effect on the rest of the program.
"""

from __future__ import annotations

import os
import sys

_SETTING = "GRPC_EXPERIMENTS"

if sys.platform == "linux" and _SETTING not in os.environ:
    os.environ[_SETTING] = "-event_engine_client"
    try:
        import grpc  # noqa: F401 - so that it reads the setting
    finally:
        del os.environ[_SETTING]
