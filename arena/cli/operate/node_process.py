"""The process of one node of `arena serve`. `nodes` starts it."""

from __future__ import annotations

import os
import tomllib
from functools import partial

import trio

from arena.cli.operate.config_file import parse_config
from arena.cli.operate.node_place import NodePlace
from arena.cli.operate.server_process import (
    cause_of,
    credentials_of,
    log_as_set,
    serve_until_signal,
    words_of,
)
from arena.cli.operate.settings import configure
from arena.processes.parent import connected
from arena.server.config import Config
from arena.store.base.errors import StoreError, StoreReplaced
from arena.store.writer.process import fork_writer_process


def main() -> None:
    """Run a node until a signal, its parent or an error ends it."""
    os.environ.pop("NOTIFY_SOCKET", None)  # The parent reports to the service manager.
    with fork_writer_process() as writer_process, connected() as parent:
        if not (messages := parent.receive()):
            return  # The server ended because another node could not start.
        [task] = messages
        config = configure_node(task.settings)
        log_as_set(config)
        place = NodePlace(task, parent)
        try:
            serve = partial(serve_until_signal, config, credentials_of(config), writer_process, None, place)
            trio.run(serve, restrict_keyboard_interrupt_to_checkpoints=True)
        except (StoreError, RuntimeError, OSError, ExceptionGroup) as error:
            if (cause := cause_of(error)) is None:
                raise
            place.failed(words_of(cause), replaced=isinstance(cause, StoreReplaced))


def configure_node(settings: str) -> Config:
    """Return the configuration for the text of a configuration file."""
    file = parse_config(tomllib.loads(settings))
    return configure(file.ladders((), (), ()), file.values)


if __name__ == "__main__":
    main()
