"""The first program in a sandbox. It sets limits, changes from the runner's user to the command's, and replaces itself
with the command.

Its text is an argument of `python -I -S -c`, so the sandbox needs only the standard library and no file of this
project. It runs inside bubblewrap, because the system counts processes by user and user namespace. Only there are the
sandbox's processes counted separately.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from contextlib import suppress


def main() -> None:
    """Set the limits and the user, and execute the command."""
    wanted, *words = sys.argv[1:]
    given = json.loads(wanted)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    if (user := given["user"]) is not None:
        os.setgroups([])
        os.setresgid(given["group"], given["group"], given["group"])
        os.setresuid(user, user, user)
    for name, most in given["limits"].items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (limit, limit))
    environment = {name: os.environ[name] for name in given["told"] if name in os.environ} | given["set"]
    try:
        with suppress(KeyError):
            os.chdir(given["folder"])
        os.execve(words[0], words, environment)  # noqa: S606 - the box is for this command
    except OSError as error:
        sys.exit(f"the sandbox cannot start {words[0]}: {error.strerror} (is it readable for others, and its folder?)")


if __name__ == "__main__":
    main()
