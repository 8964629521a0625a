"""Kernels between rows, centred and normalised in feature space."""

from __future__ import annotations

import numpy as np

from .._typing import Array, Float
from .backend import as_float, row_blocks, to_numpy
from .distances import squared_distances
from .rows import unit_rows


def mean_pairwise_distance(X: Array) -> float:
    """Average the Euclidean distances of all pairs of different rows (i < j), in blocks of rows."""
    X = as_float(X)
    n = X.shape[0]
    total = 0.0
    for rows in row_blocks(n):
        D = np.sqrt(to_numpy(squared_distances(X[rows, :], X)))
        D[np.arange(len(D)), np.arange(rows.start, rows.stop)] = 0
        total += float(D.sum(dtype=np.float64))
    return total / (n * (n - 1)) if n > 1 else 0.0


def gaussian_kernel(X: Array, Y: Array | None = None, width: float | None = None) -> Float:
    """Compute ``exp(-|x - y|^2 / (2 s^2))`` between the rows of ``X`` and of ``Y`` (of ``X``, without ``Y``).

    Parameters
    ----------
    X, Y : arrays of shape (n, d), (l, d)
        Dense or SciPy sparse.
    width : float, optional
        ``s``; by default the mean distance of all pairs of rows of ``Y`` (of ``X``, without ``Y``). A width of 0 (all
        rows equal) gives a kernel of ones and, for other rows, zeros.
    """
    other = X if Y is None else Y
    width = mean_pairwise_distance(other) if width is None else width
    D = to_numpy(squared_distances(X, other))
    if Y is None:
        D = (D + D.T) / 2
        np.fill_diagonal(D, 0)
    return np.exp(-D / (2 * width**2)) if width > 0 else (D == 0).astype(D.dtype)


def linear_kernel(X: Array, Y: Array | None = None) -> Float:
    """Compute the inner products of the rows of ``X`` with those of ``Y`` (of ``X``, without ``Y``)."""
    X = as_float(X)
    return to_numpy(X @ (X if Y is None else as_float(Y)).T)


def polynomial_kernel(X: Array, Y: Array | None = None, degree: int = 2) -> Float:
    """Compute ``(x.y + 1)^degree`` between the rows of ``X`` and of ``Y`` (of ``X``, without ``Y``)."""
    return (linear_kernel(X, Y) + 1) ** degree


def cosine_kernel(X: Array, Y: Array | None = None) -> Float:
    """Compute the cosines between the rows of ``X`` and of ``Y`` (of ``X``, without ``Y``); 0 for rows of zeros."""
    return linear_kernel(unit_rows(X), None if Y is None else unit_rows(Y))


def centre_kernel(K: Float, training: Float | None = None) -> Float:
    """Move the origin of feature space to the mean of the training rows.

    ``K_ij - mean_i K_ij - mean_j K_ij + mean K``, the means over the training rows.

    Parameters
    ----------
    K : array of shape (n, n), or (m, n) with ``training``
        Kernel of the training rows; with ``training``, of new rows with the training rows.
    training : array of shape (n, n), optional
        The (not centred) kernel of the training rows.
    """
    reference = K if training is None else training
    columns = reference.mean(axis=0)
    C = K - K.mean(axis=1, keepdims=True) - columns + columns.mean()
    return (C + C.T) / 2 if training is None else C


def normalise_kernel(K: Float, rows: Float | None = None, columns: Float | None = None) -> Float:
    """Scale feature vectors to unit length: ``K_ij / sqrt(K_ii K_jj)``.

    Rows and columns with ``K_ii <= 1e-12`` become 0.

    Parameters
    ----------
    K : array of shape (n, n), or (m, n) with ``rows`` and ``columns``
    rows, columns : arrays of shape (m,), (n,), optional
        The diagonals ``K(x, x)`` of the two sides, where ``K`` is a block between different rows.
    """
    rows = np.diagonal(K) if rows is None else rows
    columns = np.diagonal(K) if columns is None else columns
    return K * _inverse_root(rows)[:, None] * _inverse_root(columns)


def _inverse_root(diagonal: Float) -> Float:
    kept = diagonal > 1e-12
    return np.where(kept, 1 / np.sqrt(np.where(kept, diagonal, 1)), 0)
