"""Fillings that take all views side by side for a matrix of low rank."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

import numpy as np

from conspectus._typing import Array, Bool, Float
from conspectus.fill.fillers import Filler
from conspectus.numerics.backend import to_numpy
from conspectus.numerics.low_rank import completion_steps, decomposition_steps, scaled_directions
from conspectus.views.table import Views

MOST_STEPS = 500
RANK = 1e-4
"""Directions of the training matrix below this share of the largest are not used for new samples."""


@dataclass(frozen=True)
class LowRankRows:
    """New samples join the training matrix A = U S V': the shortest u whose row u S V' has the entries that were seen.

    Attributes
    ----------
    directions : tuple of arrays, shape (n_features, r)
        V S of each view.
    scale : tuple of float
        What each view was divided by.
    nonnegative : tuple of bool
        Whether filled rows are clipped at 0.
    """

    directions: tuple[Float, ...]
    scale: tuple[float, ...]
    nonnegative: tuple[bool, ...]

    def __call__(self, views: Views, v: int) -> Array:
        unseen = views.missing(v)
        block = views.rows(unseen)
        patterns, group = block.patterns
        rows = np.zeros((len(unseen), len(self.directions[v])))
        for g, pattern in enumerate(patterns):
            members, seen = np.flatnonzero(group == g), np.flatnonzero(pattern).tolist()
            if seen:
                part = block.rows(members)
                X = np.hstack([to_numpy(part.data(u)) / self.scale[u] for u in seen])
                B = np.vstack([self.directions[u] for u in seen])
                rows[members] = (X @ np.linalg.pinv(B, rcond=RANK).T) @ self.directions[v].T
        return self.restored(rows, v)

    def restored(self, rows: Float, v: int) -> Float:
        """Rows in the scale of the view; not negative where it never is."""
        rows = rows * self.scale[v]
        return np.maximum(rows, 0) if self.nonnegative[v] else rows


def completed(views: Views, n_neighbors: int = 0) -> tuple[Filler, list[Array]]:
    """Fill with the matrix of least nuclear norm that agrees with what was seen."""
    return _low_rank(views, _complete)


def without_outliers(views: Views, n_neighbors: int = 0) -> tuple[Filler, list[Array]]:
    """Fill with means first, then take the low-rank part of the incomplete samples (robust PCA)."""
    return _low_rank(views, _decompose)


def _low_rank(views: Views, recover: Callable[[Float, Bool], Float]) -> tuple[Filler, list[Array]]:
    scale = tuple(_row_length(views, v) for v in range(views.n_views))
    parts = [to_numpy(views.data(v)) / scale[v] for v in range(views.n_views)]
    widths = [part.shape[1] for part in parts]
    ends = np.cumsum([0, *widths])
    seen = np.repeat(views.seen, widths, axis=1)
    D = np.hstack([views.scatter(v, part) for v, part in enumerate(parts)]).astype(np.float64)
    A = recover(D, seen)
    blocks = [A[:, a:b] for a, b in pairwise(ends)]
    VS = scaled_directions(np.where(seen, D, A), RANK)
    nonnegative = tuple(bool(views.statistics(v).low.min() >= 0) for v in range(views.n_views))
    filler = LowRankRows(tuple(VS[a:b] for a, b in pairwise(ends)), scale, nonnegative)
    return filler, [filler.restored(block[views.missing(v)], v) for v, block in enumerate(blocks)]


def _row_length(views: Views, v: int) -> float:
    """The root mean square length of a view's rows: views count alike, whatever their units."""
    facts = views.statistics(v)
    return float(np.sqrt((facts.mean**2 + facts.sd**2).sum())) or 1.0


def _complete(D: Float, seen: Bool) -> Float:
    return np.asarray(_until_met(completion_steps(D, seen), 1e-4).A)


def _decompose(D: Float, seen: Bool) -> Float:
    """The released code's way: robust PCA of the incomplete samples, features as rows, after filling with means."""
    mean = np.where(seen, D, 0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    D = np.where(seen, D, mean)
    partial = ~seen.all(axis=1)
    if partial.any():
        D[partial] = _until_met(decomposition_steps(D[partial].T), 1e-7).A.T
    return D


def _until_met(steps: Iterator[tuple[float, Any]], tol: float) -> Any:
    """End as soon as the constraint is met: the residual itself decides, not its change."""
    state = None
    for residual, state in islice(steps, MOST_STEPS):  # noqa: B007
        if residual < tol:
            break
    return state
