"""`python -m arena.cli`: the `arena` command where the program itself is not on the PATH."""

from arena.cli.main import main

main(prog_name="arena")
