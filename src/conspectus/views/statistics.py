"""What each column of a view looks like, from one pass over its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from conspectus._typing import Array, Bool, Float
from conspectus.numerics.backend import namespace, to_numpy

if TYPE_CHECKING:
    from conspectus.views.table import Views


@dataclass(frozen=True)
class Statistics:
    """Moments and extremes of a view's columns over the rows that it has seen.

    Attributes
    ----------
    count : int
        Rows seen.
    mean, sd, low, high : ndarray, shape (n_columns,)
        Mean, standard deviation (of the population), least and greatest entry of each column.
    nonzero : ndarray, shape (n_columns,)
        How many entries of each column are not zero.
    whole : bool
        Whether every entry is a whole number.
    zero_rows : int
        Rows without any non-zero entry.
    """

    count: int
    mean: Float
    sd: Float
    low: Float
    high: Float
    nonzero: Float
    whole: bool
    zero_rows: int

    @property
    def constant(self) -> Bool:
        """Whether each column is constant: its spread is rounding beside its own size, in whatever unit it is."""
        return np.asarray(self.sd <= 1e-10 * np.maximum(np.abs(self.low), np.abs(self.high)))

    @property
    def zeros(self) -> float:
        """The share of entries that are zero."""
        return 1 - float(self.nonzero.sum()) / max(self.count * len(self.nonzero), 1)


def statistics(views: Views, v: int) -> Statistics:
    """Return the statistics of view `v` in its present form (after its steps)."""
    parts = [_block(block.data(v)) for _, block in views.blocks() if block.seen[:, v].any()]
    count = np.array([part[0] for part in parts], dtype=np.float64)
    means = np.stack([part[1] for part in parts])
    mean = count @ means / count.sum()
    # Within blocks and between them: no difference of large numbers.
    square = sum(part[2] for part in parts) + count @ (means - mean) ** 2
    return Statistics(
        count=int(count.sum()),
        mean=mean,
        sd=np.sqrt(square / count.sum()),
        low=np.min([part[3] for part in parts], axis=0),
        high=np.max([part[4] for part in parts], axis=0),
        nonzero=np.sum([part[5] for part in parts], axis=0),
        whole=all(part[6] for part in parts),
        zero_rows=sum(part[7] for part in parts),
    )


def _block(X: Array) -> tuple[int, Float, Float, Float, Float, Float, bool, int]:
    """Count, mean, sum of squares about it, least, greatest, non-zeros, wholeness, zero rows of a block."""
    if sparse.issparse(X):
        return _sparse_block(sparse.csr_array(X))
    xp = namespace(X)
    mean = xp.mean(xp.astype(X, xp.float64), axis=0)
    away = X - xp.astype(mean, X.dtype)
    shift = xp.mean(xp.astype(away, xp.float64), axis=0)
    square = xp.sum(xp.astype(away * away, xp.float64), axis=0) - X.shape[0] * shift**2
    nonzero = X != 0
    count = xp.sum(xp.astype(nonzero, xp.float64), axis=0)
    whole = bool(xp.all(xp.round(X) == X))
    zero_rows = X.shape[0] - int(xp.sum(xp.astype(xp.any(nonzero, axis=1), xp.int64)))
    low, high = xp.min(X, axis=0), xp.max(X, axis=0)
    mean, square, low, high, count = (_double(a) for a in (mean, square, low, high, count))
    return X.shape[0], mean, np.maximum(square, 0), low, high, count, whole, zero_rows


def _sparse_block(X: Array) -> tuple[int, Float, Float, Float, Float, Float, bool, int]:
    """The same of a sparse block; what is not stored is zero."""
    n = X.shape[0]
    X = X.astype(np.float64)
    mean = np.asarray(X.mean(axis=0)).reshape(-1)
    square = np.asarray((X * X).sum(axis=0)).reshape(-1) - n * mean**2
    low = X.min(axis=0).toarray().reshape(-1)
    high = X.max(axis=0).toarray().reshape(-1)
    stored = sparse.csr_array((X.data != 0, X.indices, X.indptr), shape=X.shape)
    count = np.asarray(stored.sum(axis=0), dtype=np.float64).reshape(-1)
    zero_rows = n - int((np.asarray(stored.sum(axis=1)).reshape(-1) > 0).sum())
    return n, mean, np.maximum(square, 0), low, high, count, bool((np.round(X.data) == X.data).all()), zero_rows


def _double(a: Array) -> Float:
    return np.asarray(to_numpy(a), dtype=np.float64)
