"""The method's first step: every prepared view as coordinates along its leading directions, at several sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from conspectus._typing import Array, Float
from conspectus.numerics.backend import namespace, to_numpy
from conspectus.numerics.rows import unit_rows
from conspectus.prepare import looks_like_text
from conspectus.views.table import Views

WHITEN = 0.75
"""Coordinate j is divided by (sigma_j / sigma_1)^WHITEN: weak directions count, but less than strong ones."""
FLOOR = 1e-9
"""Directions weaker than this share of the first are not divided by less."""
GRAM = 512
"""Up to so many columns X'X is formed once; beyond, every product with it is a pass over the rows."""


@dataclass(frozen=True)
class ViewCoordinates:
    """The rows of one view along its leading directions: ``X V - origin``, then unit rows, for each size.

    Attributes
    ----------
    V : ndarray, shape (d, q), or None
        Directions times weights; None: the columns as they are.
    origin : ndarray, shape (q,)
        The mean row in these coordinates.
    sizes : tuple of int
        How many of the directions each setting takes.
    unit : bool
        Whether rows are brought to unit length.
    lengths : tuple of float
        What each setting's rows are divided by, their root mean squared length.
    """

    V: Float | None
    origin: Float
    sizes: tuple[int, ...]
    unit: bool
    lengths: tuple[float, ...]

    def __call__(self, X: Array) -> tuple[Array, ...]:
        C = self._along(X)
        return tuple(self._scaled(C[:, :q], length) for q, length in zip(self.sizes, self.lengths))

    def largest(self, X: Array) -> Array:
        """Return the rows at the largest number of directions only."""
        return self._scaled(self._along(X), self.lengths[-1])

    def _scaled(self, C: Array, length: float) -> Array:
        return (unit_rows(C) if self.unit else C) / length

    def _along(self, X: Array) -> Array:
        if issparse(X):
            return X.toarray() if self.V is None else X @ self.V.astype(X.dtype) - self.origin.astype(X.dtype)
        if self.V is None:
            return X
        xp = namespace(X)
        like = {"dtype": X.dtype, **({} if isinstance(X, np.ndarray) else {"device": X.device})}
        return X @ xp.asarray(self.V, **like) - xp.asarray(self.origin, **like)

    @classmethod
    def fit(cls, view: Views, n_directions: Sequence[int]) -> ViewCoordinates:
        """Find the directions of one view, all of whose samples it has seen."""
        moments = view.reduce(_moments)
        plain = _directions(view, moments, n_directions)
        squares = view.reduce(_square_lengths, coordinates=plain)
        lengths = (float(np.sqrt(s / moments.n)) for s in squares)
        return replace(plain, lengths=tuple(length if length > 0 else 1.0 for length in lengths))

    def nothing(self) -> tuple[Array, ...]:
        """Return the coordinates of no rows."""
        return tuple(np.zeros((0, q)) for q in self.sizes)


@dataclass(frozen=True)
class Coordinates:
    """The coordinates of the samples of a block: ``X[v][t]``, rows of view v at the t-th number of directions."""

    views: tuple[ViewCoordinates, ...]

    @classmethod
    def fit(cls, views: Views, n_directions: Sequence[int]) -> Coordinates:
        """Find each view's directions, at most `n_directions`, but at least 10 where the view has them."""
        own = (views.only([v]).rows(views.observed(v)) for v in range(views.n_views))
        return cls(tuple(ViewCoordinates.fit(view, n_directions) for view in own))

    def __call__(self, block: Views) -> list[tuple[Array, ...]]:
        return list(self.each(block))

    def each(self, block: Views) -> Iterator[tuple[Array, ...]]:
        """Yield the coordinates of one view after the other, for steps that need one at a time."""
        for v, view in enumerate(self.views):
            yield view(block.data(v)) if block.seen[:, v].any() else view.nothing()

    def largest(self, block: Views) -> Iterator[Array]:
        """Yield each view's rows at the largest number of directions."""
        for v, view in enumerate(self.views):
            yield view.largest(block.data(v)) if block.seen[:, v].any() else view.nothing()[-1]


