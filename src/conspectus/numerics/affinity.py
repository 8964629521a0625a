"""Self-tuning similarities: how wide a Gaussian is depends on how dense the rows lie around its two ends."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array, issparse

from .._typing import Array, Float, Int
from .backend import as_float, row_blocks, to_numpy
from .distances import Targets
from .neighbours import smallest

LEAST_WIDTH = 1e-12
"""Of a Gaussian, as a share of the mean distance of neighbours: rows that are equal are not infinitely similar."""


def scaled_exponential_graph(X: Array, n_neighbors: int) -> csr_array:
    """Keep of every row its largest scaled exponential similarities, divided by their sum.

    With ``d_ij`` the squared distance and ``T_i`` the mean of the distances to the K nearest other rows,

        w_ij = exp(-d_ij^2 / (2 s_ij^2)) / s_ij,    s_ij = (T_i + T_j + d_ij) / 6.

    Row i keeps its K largest entries; the row itself is one of the candidates. Blocks of distances are formed twice,
    and no n x n array is stored. The scale of ``X`` does not matter.

    Parameters
    ----------
    X : array of shape (n, d)
        Dense or SciPy sparse.
    n_neighbors : int
        K; at most n.

    Returns
    -------
    csr_array of shape (n, n)
        Rows sum to 1; not symmetric.
    """
    X = as_float(X)
    X = X if issparse(X) else to_numpy(X)
    n, K = X.shape[0], min(n_neighbors, X.shape[0])
    X = X.astype(np.float64) / largest_entry(X)
    targets = Targets.of(X, X)
    T = np.concatenate([_mean_nearest(D, K) for _, D in _blocks(X, targets)]) if n else np.empty(0)
    typical = T.mean() if n and T.any() else 1.0
    W, neighbours = np.empty((n, K)), np.empty((n, K), dtype=np.int64)
    for rows, D in _blocks(X, targets):
        W[rows], neighbours[rows] = _largest(D / typical, T[rows] / typical, T / typical, K)
    return csr_array((W.ravel(), neighbours.ravel(), np.arange(n + 1) * K), (n, n))


def median_gaussian_graph(X: Array) -> tuple[Float, float]:
    """Compute the Gaussian similarity of all rows, and its width: the median of all n^2 distances.

    The distances of rows to themselves count. Where most pairs are equal rows, the median is that of the others.

    Returns
    -------
    K : array of shape (n, n)
        ``exp(-|x_i - x_j|^2 / (2 s^2))``.
    s : float
    """
    X = as_float(X)
    X = X if issparse(X) else to_numpy(X)
    unit = largest_entry(X)
    X = X.astype(np.float64) / unit
    D = np.concatenate([block for _, block in _blocks(X, Targets.of(X, X))])
    distances = np.sqrt((D + D.T) / 2)
    s = float(np.median(distances)) or float(np.median(distances[distances > 0])) if distances.any() else 1.0
    return np.exp(-((distances / s) ** 2) / 2), s * unit


def largest_entry(X: Array) -> float:
    """Find what rows are divided by, so that neither 1e-300 nor 1e300 is lost when it is squared; 1 of zeros."""
    return (float(abs(X).max()) if min(X.shape) else 0.0) or 1.0


def _blocks(X: Array, targets: Targets) -> Iterator[tuple[slice, Float]]:
    """Squared distances of blocks of rows to all rows; exactly 0 from a row to itself."""
    for rows in row_blocks(X.shape[0]):
        D = targets.squared_distances(X[rows, :])
        D[np.arange(len(D)), np.arange(rows.start, rows.stop)] = 0
        yield rows, D


def _mean_nearest(D: Float, K: int) -> Float:
    """Average the distances to the K nearest other rows (to all of them, where there are fewer)."""
    m = min(K, D.shape[1] - 1)
    nearest = np.partition(D, m, axis=1)[:, : m + 1]  # with the row itself, at distance 0
    return np.asarray(nearest.sum(axis=1) / max(m, 1))


def _largest(D: Float, T: Float, T_all: Float, K: int) -> tuple[Float, Int]:
    """Return the K largest similarities of each row, divided by their sum, and where they stand."""
    s = np.maximum((T[:, None] + T_all + D) / 6, LEAST_WIDTH)
    values, neighbours = smallest(-np.exp(-((D / s) ** 2) / 2) / s, K)
    return values / values.sum(axis=1, keepdims=True), neighbours
