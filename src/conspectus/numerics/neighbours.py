"""The nearest of many: the few smallest distances of every row, ordered by (distance, index)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
from scipy.sparse import issparse

from .._typing import Array, Float, Int
from .backend import BLOCK, as_float, has_numba, is_numpy, namespace, row_blocks, to_numpy
from .distances import Targets, chi2_distances, squared_norms

Metric: TypeAlias = Literal["sqeuclidean", "chi2", "precomputed"]
Search: TypeAlias = Callable[[Array], tuple[Float, Int]]

MARGIN = 8
"""Further candidates taken from distances in float32, before the nearest are chosen by distances in float64."""


def nearest_anchors(X: Array, anchors: Array | None, m: int, *, metric: Metric = "sqeuclidean") -> tuple[Float, Int]:
    """Find the ``m`` nearest anchors of every row, ordered by (distance, index).

    Rows are searched in blocks; no n x l array is formed. Distances in float32 only choose ``m + 8`` candidates, which
    are then measured again in float64: rounding would give wrong neighbours otherwise.

    Parameters
    ----------
    X : array of shape (n, d)
        Dense of any array library, or SciPy sparse. With ``metric="precomputed"``: distances, shape (n, l).
    anchors : array of shape (l, d) or None
        None with ``metric="precomputed"``.
    m : int
        At most l.
    metric : {"sqeuclidean", "chi2", "precomputed"}

    Returns
    -------
    distances : array of shape (n, m)
        NumPy, float64.
    indices : array of shape (n, m)
        NumPy.
    """
    X = as_float(X)
    D, I = np.empty((X.shape[0], m)), np.empty((X.shape[0], m), dtype=np.int64)
    search = _searcher(X, anchors, m, metric)
    for rows in row_blocks(X.shape[0]):
        D[rows], I[rows] = search(X[rows, :])
    return D, I


def _searcher(X: Array, anchors: Array | None, m: int, metric: Metric) -> Search:
    """Choose how a block of rows is searched."""
    compiled = _compiled_pays(X.shape[0])
    if metric == "precomputed":
        return lambda block: smallest(block.toarray() if issparse(block) else block, m, compiled)
    anchors = as_float(anchors)
    if metric == "chi2":
        return lambda block: smallest(chi2_distances(block, anchors), m, compiled)
    if issparse(X) or issparse(anchors):
        # Products of sparse rows are cheap: they are formed in float64 at once.
        precise = Targets.of(anchors.astype(np.float64), X)
        return lambda block: smallest(precise.squared_distances(block.astype(np.float64)), m, compiled)
    first = _dense_search(X, anchors, compiled)
    if X.dtype == namespace(X).float64:
        return lambda block: first(block, m)
    reach = min(m + MARGIN, anchors.shape[0])
    return lambda block: _measure_again(block, anchors, first(block, reach)[1], m, compiled)


def _dense_search(X: Array, anchors: Array, compiled: bool) -> Callable[[Array, int], tuple[Float, Int]]:
    targets = Targets.of(anchors, X)
    if not is_numpy(X, anchors):
        return lambda block, m: smallest(targets.squared_distances(block), m, compiled)
    # One workspace for all blocks: fresh pages cost as much as the product that is written into them.
    work = np.empty((min(BLOCK, X.shape[0]), len(anchors)), dtype=np.result_type(X, anchors))
    if not compiled:
        return lambda block, m: smallest(targets.squared_distances(block, work[: len(block)]), m, compiled)

    def search(block: Float, m: int) -> tuple[Float, Int]:
        from ._compiled import nearest_of_products

        block, (values, indices) = block - targets.origin, _room(len(block), m, work.dtype)
        products = np.matmul(block, targets.Y.T, out=work[: len(block)])
        nearest_of_products(products, squared_norms(block), targets.lengths, values, indices)
        return values, indices

    return search


def _compiled_pays(rows: int) -> bool:
    """Compiled selection gives the same bits, so that it may also be used because it happens to be loaded."""
    return has_numba(rows) or (has_numba() and f"{__package__}._compiled" in sys.modules)


def _room(n: int, m: int, dtype: np.dtype[np.floating]) -> tuple[Float, Int]:
    return np.empty((n, m), dtype), np.empty((n, m), dtype=np.int64)


def _measure_again(block: Array, anchors: Array, candidates: Int, m: int, compiled: bool) -> tuple[Float, Int]:
    """Order candidate anchors by their distances in float64, summed over the squared differences themselves."""
    candidates = np.sort(candidates, axis=1)
    if compiled and is_numpy(block, anchors):
        from ._compiled import nearest_of_candidates

        values, indices = _room(len(block), m, np.dtype(np.float64))
        nearest_of_candidates(block, anchors, candidates, values, indices)
        return values, indices
    values = _exact_distances(block, anchors, candidates)
    order = np.argsort(values, axis=1, kind="stable")[:, :m]
    return np.take_along_axis(values, order, axis=1), np.take_along_axis(candidates, order, axis=1)


def _exact_distances(block: Array, anchors: Array, candidates: Int) -> Float:
    xp, (n, r) = namespace(anchors), candidates.shape
    exact = np.empty((n, r))
    for rows in row_blocks(n, max(1, 2**20 // max(1, r * anchors.shape[1]))):
        chosen = candidates[rows]
        indices = chosen.ravel() if is_numpy(anchors) else xp.asarray(chosen.ravel(), device=anchors.device)
        taken = xp.reshape(xp.take(anchors, indices, axis=0), (*chosen.shape, -1))
        difference = xp.astype(taken, xp.float64) - xp.astype(block[rows, :], xp.float64)[:, None, :]
        exact[rows] = to_numpy(xp.sum(difference * difference, axis=2))
    return exact


def smallest(D: Array, m: int, compiled: bool | None = None) -> tuple[Float, Int]:
    """Take the ``m`` smallest entries of every row of ``D``, ordered by (value, index), as NumPy arrays."""
    if not is_numpy(D):
        xp = namespace(D)
        order = xp.argsort(D, axis=1, stable=True)[:, :m]
        return to_numpy(xp.sort(D, axis=1)[:, :m]), to_numpy(order).astype(np.int64)
    if _compiled_pays(len(D)) if compiled is None else compiled:
        from ._compiled import smallest_of_rows

        values, indices = _room(len(D), m, D.dtype)
        smallest_of_rows(D, values, indices)
        return values, indices
    return _smallest_numpy(D, m)


def _smallest_numpy(D: Float, m: int) -> tuple[Float, Int]:
    groups = max(32, 3 * m)
    if D.shape[1] < 2 * groups:
        values, indices = D, np.broadcast_to(np.arange(D.shape[1]), D.shape)
    else:
        values, indices = _up_to(D, _bound(D, m, groups))
    order = np.argsort(values, axis=1, kind="stable")[:, :m]
    return np.take_along_axis(values, order, axis=1), np.take_along_axis(indices, order, axis=1)


def _bound(D: Float, m: int, groups: int) -> Float:
    """Bound the m-th smallest entry of every row by the m-th smallest of the minima of disjoint groups of columns."""
    whole = D.shape[1] // groups * groups
    minima = D[:, :whole].reshape(len(D), -1, groups).min(axis=1)
    return np.partition(minima, m - 1, axis=1)[:, m - 1 : m]


def _up_to(D: Float, bound: Float) -> tuple[Float, Int]:
    """Move every row's entries up to its bound to the front, in the order of their columns; ``inf`` fills the rest."""
    rows, columns = np.divmod(np.flatnonzero(bound >= D), D.shape[1])
    counts = np.bincount(rows, minlength=len(D))
    place = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    shape = (len(D), counts.max(initial=0))
    values, indices = np.full(shape, np.inf, D.dtype), np.zeros(shape, np.int64)
    values[rows, place], indices[rows, place] = D[rows, columns], columns
    return values, indices