class Moments(NamedTuple):
    """Of one view: rows, negative and non-zero entries, the column sums, and X'X where it is small."""

    n: float
    negative: float
    nonzero: float
    total: Float
    gram: Float

    @property
    def text(self) -> bool:
        """Whether the prepared view is one of words, which is not to be centred."""
        d = len(self.total)
        return looks_like_text(d, self.negative == 0, 1 - self.nonzero / (self.n * d))


def _moments(block: Views) -> Moments:
    X = block.data(0)
    X = (X if issparse(X) else to_numpy(X)).astype(np.float64, copy=False)
    values = X.data if issparse(X) else X
    gram: Any = X.T @ X if X.shape[1] <= GRAM else np.zeros((0, 0))
    return Moments(
        float(X.shape[0]),
        float(np.count_nonzero(values < 0)),
        float(np.count_nonzero(values)),
        np.asarray(X.sum(axis=0)).ravel(),
        gram.toarray() if issparse(gram) else gram,
    )


def _directions(view: Views, moments: Moments, n_directions: Sequence[int]) -> ViewCoordinates:
    d, n, text = len(moments.total), int(moments.n), moments.text
    sizes = tuple(max(1, min(max(10, wanted), d, n // 2)) for wanted in n_directions)
    unit, lengths = text or d >= 10, (1.0,) * len(sizes)
    if text and min(sizes) >= d:
        return ViewCoordinates(None, np.zeros(d), (d,) * len(sizes), unit, lengths)
    mean = np.zeros(d) if text else moments.total / n
    V, sigma = _leading(view, mean, max(sizes), moments)
    if not text:
        V = V * np.maximum(sigma / (sigma[0] or 1.0), FLOOR) ** -WHITEN
    return ViewCoordinates(V, mean @ V, sizes, unit, lengths)


def _leading(view: Views, mean: Float, q: int, moments: Moments) -> tuple[Float, Float]:
    """Find the q leading right singular vectors of X - 1 mean', from sums over blocks of rows only."""
    if len(mean) > GRAM:
        return randomised_directions(partial(view.reduce, _product, mean=mean), len(mean), q)
    centred = moments.gram - moments.n * np.outer(mean, mean)
    return randomised_directions(lambda V: centred @ V, len(mean), q)


def randomised_directions(multiply: Callable[..., Float], d: int, q: int) -> tuple[Float, Float]:
    """Find the q leading right singular vectors of a matrix that is known by its products ``X'X V``.

    A random block of q + 10 vectors, four power steps, and the singular values of what the block spans of X: the
    usual randomised method, with the products by X and by X' made in one pass. Directions told from 0 by nothing but
    rounding are zero columns.
    """
    V = np.random.RandomState(0).normal(size=(d, q + 10))
    for _ in range(4):
        V = np.linalg.qr(multiply(V=V))[0]
    # With the orthonormal Q = X V M^(-1/2), M = V'X'X V: the right singular vectors of Q'X = M^(-1/2) (X'X V)'.
    Y = multiply(V=V)
    values, S = np.linalg.eigh(V.T @ Y)
    told = values > d * np.finfo(np.float64).eps * max(values[-1], 0)
    U, sigma, _ = np.linalg.svd(Y @ (S[:, told] / np.sqrt(values[told])), full_matrices=False)
    wide = np.zeros((d, q)), np.zeros(q)
    wide[0][:, : len(sigma)], wide[1][: len(sigma)] = U[:, :q], sigma[:q]
    return wide


def _product(block: Views, V: Float, mean: Float) -> Float:
    """X'X V of the centred rows of a view."""
    X = block.data(0)
    X = X if issparse(X) else to_numpy(X)
    XV = X @ V - mean @ V
    return np.asarray(X.T @ XV - np.outer(mean, XV.sum(axis=0)))


def _square_lengths(block: Views, coordinates: ViewCoordinates) -> Float:
    """Sum the squared lengths of the rows, for each size."""
    return np.array([float((A * A).sum()) for A in coordinates(block.data(0))])
