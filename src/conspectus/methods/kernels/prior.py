"""H_0 of EE-R-IMVC: a partition of all samples that is known before the iteration begins."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from conspectus._typing import Float
from conspectus.loop import run
from conspectus.methods.kernels import mkkm
from conspectus.methods.kernels.kernel_sets import KernelSet


class Prior(NamedTuple):
    """H_0 and, where new samples have one, R_p with h_0(x) = sum_p y_p(x) R_p."""

    H: Float
    R: tuple[Float, ...] | None


def leading_partition(kernels: KernelSet, which: str, n_views: int, k: int) -> tuple[object, tuple[Float, ...]]:
    """Cluster the kernels filled with 0: their plain sum ("average"), or that with the weights of MKKM ("mkkm").

    Returns H_0 in the form of the kernels, and R_p.
    """
    if which == "average":
        weights = np.ones(n_views)
        H, values = kernels.leading(weights, k)
    else:
        state, _ = run(mkkm.steps(kernels, n_views, k), max_iter=100, tol=1e-4, min_iter=3, warn=False)
        H, values, weights = state.H, state.values, state.used**2
    return H, kernels.split(H, values, weights)
