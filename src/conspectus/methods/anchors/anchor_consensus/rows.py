"""Steps 2, 3 and 7: every sample by its nearest anchors in each view, and what stands in for views not seen.

Sums over the samples are all that the later steps need of the data here: each function that reads rows is handed to
``views.map`` or ``views.reduce``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from conspectus._typing import Array, Bool, Float, Int
from conspectus.numerics.anchors import anchor_codes
from conspectus.numerics.backend import to_numpy
from conspectus.numerics.distances import squared_norms
from conspectus.numerics.kmeans import kmeans
from conspectus.views.table import Views

from .coordinates import Coordinates

FILL_NEIGHBOURS = 3
"""Consensus anchors that a sample's missing row is averaged over."""
GOOD = 1e-9
"""Below this weight no row of the view is near a consensus anchor."""
SUB = 20_000
"""Rows that the consensus anchors are found on."""


class Settings(NamedTuple):
    """The grid of settings at which graphs are built, and the weight of the global part beside them."""

    directions: tuple[int, ...]
    """Directions of a view, in units of the number of clusters."""
    neighbours: tuple[int, ...]
    weight: float


FULL = Settings((2, 4), (5, 12), 4.0)
FAST = Settings((3,), (10,), 1.0)


def chosen(order: Int, seen: Bool, l: int) -> Int:
    """Take the first l samples of a random order that are seen; all of them where there are no more."""
    return np.sort(order[seen[order]][:l])


@dataclass(frozen=True)
class Anchors:
    """The anchors of each view: some of its rows, the same ones for every number of directions."""

    rows: tuple[tuple[Array, ...], ...]
    neighbours: tuple[int, ...]

    @classmethod
    def fit(cls, views: Views, coordinates: Coordinates, order: Int, l: int, neighbours: tuple[int, ...]) -> Anchors:
        picked = (chosen(order, views.seen[:, v], l) for v in range(views.n_views))
        return cls(tuple(coordinates(views.rows(rows))[v] for v, rows in enumerate(picked)), neighbours)

    @property
    def offsets(self) -> Int:
        """Where the columns of each view begin, and the number of all."""
        return np.cumsum([0, *(len(sized[0]) for sized in self.rows)])

    def codes(self, X: Iterable[tuple[Array, ...]], block: Views) -> tuple[Any, ...]:
        """Return [Z_1 ... Z_V] for each setting: a row's weights on its nearest anchors, empty where unseen."""
        per_view = [self._of_view(sized, v, block) for v, sized in enumerate(X)]
        return tuple(sparse.csr_array(sparse.hstack(parts, format="csr")) for parts in zip(*per_view))

    def _of_view(self, sized: Sequence[Array], v: int, block: Views) -> list[Any]:
        found = (anchor_codes(A, U, self.neighbours, weights="linear") for A, U in zip(sized, self.rows[v]))
        return [block.scatter(v, Z) for codes in found for Z in codes]


def codes_of_block(block: Views, coordinates: Coordinates, anchors: Anchors) -> tuple[Any, ...]:
    """Code the samples of a block."""
    return anchors.codes(coordinates.each(block), block)


class Means(NamedTuple):
    """The local means of one view near the consensus anchors, and the moments of all its rows.

    Attributes
    ----------
    n : float
        The number of rows.
    weight : ndarray, shape (m,)
        h_v: how many of them lie near each consensus anchor.
    X, lengths : lists of ndarray, shapes (m, q) and (m,)
        R_v X_v and R_v |x|^2, for each number of directions (in the sums: without the division by h_v).
    mean, length : lists
        The mean row and the mean squared length (in the sums: the sums), likewise.
    gram : ndarray, shape (q, q)
        X_v' X_v at the largest number of directions.
    """

    n: float
    weight: Float
    X: list[Float]
    lengths: list[Float]
    mean: list[Float]
    length: list[float]
    gram: Float


class Sums(NamedTuple):
    """What one pass over the samples collects: the means of each view, and W' codes for each setting."""

    views: list[Means]
    codes: list[Float]


