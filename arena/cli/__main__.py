"""`python -m arena.cli`: the `arena` command for who has no such program at hand."""

from arena.cli.main import main

main(prog_name="arena")
