"""Every figure the README quotes: `python -m bench` for all, `python -m bench.engine` for one; `--json` for programs."""
