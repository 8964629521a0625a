"""Anchor codes: every row as a weighted average of its nearest anchors, an n x l matrix with few entries a row.

The codes are what O(n) graph methods have instead of an n x n similarity. A row's neighbours are the m nearest anchors
by (distance, index); its weights fall with the distance and sum to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.sparse import csr_array, issparse

from .._typing import Array, Float, Int
from .backend import as_float, is_numpy, namespace, row_blocks, to_numpy
from .distances import Targets, chi2_distances, mean_squared_distance

Weights: TypeAlias = Literal["gaussian", "linear"]
Metric: TypeAlias = Literal["sqeuclidean", "chi2", "precomputed"]

MARGIN = 8
"""Further candidates taken from distances in float32, before the nearest are chosen by distances in float64."""


def anchor_codes(
    X: Array,
    anchors: Array | None,
    sizes: Sequence[int],
    *,
    weights: Weights = "gaussian",
    scale: float | None = None,
    metric: Metric = "sqeuclidean",
) -> list[csr_array]:
    """Code the rows of ``X`` by their nearest anchors, for several numbers of neighbours from one distance pass.

    Parameters
    ----------
    X : array of shape (n, d)
        Dense of any array library, or SciPy sparse. With ``metric="precomputed"``: distances, shape (n, l).
    anchors : array of shape (l, d) or None
        None with ``metric="precomputed"``.
    sizes : sequence of int
        Numbers of neighbours. ``"gaussian"`` takes at most the l there are, ``"linear"`` at most l - 1 (and 1).
    weights : {"gaussian", "linear"}
        ``"gaussian"``: ``exp(-(D_j - D_1) / scale)``, divided by their sum; ``scale=0`` gives equal weights.
        ``"linear"``: ``D_(m+1) - D_j``, divided by their sum; equal weights where all distances are equal.
    scale : float, optional
        For ``"gaussian"``; by default four times the mean distance of ``X`` to the anchors. Whoever codes data in
        blocks has to give it.
    metric : {"sqeuclidean", "chi2", "precomputed"}

    Returns
    -------
    list of csr_array of shape (n, l)
        One for each of ``sizes``; rows sum to 1, indices are sorted, float32 stays float32.
    """
    X = as_float(X)
    anchors = None if anchors is None else as_float(anchors)
    l = X.shape[1] if anchors is None else anchors.shape[0]
    if weights == "gaussian" and scale is None:
        scale = 4 * _mean_distance(X, anchors, metric)
    reach = max(_reach(size, l, weights) for size in sizes)
    distances, indices = nearest_anchors(X, anchors, reach, metric=metric)
    return _codes(distances, indices, sizes, l, weights, scale, np.float32 if _is_single(X) else np.float64)


def codes_from_distances(
    D: Array, sizes: Sequence[int], *, weights: Weights = "linear", scale: float | None = None
) -> list[csr_array]:
    """Code the rows of a block by their distances ``D`` (n x l) to the anchors; see :func:`anchor_codes`."""
    return anchor_codes(D, None, sizes, weights=weights, scale=scale, metric="precomputed")


def nearest_anchors(X: Array, anchors: Array | None, m: int, *, metric: Metric = "sqeuclidean") -> tuple[Float, Int]:
    """Find the ``m`` nearest anchors of every row, ordered by (distance, index).

    Distances in float32 only choose ``m + 8`` candidates, which are then measured again in float64: rounding would
    give wrong neighbours otherwise.

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


Search: TypeAlias = Callable[[Array], tuple[Float, Int]]


def _searcher(X: Array, anchors: Array | None, m: int, metric: Metric) -> Search:
    """Choose how a block of rows is searched."""
    if metric == "precomputed":
        return lambda block: smallest(block.toarray() if issparse(block) else block, m)
    anchors = as_float(anchors)
    if metric == "chi2":
        return lambda block: smallest(chi2_distances(block, anchors), m)
    if issparse(X) or issparse(anchors):
        # Products of sparse rows are cheap: they are formed in float64 at once.
        precise = Targets.of(anchors.astype(np.float64), X)
        return lambda block: smallest(precise.squared_distances(block.astype(np.float64)), m)
    targets = Targets.of(anchors, X)
    if _is_single(X):
        return lambda block: _nearest_in_two_steps(block, anchors, targets, m)
    return lambda block: smallest(targets.squared_distances(block), m)


def _nearest_in_two_steps(block: Array, anchors: Array, targets: Targets, m: int) -> tuple[Float, Int]:
    _, candidates = smallest(targets.squared_distances(block), min(m + MARGIN, anchors.shape[0]))
    return _measure_again(block, anchors, candidates, m)


