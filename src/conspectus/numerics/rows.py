"""Rows and classes: unit rows, sums and means over the members of a class."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from .._typing import Array
from .backend import as_float, is_numpy, namespace
from .distances import squared_norms


def unit_rows(A: Array) -> Array:
    """Scale every row to unit Euclidean length; a row of zeros stays as it is.

    Rows whose squares would leave the range of the floating point numbers are divided by their largest entry first, so
    that neither 1e-300 nor 1e300 is lost.

    Parameters
    ----------
    A : array of shape (n, d)
        Dense of any array library, or SciPy sparse.

    Returns
    -------
    array of shape (n, d)
        A new array; sparse input gives a ``csr_array``.
    """
    A = as_float(A)
    if issparse(A):
        return _unit_sparse_rows(A)
    xp = namespace(A)
    with np.errstate(over="ignore", under="ignore"):
        squares = squared_norms(A)
    safe = 1e-30 if A.dtype == xp.float32 else 1e-250
    risky = ~((squares > safe) & (squares < 1 / safe))
    if bool(xp.any(risky)):
        A = xp.where(risky[:, None], _largest_one(A, xp), A)
        squares = squared_norms(A)
    length = xp.sqrt(squares)
    return A / xp.where(length > 0, length, xp.ones_like(length))[:, None]


def _largest_one(A: Array, xp: Any) -> Array:
    if A.shape[1] == 0:
        return A
    largest = xp.max(xp.abs(A), axis=1, keepdims=True)
    return A / xp.where(largest > 0, largest, xp.ones_like(largest))


def _unit_sparse_rows(A: csr_array) -> csr_array:
    data = unit = A.data
    for power in (np.inf, 2):
        length = csr_array((np.abs(unit), A.indices, A.indptr), A.shape)
        total = length.max(axis=1).toarray().ravel() if power == np.inf else np.sqrt(length.power(2).sum(axis=1))
        total = np.where(total > 0, total, 1)
        unit = unit / np.repeat(total, np.diff(A.indptr)).astype(data.dtype)
    return csr_array((unit, A.indices.copy(), A.indptr.copy()), A.shape)


def class_sums(Y: Array, labels: Array, k: int) -> Array:
    """Sum the rows of every class: row ``c`` is the sum of the ``Y[i]`` with ``labels[i] == c``.

    Labels outside ``0..k-1`` (such as -1, no class) are left out. Sums are formed in float64.

    Parameters
    ----------
    Y : array of shape (n, d)
        Dense of any array library, or SciPy sparse (the result is dense).
    labels : array of shape (n,)
        Whole numbers.
    k : int
        Number of classes.

    Returns
    -------
    array of shape (k, d)
        In the precision of ``Y``.
    """
    Y = as_float(Y)
    if issparse(Y) or is_numpy(Y):
        sums = _indicator(np.asarray(labels), k) @ Y
        return (sums.toarray() if issparse(sums) else sums).astype(Y.dtype)
    xp = namespace(Y)
    labels = xp.asarray(labels, device=Y.device)  # they often come from NumPy
    classes = xp.arange(k, dtype=labels.dtype, device=labels.device)
    member = xp.astype(labels[:, None] == classes[None, :], xp.float64)
    return xp.astype(member.T @ xp.astype(Y, xp.float64), Y.dtype)


def _indicator(labels: Array, k: int) -> csr_array:
    seen = np.flatnonzero((labels >= 0) & (labels < k))
    return csr_array((np.ones(len(seen)), (labels[seen], seen)), (k, len(labels)))


def class_means(Y: Array, labels: Array, k: int) -> Array:
    """Average the rows of every class; an empty class has a row of zeros.

    The arguments are those of :func:`class_sums`.
    """
    sums = class_sums(Y, labels, k)
    xp = namespace(sums)
    device = {} if is_numpy(sums) else {"device": sums.device}
    sizes = class_sums(xp.ones((Y.shape[0], 1), dtype=sums.dtype, **device), labels, k)
    return sums / xp.where(sizes > 0, sizes, xp.ones_like(sizes))
