"""Benchmarks that measure the figures in the README: `python -m bench` runs all, `python -m bench.engine` one."""
