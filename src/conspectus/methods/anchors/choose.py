"""Which rows, or which centroids, describe all the others."""

from __future__ import annotations

import numpy as np
from numpy.random import RandomState
from scipy import sparse

from conspectus._typing import Array, Int
from conspectus.errors import InputError
from conspectus.numerics.backend import to_numpy
from conspectus.numerics.kmeans import kmeans
from conspectus.numerics.rows import class_means
from conspectus.views.table import Views

SAMPLE = 20_000
"""Rows that centroids are taken from: more change them less than another seed does."""
ROUNDS = 20
"""Iterations of k-means for anchors, which need not have settled."""


def paired_anchors(
    views: Views,
    n_anchors: int | str,
    rng: RandomState,
    *,
    as_columns: bool = False,
    auto: tuple[int, int] = (2000, 1000),
) -> tuple[Array, ...]:
    """Return anchors of all `views` at once, from the samples that all of them have seen.

    All such samples, where there are no more than wanted; else centroids of k-means on the views side by side, and in
    each view the mean of the cluster's rows. With `as_columns`, positions among the columns of a distance matrix:
    centroids have none, so samples are drawn.

    Parameters
    ----------
    n_anchors : int, "all" or "auto"
        "auto": all up to ``auto[0]`` samples, else ``auto[1]``.
    """
    common = views.complete
    if not len(common):
        raise InputError(f"the views {' and '.join(map(repr, views.names))} share no sample")
    wanted = _number(n_anchors, len(common), auto)
    if as_columns:
        chosen = common if wanted >= len(common) else np.sort(rng.choice(common, wanted, replace=False))
        return tuple(np.searchsorted(views.observed(v), chosen) for v in range(views.n_views))
    if wanted >= len(common):
        shared = views.rows(common)
        return tuple(shared.data(v) for v in range(views.n_views))
    if len(common) > SAMPLE:
        common = np.sort(rng.choice(common, SAMPLE, replace=False))
    return _centroids(views.rows(common), wanted, rng)


def _number(n_anchors: int | str, n_common: int, auto: tuple[int, int]) -> int:
    if n_anchors == "all":
        return n_common
    if n_anchors == "auto":
        return n_common if n_common <= auto[0] else auto[1]
    return int(n_anchors)


def _centroids(views: Views, wanted: int, rng: RandomState) -> tuple[Array, ...]:
    """The means of the clusters of the views side by side, in each view."""
    parts = [views.data(v) for v in range(views.n_views)]
    if any(sparse.issparse(part) for part in parts):
        side = sparse.hstack(parts, format="csr")
    else:
        side = np.hstack([to_numpy(part) for part in parts])
    labels, _, _ = kmeans(side, wanted, n_init=1, max_iter=ROUNDS, seed=int(rng.randint(2**31 - 1)))
    labels = _without_gaps(labels)
    return tuple(class_means(part, labels, int(labels.max()) + 1) for part in parts)


def _without_gaps(labels: Int) -> Int:
    """Number the clusters that have members 0, 1, ..."""
    return np.asarray(np.unique(labels, return_inverse=True)[1]).reshape(-1)
