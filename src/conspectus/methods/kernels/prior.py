"""H_0 of EE-R-IMVC: a partition of all samples that is known before the iteration begins."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from conspectus._typing import Float
from conspectus.loop import run
from conspectus.methods.kernels.base_partitions import Partitions, exact_partitions
from conspectus.methods.kernels.features import FeatureSide, feature_kernels, feature_partitions, projected
from conspectus.methods.kernels.kernel_sets import DenseKernels, KernelSet
from conspectus.methods.kernels.mkkm_steps import steps
from conspectus.methods.kernels.observed import Kernel
from conspectus.views.table import Views


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
        state, _ = run(steps(kernels, n_views, k), max_iter=100, tol=1e-4, min_iter=3, warn=False)
        H, values, weights = state.H, state.values, state.used**2
    return H, kernels.split(H, values, weights)


def exact_base(
    views: Views, k: int, kernel: Kernel, normalize: bool, which: str | None
) -> tuple[Partitions, Prior | None]:
    """Base partitions and prior from kernel matrices."""
    kept: list[Float] | None = None if which is None else []
    base = exact_partitions(views, k, kernel, normalize, kept)
    if which is None or kept is None:
        return base, None
    observed = [views.observed(v) for v in range(views.n_views)]
    H0, R = leading_partition(DenseKernels(kept, observed), which, views.n_views, k)
    return base, Prior(np.asarray(H0), R)


def feature_base(
    views: Views, k: int, sides: tuple[FeatureSide, ...], which: str | None
) -> tuple[Partitions, Prior | None]:
    """Base partitions and prior from features, through their one Gram matrix."""
    kernels = feature_kernels(views, sides)
    base = feature_partitions(views, k, sides, kernels)
    if which is None:
        return base, None
    _, R = leading_partition(kernels, which, views.n_views, k)
    return base, Prior(np.asarray(sum(views.map(projected, sides=sides, R=R))), R)
