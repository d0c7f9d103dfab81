"""Run any bot class from the command line: `arena-bot MODULE:CLASS HOST:PORT`."""

from __future__ import annotations

import argparse
import importlib
import sys

from arena_client.bot import Bot
from arena_client.command import add_options, run_with
from arena_client.options import DEFAULT_ADDRESS


def load(name: str) -> Bot:
    """Create the bot named by "module:Class", without arguments. Raises ValueError if the name is invalid."""
    module_name, _, class_name = name.partition(":")
    if not module_name or not class_name:
        raise ValueError(f"{name!r} is not of the form MODULE:CLASS")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as missing:
        if missing.name != module_name.partition(".")[0] and missing.name != module_name:
            raise
        raise ValueError(f"there is no module {module_name!r} here") from None
    kind = getattr(module, class_name, None)
    if not isinstance(kind, type) or not issubclass(kind, Bot):
        raise ValueError(f"{module_name} has no class {class_name} that extends arena_client.Bot")
    return kind()


def main() -> None:
    """Run the console script `arena-bot`."""
    if sys.argv[1:2] == ["pipe"]:
        from arena_client import pipe

        pipe.main(sys.argv[2:])
        return
    if sys.argv[1:2] and sys.argv[1] in ("unpark", "rotate", "join"):
        from arena_client import managing

        managing.main(sys.argv[1], sys.argv[2:])
        return
    parser = argparse.ArgumentParser(
        prog="arena-bot",
        description=__doc__,
        epilog="example: arena-bot my_bot:MyBot localhost:50051 --owner me; "
        "a command that speaks JSON lines: arena-bot pipe --help; to un-park a bot, replace its token or enter a "
        "ladder: arena-bot unpark --help, arena-bot rotate --help, arena-bot join --help",
    )
    parser.add_argument("bot", metavar="MODULE:CLASS", help="the bot's class, found from the current directory")
    parser.add_argument(
        "address",
        nargs="?",
        metavar="HOST:PORT",
        help=f"the server (default: ARENA_SERVER in the environment, or {DEFAULT_ADDRESS})",
    )
    add_options(parser)
    arguments = parser.parse_args()
    sys.path.insert(0, "")
    try:
        bot = load(arguments.bot)
    except ValueError as error:
        parser.error(str(error))
    run_with(bot, arguments.address, arguments)


if __name__ == "__main__":
    main()
