"""Benchmarks of the ladder in simulated worlds with known true ratings: `python -m bench.ladder`."""

import os
from typing import Final

ONE_THREAD: Final = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Environment variables that NumPy reads on import. They limit it to one thread, because the benchmarks measure times
on one core.
"""
os.environ.update(ONE_THREAD)
