"""Distances between the rows of two matrices, in blocks of rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from .._typing import Array, Float
from .backend import as_float, is_numpy, namespace, row_blocks


def squared_norms(X: Array) -> Array:
    """Compute the squared Euclidean length of every row (dense of any library, or sparse)."""
    if issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    if is_numpy(X):
        return np.einsum("ij,ij->i", X, X)
    return namespace(X).sum(X * X, axis=1)


def squared_distances(X: Array, Y: Array) -> Array:
    """Compute all squared Euclidean distances between the rows of ``X`` and of ``Y``.

    ``|x|^2 + |y|^2 - 2 x.y``, clipped at 0, in blocks of rows; differences ``x - y`` are never stored.

    Parameters
    ----------
    X : array of shape (n, d)
        Dense of any array library, or SciPy sparse.
    Y : array of shape (l, d)
        Likewise.

    Returns
    -------
    array of shape (n, l)
        Dense.
    """
    X, Y = as_float(X), as_float(Y)
    xp, targets = namespace(X, Y), Targets.of(Y, X)
    D = xp.empty((X.shape[0], Y.shape[0]), dtype=xp.result_type(X.dtype, Y.dtype), **_device_of(X, Y))
    for rows in row_blocks(X.shape[0]):
        if is_numpy(X, Y):
            targets.squared_distances(X[rows], D[rows])
        else:
            D[rows, :] = targets.squared_distances(X[rows, :])
    return D


def _device_of(*arrays: Array) -> dict[str, Any]:
    return next(({"device": a.device} for a in arrays if not (issparse(a) or is_numpy(a))), {})


class Targets(NamedTuple):
    """The rows that distances are measured to, prepared once for all blocks.

    Dense rows are measured from the mean of the targets: far from the origin the terms of ``|x|^2 + |y|^2 - 2 x.y``
    would cancel, and in float32 nothing would be left.
    """

    Y: Array
    origin: Array
    lengths: Array

    @classmethod
    def of(cls, Y: Array, X: Array) -> Targets:
        """Prepare the rows of ``Y`` for blocks of ``X``."""
        if issparse(X) or issparse(Y):
            return cls(Y, None, squared_norms(Y))
        xp = namespace(Y)
        origin = xp.astype(_mean(Y), Y.dtype)
        return cls(Y - origin, origin, squared_norms(Y - origin))

    def squared_distances(self, X: Array, out: Float | None = None) -> Array:
        """Measure one block of rows; NumPy's are written to ``out``."""
        X = X if self.origin is None else X - self.origin
        D: Array = X @ self.Y.T if out is None else np.matmul(X, self.Y.T, out=out)
        D = D.toarray() if issparse(D) else D
        D *= -2
        D += self.lengths
        D += squared_norms(X)[:, None]
        if is_numpy(D):
            return np.maximum(D, 0, out=D)
        D[D < 0] = 0
        return D


def mean_squared_distance(X: Array, Y: Array) -> float:
    """Average the squared distances over all pairs of rows, in closed form and O((n + l) d).

    ``mean|x|^2 + mean|y|^2 - 2 (mean x).(mean y)``; rows are shifted by the mean of ``Y`` where they are dense, which
    changes nothing but the rounding.
    """
    X, Y = as_float(X), as_float(Y)
    if not (issparse(X) or issparse(Y)):
        origin = namespace(Y).astype(_mean(Y), Y.dtype)
        X, Y = X - origin, Y - origin
    mean_x, mean_y = _mean(X), _mean(Y)
    cross = namespace(mean_x, mean_y).sum(mean_x * mean_y)
    return max(0.0, float(_mean(squared_norms(X))) + float(_mean(squared_norms(Y))) - 2 * float(cross))


def _mean(a: Array) -> Array:
    """Average the rows, in float64."""
    if issparse(a):
        return np.asarray(a.mean(axis=0, dtype=np.float64)).ravel()
    xp = namespace(a)
    return xp.mean(xp.astype(a, xp.float64), axis=0)


def chi2_distances(X: Array, Y: Array) -> Array:
    """Compute all chi-squared distances ``sum_j (x_j - y_j)^2 / (x_j + y_j)``, with 0/0 = 0.

    They compare histograms: rows are to be nonnegative. Sparse rows are made dense, block by block.

    Parameters
    ----------
    X : array of shape (n, d)
    Y : array of shape (l, d)

    Returns
    -------
    array of shape (n, l)
    """
    X, Y = as_float(X), as_float(Y)
    Y = Y.toarray() if issparse(Y) else Y
    xp = namespace(X, Y)
    D = xp.empty((X.shape[0], Y.shape[0]), dtype=xp.result_type(X.dtype, Y.dtype), **_device_of(X, Y))
    for rows in row_blocks(X.shape[0], 128):
        block = X[rows, :].toarray() if issparse(X) else X[rows, :]
        for j in range(Y.shape[0]):
            total = block + Y[j, :]
            D[rows, j] = xp.sum((block - Y[j, :]) ** 2 / xp.where(total > 0, total, xp.ones_like(total)), axis=1)
    return D


def nearest(X: Array, centres: Array) -> tuple[Array, Array, Array]:
    """Find the two nearest centres of every row.

    Parameters
    ----------
    X : array of shape (n, d)
        Dense of any array library, or SciPy sparse.
    centres : array of shape (k, d)
        At least one.

    Returns
    -------
    labels : array of shape (n,)
        Position of the nearest centre; the smaller one of two that are equally near.
    d1, d2 : arrays of shape (n,)
        Squared distances to the nearest and to the second nearest centre (``inf`` where there is one centre only).
    """
    X, centres = as_float(X), as_float(centres)
    xp, targets = namespace(X, centres), Targets.of(centres, X)
    parts = [_two_nearest(targets.squared_distances(X[rows, :]), xp) for rows in row_blocks(X.shape[0])]
    if not parts:
        parts = [_two_nearest(xp.ones((0, centres.shape[0]), dtype=centres.dtype), xp)]
    labels, d1, d2 = (xp.concat(column) for column in zip(*parts))
    return labels, d1, d2


def _two_nearest(D: Array, xp: Any) -> tuple[Array, Array, Array]:
    labels = xp.argmin(D, axis=1)
    first = xp.min(D, axis=1)
    others = xp.arange(D.shape[1], dtype=labels.dtype, **_device_of(D))[None, :] != labels[:, None]
    D = xp.where(others, D, xp.full_like(D, xp.inf))
    return labels, first, xp.min(D, axis=1)
