"""Base partitions: what each view alone says about the samples that it has seen.

H_p^(o) holds the k leading eigenvectors of the view's kernel on its observed rows. The rows of unseen samples are 0
here; how they are imputed is the business of each method.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from conspectus._typing import Float
from conspectus.errors import DataWarning
from conspectus.methods.kernels.observed import Kernel, Side, observed_kernel, zero_filled
from conspectus.numerics.spectral import top_eigenvectors
from conspectus.views.findings import overlaps
from conspectus.views.say import some
from conspectus.views.table import Views

RANK = 1e-10
"""Eigenvalues below this share of the largest are taken as 0: their eigenvectors are arbitrary."""


class Partitions(NamedTuple):
    """Base partitions, and the way in which new rows get theirs.

    Attributes
    ----------
    H : tuple of ndarrays, shape (n_samples, k)
        One for each view, zero in the rows of unseen samples.
    sides : tuple of Side
        Coordinates y_p(x) of the rows of each view.
    R : tuple of ndarrays
        h_p(x) = y_p(x) R_p.
    """

    H: tuple[Float, ...]
    sides: tuple[Side, ...]
    R: tuple[Float, ...]


def eigenpartition(K: Float, k: int) -> tuple[Float, Float]:
    """Return the k leading eigenvectors and eigenvalues of a kernel; zeros where its rank is lower."""
    values, H = top_eigenvectors(K, k)
    kept = values > RANK * max(float(values[0]), 1e-300)
    padded, spectrum = np.zeros((len(K), k)), np.zeros(k)
    padded[:, : kept.sum()], spectrum[: kept.sum()] = H[:, kept], values[kept]
    return padded, spectrum


def inverse(values: Float) -> Float:
    """Return 1 / values, and 0 for values of 0."""
    return np.where(values > 0, 1 / np.where(values > 0, values, 1), 0)


def exact_partitions(
    views: Views, k: int, kernel: Kernel, normalize: bool = True, kept: list[Float] | None = None
) -> Partitions:
    """Take the eigenvectors of each view's kernel; one kernel is in memory at a time, unless they go to `kept`."""
    H, sides, R = [], [], []
    for v in range(views.n_views):
        K, side = observed_kernel(views, v, kernel, normalize)
        mine, values = eigenpartition(K, k)
        H.append(views.scatter(v, mine))
        sides.append(side)
        R.append(mine * inverse(values))
        if kept is not None:
            kept.append(zero_filled(views, v, K))
    return Partitions(tuple(H), tuple(sides), tuple(R))


def warn_of_weak_links(views: Views, k: int) -> None:
    """Say which views share fewer than k samples with the others: partitions of the two sides cannot be aligned."""
    shared = overlaps(views)
    n_parts, _ = connected_components(sparse.csr_array(shared > 0), directed=False)
    n_groups, group = connected_components(sparse.csr_array(shared >= min(k, len(views))), directed=False)
    if n_groups == 1 or n_parts > 1:  # views without any common sample are the door's business
        return
    largest = np.bincount(group).argmax()
    weak = some((name for name, g in zip(views.names, group) if g != largest), 5)
    warnings.warn(
        f"the views {weak} share fewer than {k} samples (n_clusters) with the others: their clusters are hardly "
        "matched; add samples that both have seen, or leave these views out",
        DataWarning,
        stacklevel=5,
    )
