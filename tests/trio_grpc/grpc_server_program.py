"""An echo server that stops at SIGINT; it prints its address when it listens, and "stopped" when everything is
closed.
"""

import gc
import signal
import sys

import trio

sys.path.insert(0, ".")
from tests.trio_grpc.grpc_rig import echo, echo_service, serving


async def main() -> None:
    with trio.open_signal_receiver(signal.SIGINT) as signals:
        async with serving(echo_service(echo)) as address:
            print(address, flush=True)
            async for _ in signals:
                break
    gc.collect()
    print("stopped", flush=True)


trio.run(main, restrict_keyboard_interrupt_to_checkpoints=True)
