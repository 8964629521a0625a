"""K-means: the last step of every spectral method, and the one place that calls scikit-learn for it."""

from __future__ import annotations

import warnings

import numpy as np

from .._typing import Array, Float, Int
from ..errors import InputError
from .backend import as_float, to_numpy
from .distances import nearest


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
    used, so that the result does not depend on how many there are.

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
    Y = np.ascontiguousarray(to_numpy(as_float(Y)))
    if not 1 <= n_clusters <= len(Y):
        raise InputError(f"{n_clusters} clusters of {len(Y)} samples: n_clusters must be between 1 and {len(Y)}.")
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


def _fit(Y: Float, k: int, init: str | Float, n_init: int, max_iter: int, seed: int) -> Float:
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    model = KMeans(k, init=init, n_init=n_init, max_iter=max_iter, random_state=seed)
    with threadpool_limits(limits=1), warnings.catch_warnings():
        # Fewer distinct rows than clusters: legal, the surplus clusters are empty.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(Y).cluster_centers_
