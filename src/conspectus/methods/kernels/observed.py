"""Kernels on what a view has seen: centred at the mean of the observed rows, and scaled to unit length there.

In feature space a row becomes (phi(x) - mean) / |phi(x) - mean|, the mean over the observed rows of the view. Entries
of unseen samples are never read, neither to fit nor to predict.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from conspectus._typing import Array, Float
from conspectus.numerics.backend import row_blocks, to_numpy
from conspectus.numerics.distances import squared_norms
from conspectus.numerics.kernels import (
    centre_kernel,
    cosine_kernel,
    gaussian_kernel,
    linear_kernel,
    mean_pairwise_distance,
    normalise_kernel,
    polynomial_kernel,
)
from conspectus.views.table import Views

Function: TypeAlias = Callable[[Array, Array], Float]
Kernel: TypeAlias = str | Function
NAMES = ("gaussian", "linear", "polynomial", "cosine", "precomputed")
WIDTH_ROWS = 2000
"""Rows that the mean distance of a view's pairs is taken over; of larger views, so many drawn at random."""


class Side(Protocol):
    """Coordinates of one view's rows in the feature space of its kernel, times a matrix."""

    def project(self, block: Views, v: int, R: Float) -> Float:
        """Return the coordinates of the samples that view `v` has seen, times `R`."""


@dataclass(frozen=True)
class Similarity:
    """A kernel function with its parameters: between rows, and of rows with themselves.

    `width` is the s of a Gaussian. A linear kernel divides rows by it, so that entries of 1e-9 are not taken for 0.
    """

    kernel: Kernel
    width: float = 1.0

    def __call__(self, X: Array, Y: Array) -> Float:
        if self.kernel == "gaussian":
            return gaussian_kernel(X, Y, self.width)
        if self.kernel == "linear":
            return linear_kernel(X / self.width, Y / self.width)
        if self.kernel == "polynomial":
            return polynomial_kernel(X, Y)
        if self.kernel == "cosine":
            return cosine_kernel(X, Y)
        assert callable(self.kernel)
        return np.asarray(to_numpy(self.kernel(X, Y)), dtype=np.float64)

    def of_itself(self, X: Array) -> Float:
        """Return k(x, x) of every row."""
        if self.kernel == "gaussian":
            return np.ones(X.shape[0])
        if callable(self.kernel):
            return np.concatenate([np.zeros(0), *(np.diagonal(self(X[i], X[i])) for i in row_blocks(X.shape[0], 64))])
        squares = np.asarray(to_numpy(squared_norms(X / self.width)), dtype=np.float64)
        if self.kernel == "cosine":
            return (squares > 0).astype(np.float64)
        return squares if self.kernel == "linear" else (squares + 1) ** 2


def similarity(views: Views, v: int, kernel: Kernel, normalize: bool = True, seed: int = 0) -> Similarity:
    """Set the width: of a Gaussian to the mean distance of the pairs of observed rows, else to the largest entry."""
    if kernel == "linear" and normalize:
        return Similarity(kernel, largest_entry(views, v))
    if kernel != "gaussian":
        return Similarity(kernel)
    rows = views.observed(v)
    if len(rows) > WIDTH_ROWS:
        rows = np.sort(np.random.default_rng(seed).choice(rows, WIDTH_ROWS, replace=False))
    return Similarity(kernel, mean_pairwise_distance(views.rows(rows).data(v)))


def largest_entry(views: Views, v: int) -> float:
    """Return the largest modulus among the observed entries; 1 where all are 0."""
    facts = views.statistics(v)
    return max(float(np.abs(facts.low).max()), float(np.abs(facts.high).max())) or 1.0


@dataclass(frozen=True)
class KernelRows:
    """The kernel of any rows with the observed rows of a view, centred and normalised by the latter.

    Attributes
    ----------
    similarity : Similarity
        The kernel function.
    X : array or None
        The observed rows; None where kernels are given, whose columns then belong to the observed samples.
    means : ndarray, shape (n_observed,)
        Mean over the observed rows of every column of the kernel as it was.
    diagonal : ndarray, shape (n_observed,)
        Diagonal of the centred kernel.
    typical : float
        Mean of the diagonal of the kernel as it was: what takes the place of k(x, x) where kernels are given.
    normalize : bool
        Whether anything is done at all.
    """

    similarity: Similarity
    X: Array | None
    means: Float
    diagonal: Float
    typical: float
    normalize: bool

    def project(self, block: Views, v: int, R: Float) -> Float:
        """Return k(x)'R for the samples that view `v` has seen."""
        if not block.seen[:, v].any():
            return np.zeros((0, R.shape[1]))
        K, own = self._raw(block.data(v))
        if not self.normalize:
            return K @ R
        means, mean = K.mean(axis=1), self.means.mean()
        centred = K - means[:, None] - self.means + mean
        return np.asarray(normalise_kernel(centred, own - 2 * means + mean, self.diagonal) @ R)

    def _raw(self, data: Array) -> tuple[Float, Float]:
        """The kernel as it is, and that of each row with itself."""
        if self.X is None:
            return np.asarray(to_numpy(data), dtype=np.float64), np.full(data.shape[0], self.typical)
        return self.similarity(data, self.X), self.similarity.of_itself(data)


def observed_kernel(views: Views, v: int, kernel: Kernel, normalize: bool = True) -> tuple[Float, KernelRows]:
    """Return the kernel of the samples that view `v` has seen, and the way in which further rows join it."""
    function, X = similarity(views, v, kernel, normalize), views.data(v)
    given = views.square
    K = np.asarray(to_numpy(X) if given else function(X, X), dtype=np.float64)
    K = (K + K.T) / 2
    centred = centre_kernel(K) if normalize else K
    side = KernelRows(
        function,
        None if given else X,
        K.mean(axis=0),
        np.diagonal(centred).copy(),
        float(K.trace() / len(K)),
        normalize,
    )
    return normalise_kernel(centred) if normalize else K, side


def zero_filled(views: Views, v: int, K: Float) -> Float:
    """Put the kernel of the observed samples among all samples; the rest is 0."""
    whole = np.zeros((len(views), len(views)))
    whole[np.ix_(views.observed(v), views.observed(v))] = K
    return whole
