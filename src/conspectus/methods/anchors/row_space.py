"""Views with more columns than rows, turned once into their row space: every product between samples is kept.

X = R V' with orthonormal V and R of few columns: methods that touch rows through products with anchors only do the
same in R, for a fraction of the work, and what they find there (anchors, centres, means) goes back by V = X'T.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from conspectus._typing import Array, Float
from conspectus.numerics.backend import is_numpy, to_numpy
from conspectus.views.table import Views

MOST_ROWS = 2048
"""Beyond so many rows, the decomposition costs more than it spares."""
RANK = 1e-10
"""Squared singular values below this share of the largest count as 0."""


@dataclass(frozen=True)
class Basis:
    """V = X'T, kept as its two factors (V itself would be as large as the data)."""

    X: Array
    T: Float

    def lift(self, A: Float) -> Float:
        """Return V A: columns in the row space become columns in the view's own space."""
        return np.asarray(self.X.T @ (self.T @ A))


Bases = tuple[Basis | None, ...]


def lift(matrices: tuple[Array, ...], bases: Bases) -> tuple[Array, ...]:
    """Take one matrix a view, with the view's columns as its rows, back to the views' own columns."""
    return tuple(A if basis is None else basis.lift(A) for A, basis in zip(matrices, bases))


def in_row_space(views: Views) -> tuple[Views, Bases]:
    """Turn the views that gain from it; return them with the way back (None where nothing was done)."""
    sources, bases, where = list(views.sources), [], views.where.copy()
    steps, columns = list(views.steps), list(views.columns)
    for p in range(views.n_views):
        turned = _turned(views, p)
        bases.append(None if turned is None else turned[1])
        if turned is not None:
            sources[p], steps[p], columns[p] = turned[0], (), None
            seen = views.seen[:, p]
            where[seen, p] = np.arange(int(seen.sum()))
    return replace(views, sources=tuple(sources), steps=tuple(steps), columns=tuple(columns), where=where), tuple(bases)


def _turned(views: Views, p: int) -> tuple[Float, Basis] | None:
    rows, source = int(views.seen[:, p].sum()), views.sources[p]
    if rows > MOST_ROWS or not (is_numpy(source) or sparse.issparse(source)):
        return None
    X = views.data(p)
    if X.shape[1] <= rows:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        K = np.asarray(to_numpy(X @ X.T), dtype=np.float64)
    if not np.isfinite(K).all() or K.max() < 1e-200:
        return None
    values, U = np.linalg.eigh(K)
    kept = values > RANK * values[-1]
    root = np.sqrt(values[kept])
    return (U[:, kept] * root).astype(X.dtype), Basis(X, U[:, kept] / root)
