"""Symmetric sparse matrices, and the solution of their linear systems by conjugate gradients.

SciPy's products with sparse matrices are plain loops over the stored entries in the order of rows and columns, without
BLAS and in one thread, so the results are the same to the last bit on any number of threads.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Floats: TypeAlias = NDArray[np.float64]

ACCURACY: Final = 1e-6
"""A system counts as solved if the error is at most this part of the solution, in the norm defined by the matrix."""
MAX_ITERATIONS: Final = 1_000
"""Maximum number of iterations, after which the solution is accepted. A usual ladder takes ten to forty."""
COLUMNS_AT_ONCE: Final = 64
"""Number of right-hand sides solved together: many, so that the matrix is read rarely, but few enough for the cache."""


class Symmetric:
    """A symmetric matrix [n, n] with a positive diagonal."""

    def __init__(self, diagonal: Floats, above: csr_array) -> None:
        """Build the matrix from its diagonal [n] and the entries above the diagonal, a matrix [n, n]."""
        self.diagonal: Final = diagonal
        self._above: Final = above
        self._below: Final = above.T

    def plus(self, value: float) -> Symmetric:
        """Add a value to each element of the diagonal."""
        return Symmetric(self.diagonal + value, self._above)

    def times(self, columns: Floats) -> Floats:
        """Multiply by a vector [n] or a matrix [n, k]."""
        own = self.diagonal if columns.ndim == 1 else self.diagonal[:, None]
        product: Floats = own * columns + self._above @ columns + self._below @ columns
        return product

    def dense(self) -> Floats:
        """Return the matrix as a dense array."""
        return self.times(np.eye(len(self.diagonal)))

    def solve(self, columns: Floats) -> Floats:
        """Solve the system for each of the right-hand sides [n, k]. The matrix must be positive definite.

        The method is that of conjugate gradients (Hestenes and Stiefel 1952), with the diagonal as preconditioner.
        """
        parts = range(0, columns.shape[1], COLUMNS_AT_ONCE)
        found = [self._solve(np.ascontiguousarray(columns[:, at : at + COLUMNS_AT_ONCE])) for at in parts]
        return np.concatenate(found, axis=1) if found else columns

    def _solve(self, columns: Floats) -> Floats:
        found, missing = np.zeros_like(columns), columns.copy()
        direction = scaled = missing / self.diagonal[:, None]
        size = first = (missing * scaled).sum(axis=0)
        for _ in range(MAX_ITERATIONS):
            if (size <= ACCURACY**2 * first).all():
                break
            product = self.times(direction)
            bent = (direction * product).sum(axis=0)
            share = np.divide(size, bent, out=np.zeros_like(size), where=bent > 0)  # a column with 0 is solved
            found += share * direction
            missing -= share * product
            scaled = missing / self.diagonal[:, None]
            size, before = (missing * scaled).sum(axis=0), size
            ratio = np.divide(size, before, out=np.zeros_like(size), where=before > 0)
            direction = scaled + ratio * direction
        return found
