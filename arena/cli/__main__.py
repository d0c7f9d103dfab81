"""Runs the `arena` command as `python -m arena.cli`, for environments without the command on the PATH."""

from arena.cli.main import main

main(prog_name="arena")
