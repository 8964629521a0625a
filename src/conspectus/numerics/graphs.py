"""Graphs of nearest neighbours between the rows of one matrix."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.sparse import csr_array, issparse

from .._typing import Array, Float, Int
from .backend import as_float, row_blocks, to_numpy
from .distances import squared_distances
from .neighbours import smallest
from .rows import unit_rows


def knn_graph(
    X: Array,
    n_neighbors: int = 5,
    weights: Literal["binary", "heat", "cosine"] = "binary",
    t: float | Literal["mean"] | None = None,
    join: Literal["max", "mean"] = "max",
) -> csr_array:
    """Join every row with its nearest rows: the symmetric graph ``max(W, W')``, or ``(W + W') / 2``.

    Parameters
    ----------
    X : array of shape (n, d)
        Dense or SciPy sparse.
    n_neighbors : int
        By Euclidean distance, the row itself excluded, the smaller index where distances are equal; at most n - 1.
    weights : {"binary", "heat", "cosine"}
        1; ``exp(-d^2 / (2 t^2))``; or the cosine of the two rows (0 where it is negative).
    t : float or "mean", optional
        For ``"heat"``; by default the median distance of two rows. ``"mean"``: the mean distance of the neighbours.
    join : {"max", "mean"}
        What an edge weighs that only one of its ends has chosen.

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric, without a diagonal. In blocks of rows; no n x n array is formed.
    """
    X = as_float(X)
    X = X if issparse(X) else to_numpy(X)
    n, m = X.shape[0], min(n_neighbors, X.shape[0] - 1)
    D, neighbours = _neighbours(X, m)
    if weights == "heat":
        width = _width(X, D, t)
        values = np.exp(-D / (2 * width**2)) if width > 0 else np.ones_like(D)
    elif weights == "cosine":
        values = np.maximum(_cosines(X, neighbours), 0)
    else:
        values = np.ones_like(D)
    W = csr_array((values.ravel(), neighbours.ravel(), np.arange(n + 1) * m), (n, n))
    return csr_array(W.maximum(W.T) if join == "max" else (W + W.T) / 2)


def _width(X: Array, D: Float, t: float | Literal["mean"] | None) -> float:
    if isinstance(t, str):
        return float(np.sqrt(D).mean()) if D.size else 0.0
    return median_pairwise_distance(X) if t is None else t


def _neighbours(X: Array, m: int) -> tuple[Float, Int]:
    n = X.shape[0]
    D, neighbours = np.empty((n, m)), np.empty((n, m), dtype=np.int64)
    for rows in row_blocks(n if m else 0):
        block = squared_distances(X[rows, :], X)
        block[np.arange(len(block)), np.arange(rows.start, rows.stop)] = np.inf
        D[rows], neighbours[rows] = smallest(block, m)
    return D, neighbours


def _cosines(X: Array, neighbours: Int) -> Float:
    U = unit_rows(X)
    i, j = np.repeat(np.arange(len(neighbours)), neighbours.shape[1]), neighbours.ravel()
    products = U[i].multiply(U[j]).sum(axis=1) if issparse(U) else np.einsum("ij,ij->i", U[i], U[j])
    return np.asarray(products).reshape(neighbours.shape)


def median_pairwise_distance(X: Array, sample: int = 1000) -> float:
    """Find the median Euclidean distance of two different rows; beyond ``sample`` rows, of a fixed random sample."""
    X = as_float(X)
    n = X.shape[0]
    if n > sample:
        X, n = X[np.sort(np.random.default_rng(0).choice(n, sample, replace=False)), :], sample
    D = np.sqrt(to_numpy(squared_distances(X, X))[np.triu_indices(n, 1)])
    return float(np.median(D)) if len(D) else 0.0