def _measure_again(block: Array, anchors: Array, candidates: Int, m: int) -> tuple[Float, Int]:
    """Order candidate anchors by their distances in float64, summed over the squared differences themselves."""
    xp, (n, r) = namespace(anchors), candidates.shape
    candidates = np.sort(candidates, axis=1)
    exact = np.empty((n, r))
    for rows in row_blocks(n, max(1, 2**20 // max(1, r * anchors.shape[1]))):
        chosen = candidates[rows]
        taken = xp.take(anchors, _like(chosen.ravel(), anchors), axis=0)
        taken = xp.astype(xp.reshape(taken, (*chosen.shape, -1)), xp.float64)
        difference = taken - xp.astype(block[rows, :], xp.float64)[:, None, :]
        exact[rows] = to_numpy(xp.sum(difference * difference, axis=2))
    order = np.argsort(exact, axis=1, kind="stable")[:, :m]
    return np.take_along_axis(exact, order, axis=1), np.take_along_axis(candidates, order, axis=1)


def _like(indices: Int, a: Array) -> Array:
    return indices if is_numpy(a) else namespace(a).asarray(indices, device=a.device)


def smallest(D: Array, m: int) -> tuple[Float, Int]:
    """Take the ``m`` smallest entries of every row of ``D``, ordered by (value, index), as NumPy arrays."""
    if is_numpy(D):
        return _smallest_numpy(D, m)
    xp = namespace(D)
    order = xp.argsort(D, axis=1, stable=True)[:, :m]
    # Gathering through sorted values keeps to the functions that every array library has.
    return to_numpy(xp.sort(D, axis=1)[:, :m]).astype(np.float64), to_numpy(order).astype(np.int64)


def _smallest_numpy(D: Float, m: int) -> tuple[Float, Int]:
    if m < D.shape[1]:
        indices = np.sort(np.argpartition(D, m - 1, axis=1)[:, :m], axis=1)
        values = np.take_along_axis(D, indices, axis=1)
        # Where the m-th value occurs again outside, the partition chose among equals as it liked.
        tied = np.count_nonzero(values.max(axis=1, keepdims=True) >= D, axis=1) > m
        indices[tied] = np.argsort(D[tied], axis=1, kind="stable")[:, :m]
        values[tied] = np.take_along_axis(D[tied], indices[tied], axis=1)
    else:
        values, indices = D, np.broadcast_to(np.arange(m), D.shape)
    order = np.argsort(values, axis=1, kind="stable")
    return np.take_along_axis(values, order, axis=1).astype(np.float64), np.take_along_axis(indices, order, axis=1)


def _is_single(X: Array) -> bool:
    return bool(X.dtype == (np if issparse(X) else namespace(X)).float32)


def _mean_distance(X: Array, anchors: Array | None, metric: Metric) -> float:
    if metric == "sqeuclidean":
        return mean_squared_distance(X, anchors)
    blocks = (X[rows, :] for rows in row_blocks(X.shape[0]))
    sums = [float((b if metric == "precomputed" else chi2_distances(b, anchors)).sum()) for b in blocks]
    return float(np.sum(sums)) / (X.shape[0] * (X.shape[1] if anchors is None else anchors.shape[0]))


def _clip(size: int, l: int, weights: Weights) -> int:
    return max(1, min(size, l if weights == "gaussian" else l - 1))


def _reach(size: int, l: int, weights: Weights) -> int:
    """How many distances the weights of ``size`` neighbours need: the linear ones also the next one."""
    return min(l, _clip(size, l, weights) + (weights == "linear"))


def _weigh(distances: Float, m: int, weights: Weights, scale: float | None) -> Float:
    nearest = distances[:, :m]
    if weights == "linear" and m < distances.shape[1]:
        W = distances[:, m : m + 1] - nearest
    elif weights == "gaussian" and scale:
        W = np.exp(-(nearest - nearest[:, :1]) / scale)
    else:
        W = np.ones_like(nearest)
    total = W.sum(axis=1, keepdims=True)
    return np.where(total > 0, W, 1) / np.where(total > 0, total, m)


def _codes(
    distances: Float, indices: Int, sizes: Sequence[int], l: int, weights: Weights, scale: float | None, dtype: Any
) -> list[csr_array]:
    found = []
    for m in (_clip(size, l, weights) for size in sizes):
        W = _weigh(distances, m, weights, scale).astype(dtype)
        found.append(_rows_of_equal_length(W, indices[:, :m], l))
    return found


def _rows_of_equal_length(values: Float, indices: Int, l: int) -> csr_array:
    n, m = indices.shape
    order = np.argsort(indices, axis=1)
    data, columns = np.take_along_axis(values, order, axis=1), np.take_along_axis(indices, order, axis=1)
    codes = csr_array((data.ravel(), columns.astype(np.int32).ravel(), np.arange(n + 1, dtype=np.int32) * m), (n, l))
    codes.has_sorted_indices = True
    return codes
