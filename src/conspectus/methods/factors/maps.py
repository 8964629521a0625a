"""How a sample gets its coefficients from fixed bases: the one map of the nonnegative factor methods."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conspectus._typing import Array, Float
from conspectus.methods.factors.one_view import in_float64
from conspectus.numerics.nonnegative import nonnegative_rows
from conspectus.numerics.rows import unit_rows
from conspectus.views.table import Views


@dataclass(frozen=True)
class Coefficients:
    """z_v = argmin over z >= 0 of |c_v x_v - U_v z|^2 in each view, then their weighted mean over the views seen.

    Attributes
    ----------
    U : tuple of arrays, shape (d_v, k)
        The bases; rows of a method with joint coefficients share one z, which fits all views seen at once.
    scales : tuple of float
        c_v, what the rows are multiplied by.
    weights : tuple of float
        Of the views, in the mean.
    joint : bool
        One least squares problem over all views seen in the place of a mean of separate ones.
    penalty : tuple of float
        l_v of an L1 penalty sum_v l_v |z|_1 over the views seen.
    unit : bool
        Whether rows are scaled to unit length.
    """

    U: tuple[Float, ...]
    scales: tuple[float, ...]
    weights: tuple[float, ...]
    joint: bool = False
    penalty: tuple[float, ...] | None = None
    unit: bool = True

    def __call__(self, views: Views) -> Array:
        Z = self._jointly(views) if self.joint else self._separately(views)
        return unit_rows(Z) if self.unit else Z

    def _separately(self, views: Views) -> Array:
        return views.average(
            [nonnegative_rows(U.T @ U, B) for U, B in zip(self.U, self._products(views))], self.weights
        )

    def _jointly(self, views: Views) -> Float:
        """One Gram matrix for each pattern of presence."""
        total = np.sum([views.scatter(v, B) for v, B in enumerate(self._products(views))], axis=0)
        Z = np.zeros((len(views), self.U[0].shape[1]))
        patterns, group = views.patterns
        for g, pattern in enumerate(patterns):
            G = np.sum([self.U[v].T @ self.U[v] for v in np.flatnonzero(pattern)], axis=0)
            Z[group == g] = nonnegative_rows(G, total[group == g])
        return Z

    def _products(self, views: Views) -> list[Float]:
        """c_v X_v U_v less half the penalty."""
        penalty = self.penalty or (0.0,) * len(self.U)
        products = [in_float64(views.data(v)) @ U for v, U in enumerate(self.U)]
        return [np.asarray(B * c - l / 2) for B, c, l in zip(products, self.scales, penalty)]
