"""Anchor codes: every row as a weighted average of its nearest anchors, an n x l matrix with few entries a row.

The codes are what O(n) graph methods have instead of an n x n similarity. A row's neighbours are the m nearest anchors
by (distance, index); its weights fall with the distance and sum to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.sparse import csr_array, issparse

from .._typing import Array, Float, Int
from .backend import as_float, namespace, row_blocks
from .distances import chi2_distances, mean_squared_distance
from .neighbours import Metric, nearest_anchors

Weights: TypeAlias = Literal["gaussian", "linear"]


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
