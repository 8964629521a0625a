"""K-means: the last step of every spectral method, and the one place that calls scikit-learn for it."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.sparse import issparse

from .._typing import Array, Float, Int
from ..errors import InputError
from .backend import as_float, is_numpy, namespace, to_numpy
from .distances import nearest
from .rows import class_means, class_sums


def kmeans(
    Y: Array,
    n_clusters: int,
    *,
    n_init: int = 10,
    max_iter: int = 300,
    seed: int = 0,
    sample: int = 20000,
    start: Float | None = None,
) -> tuple[Int, Float, float]:
    """Find centres that minimise the sum of squared distances of the rows to their nearest centre.

    scikit-learn's k-means from ``n_init`` starts, of which the least sum wins. With more than ``sample`` rows the
    starts run on a random sample of so many, and one run on all rows goes on from the best centres. One thread is
    used, so that the result does not depend on how many there are. Arrays of other libraries stay on their device: only
    the sample is copied, and the run on all rows is done where they are.

    Parameters
    ----------
    Y : array of shape (n, d)
        Dense; float32 is kept.
    n_clusters : int
        At most n. Where fewer rows are distinct, some clusters stay empty.
    n_init, max_iter : int
        Starts, and iterations of each.
    seed : int
        Of the starts and of the sample.
    sample : int
        Rows from which on the starts run on a sample.
    start : array of shape (n_clusters, d), optional
        Centres to go on from, in the place of all starts.

    Returns
    -------
    labels : array of shape (n,)
        Exactly ``nearest(Y, centres)[0]``, so that predicting a training row gives its label.
    centres : array of shape (n_clusters, d)
    inertia : float
        The sum of squared distances.
    """
    Y = as_float(Y)
    if not 1 <= n_clusters <= Y.shape[0]:
        n = Y.shape[0]
        raise InputError(f"{n_clusters} clusters of {n} samples: n_clusters must be between 1 and {n}.")
    if not (is_numpy(Y) or issparse(Y)):
        return _on_device(Y, n_clusters, n_init, max_iter, seed, sample, start)
    Y = np.ascontiguousarray(to_numpy(Y))
    if start is not None:
        centres = _fit(Y, n_clusters, np.asarray(start, dtype=Y.dtype), 1, max_iter, seed)
    elif len(Y) > sample:
        rows = np.sort(np.random.default_rng(seed).choice(len(Y), sample, replace=False))
        found = _fit(Y[rows], n_clusters, "k-means++", n_init, max_iter, seed)
        centres = _fit(Y, n_clusters, found, 1, max_iter, seed)
    else:
        centres = _fit(Y, n_clusters, "k-means++", n_init, max_iter, seed)
    labels, d1, _ = nearest(Y, centres)
    return labels.astype(np.int64), centres, float(d1.sum(dtype=np.float64))


def _on_device(
    Y: Array, k: int, n_init: int, max_iter: int, seed: int, sample: int, start: Array | None
) -> tuple[Array, Array, float]:
    """Start from a sample in NumPy, then move the centres over all rows where they are."""
    xp, where = namespace(Y), {"device": Y.device}
    if start is None:
        rows = np.arange(Y.shape[0])
        if len(rows) > sample:
            rows = np.sort(np.random.default_rng(seed).choice(len(rows), sample, replace=False))
        few = np.ascontiguousarray(to_numpy(xp.take(Y, xp.asarray(rows, **where), axis=0)))
        start = _fit(few, k, "k-means++", n_init, max_iter, seed)
    centres = start if is_like(start, Y) else xp.asarray(start, dtype=Y.dtype, **where)
    labels, d1, _ = nearest(Y, centres)
    for _ in range(max_iter):
        sizes = class_sums(xp.ones((Y.shape[0], 1), dtype=Y.dtype, **where), labels, k)
        moved = xp.where(sizes > 0, class_means(Y, labels, k), centres)
        before, (labels, d1, _) = labels, nearest(Y, moved)
        centres = moved
        if bool(xp.all(labels == before)):
            break
    return labels, centres, float(xp.sum(xp.astype(d1, xp.float64)))


def is_like(a: Array, b: Array) -> bool:
    """Tell whether two arrays are of the same library."""
    return type(a) is type(b)


def _fit(Y: Float, k: int, init: str | Float, n_init: int, max_iter: int, seed: int) -> Float:
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    model = KMeans(k, init=init, n_init=n_init, max_iter=max_iter, random_state=seed)
    with threadpool_limits(limits=1), warnings.catch_warnings():
        # Fewer distinct rows than clusters: legal, the surplus clusters are empty.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(Y).cluster_centers_
