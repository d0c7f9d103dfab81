"""Benchmarks for all figures of the README, which changes must not worsen: `python -m bench` or `-m bench.engine`."""