def sums(block: Views, W: Any, *codes: Any, coordinates: Coordinates) -> Sums:
    """Sum over a block what becomes local means."""
    per_view = [_sums_of_view(block.gather(v, W), sized) for v, sized in enumerate(coordinates.each(block))]
    return Sums(per_view, [(W.T @ Z).toarray() for Z in codes])


def _sums_of_view(W: Any, sized: Sequence[Array]) -> Means:
    X = [np.asarray(to_numpy(A), dtype=np.float64) for A in sized]
    lengths = [squared_norms(A) for A in X]
    return Means(
        float(W.shape[0]),
        np.asarray(W.sum(axis=0)).ravel(),
        [W.T @ A for A in X],
        [W.T @ length for length in lengths],
        [A.sum(axis=0) for A in X],
        [float(length.sum()) for length in lengths],
        X[-1].T @ X[-1],
    )


@dataclass(frozen=True)
class Local:
    """Who is near which consensus anchor, and so what a sample unseen in a view is taken for.

    Attributes
    ----------
    centres : ndarray, shape (m, r)
        The consensus anchors, in the coordinates of stage 1.
    good : ndarray of bool, shape (n_views, m)
        Whether the view has seen samples near the anchor: only such anchors fill its gaps.
    """

    centres: Float
    good: Bool

    def fills(self, Y0: Float, seen: Bool) -> Any:
        """Return [W_1 ... W_V]: the weights on good consensus anchors of the samples that each view has not seen."""
        parts = [self._of_view(Y0, seen[:, v], v) for v in range(seen.shape[1])]
        return sparse.csr_array(sparse.hstack(parts, format="csr"))

    def _of_view(self, Y0: Float, seen: Bool, v: int) -> Any:
        columns, unseen = np.flatnonzero(self.good[v]), np.flatnonzero(~seen)
        W = near(Y0[unseen], self.centres[columns])
        counts = np.zeros(len(seen) + 1, dtype=W.indptr.dtype)
        counts[1 + unseen] = np.diff(W.indptr)
        indices, indptr = columns[W.indices].astype(W.indices.dtype), np.cumsum(counts, dtype=counts.dtype)
        return sparse.csr_array((W.data, indices, indptr), (len(seen), len(self.centres)))


def local_means(total: Sums, centres: Float, offsets: Int) -> tuple[Local, list[Means], list[Any]]:
    """Divide the sums: who fills gaps, the means of each view, and for each setting T, with T_v = R_v Z_v as blocks."""
    good = np.stack([view.weight > GOOD for view in total.views])
    scales = [np.where(g, 1 / np.where(g, view.weight, 1), 0) for view, g in zip(total.views, good)]
    divided = [_divided(view, h) for view, h in zip(total.views, scales)]
    cuts = list(zip(scales, offsets, offsets[1:]))
    blocks = ([sparse.csr_array(h[:, None] * WZ[:, a:b]) for h, a, b in cuts] for WZ in total.codes)
    return Local(centres, good), divided, [sparse.csr_array(sparse.block_diag(T, format="csr")) for T in blocks]


def _divided(view: Means, h: Float) -> Means:
    return view._replace(
        X=[h[:, None] * A for A in view.X],
        lengths=[h * length for length in view.lengths],
        mean=[total / view.n for total in view.mean],
        length=[total / view.n for total in view.length],
    )


def consensus_anchors(Y0: Float, order: Int, k: int, seed: int) -> Float:
    """Find the centres of a short k-means on the first rows of a random order."""
    m = min(len(Y0), max(2, min(max(10 * k, 100), len(Y0) // 4)))
    return kmeans(Y0[order[:SUB]], m, n_init=1, max_iter=10, seed=seed)[1]


def near(Y0: Float, centres: Float) -> Any:
    """Weigh the consensus anchors that a sample lies near."""
    return anchor_codes(Y0, centres, [FILL_NEIGHBOURS], weights="linear")[0]
