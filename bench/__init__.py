"""Every figure the README quotes: `python -m bench` for all, `-m bench.engine` for one; `--json` for programs."""
