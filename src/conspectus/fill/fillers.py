"""Fillings that look at one row, or at the nearest rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import sparse

from conspectus._typing import Array, Float, Int
from conspectus.numerics.backend import row_blocks, to_numpy
from conspectus.numerics.distances import mean_squared_distance, squared_distances
from conspectus.numerics.neighbours import smallest
from conspectus.views.table import Views


class Filler(Protocol):
    """What a filling has learnt."""

    def __call__(self, views: Views, v: int) -> Array:
        """Return the rows of the samples that view v has not seen: one for each, or one for all."""


class Learn(Protocol):
    """A kind of filling: learns from the training samples."""

    def __call__(self, views: Views, n_neighbors: int) -> tuple[Filler, list[Array] | None]:
        """Return what new samples are filled by, and the training samples' own rows where they are others."""


@dataclass(frozen=True)
class OneRow:
    """The same row for every sample."""

    rows: tuple[Float, ...]

    def __call__(self, views: Views, v: int) -> Array:
        return self.rows[v][None, :]


def mean_rows(views: Views, n_neighbors: int = 0) -> tuple[Filler, None]:
    """Fill with the mean of the rows that the view has seen."""
    return OneRow(tuple(views.statistics(v).mean for v in range(views.n_views))), None


def zero_rows(views: Views, n_neighbors: int = 0) -> tuple[Filler, None]:
    """Fill with zeros."""
    return OneRow(tuple(np.zeros(len(views.statistics(v).mean)) for v in range(views.n_views))), None


@dataclass(frozen=True)
class NearestRows:
    """The mean over the nearest training samples that the view has seen.

    Two samples are compared by the views that saw both: by the mean of their squared distances, each in units of the
    mean one of its view. A sample that shares no view with any such training sample gets the view's mean.
    """

    training: Views
    scale: tuple[float, ...]
    m: int

    def __call__(self, views: Views, v: int) -> Array:
        unseen, donors = views.missing(v), self.training.observed(v)
        Y = self.training.data(v)
        Y = Y if sparse.issparse(Y) else to_numpy(Y)
        if not len(unseen):
            return np.zeros((0, Y.shape[1]))
        blocks = [self._weights(views.rows(unseen[rows]), donors) @ Y for rows in row_blocks(len(unseen))]
        return sparse.vstack(blocks, format="csr") if sparse.issparse(Y) else np.concatenate(blocks)

    def _weights(self, block: Views, donors: Int) -> sparse.csr_array:
        """Equal shares of the nearest donors of each sample; of all, where there is nothing to compare it by."""
        near, columns = smallest(self._distances(block, self.training.rows(donors)), min(self.m, len(donors)))
        known = np.isfinite(near)
        shares = known / np.maximum(known.sum(axis=1, keepdims=True), 1)
        rows = np.arange(len(block) + 1) * near.shape[1]
        W = sparse.csr_array((shares.ravel(), columns.ravel(), rows), shape=(len(block), len(donors)))
        lonely = (shares.sum(axis=1) == 0).astype(np.float64)
        return sparse.csr_array(W.toarray() + lonely[:, None] / len(donors)) if lonely.any() else W

    def _distances(self, block: Views, donors: Views) -> Float:
        """Mean squared distances over the views that saw both; infinite where none did."""
        total, count = np.zeros((len(block), len(donors))), np.zeros((len(block), len(donors)))
        for u in range(block.n_views):
            i, j = block.observed(u), donors.observed(u)
            if len(i) and len(j):
                D = to_numpy(squared_distances(block.data(u), donors.data(u))) / self.scale[u]
                total[np.ix_(i, j)] += D
                count[np.ix_(i, j)] += 1
        return np.where(count > 0, total / np.maximum(count, 1), np.inf)


def nearest_rows(views: Views, n_neighbors: int) -> tuple[Filler, None]:
    """Fill with the mean of the nearest samples that the view has seen."""
    scale = tuple(mean_squared_distance(views.data(v), views.data(v)) or 1.0 for v in range(views.n_views))
    return NearestRows(views.load(), scale, n_neighbors), None
