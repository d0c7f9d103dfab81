"""The first import of gRPC, told to poll its sockets in the thread that waits for completed operations.

Otherwise other threads poll, and each message has to wake that one besides. Only where it was measured, never against
what the environment says, and without leaving anything in it: a server started from here may want something else.
gRPC reads the setting when it is imported; where it was imported before, all stays as it was.
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
