"""The hot loops for numba. Imported only when `has_numba` says so; each is tested against its twin in NumPy."""

from __future__ import annotations

import numpy as np
from numba import njit

from .._typing import Float


@njit(cache=True)
def project_shifted_rows(F: Float) -> Float:
    """Project rows whose largest entry is 0 on the simplex: drop entries below the threshold until none is left."""
    n, m = F.shape
    Z = np.empty_like(F)
    active = np.empty(m)
    for i in range(n):
        kept, total = 0, -1.0
        for j in range(m):
            if F[i, j] > -1.0:  # the threshold lies in [-1, 0)
                active[kept] = F[i, j]
                total += F[i, j]
                kept += 1
        before = kept + 1
        while kept < before:
            before, threshold, kept, total = kept, total / kept, 0, -1.0
            for j in range(before):
                if active[j] > threshold:
                    active[kept] = active[j]
                    total += active[j]
                    kept += 1
        for j in range(m):
            Z[i, j] = max(F[i, j] - threshold, 0.0)
    return Z
