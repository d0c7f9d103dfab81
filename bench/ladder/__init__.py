"""The ladder's promises, measured in simulated worlds whose truth is known: `python -m bench.ladder`."""

import os
from typing import Final

ONE_THREAD: Final = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""For NumPy, which reads it when it is first imported: the fits are small, and times are to be those of one core."""
os.environ.update(ONE_THREAD)
