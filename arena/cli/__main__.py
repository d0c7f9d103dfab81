"""The `arena` command as `python -m arena.cli`, for environments where the command is not on the PATH."""

from arena.cli.main import main

main(prog_name="arena")
