"""Runs the `arena` command as `python -m arena.cli`, for environments without it on the PATH."""

from arena.cli.main import main

main(prog_name="arena")
