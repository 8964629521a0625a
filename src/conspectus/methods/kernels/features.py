"""Features whose inner products are a view's kernel, so that nothing grows faster than the number of samples.

y(x) = (z(x) - mean) / |phi(x) - mean| reproduces centring and normalisation in feature space. For linear and cosine
kernels z(x) is the row itself, and nothing is approximated. Otherwise z(x) = A'c(x), where c(x) are kernel values with
l landmark rows and AA' the inverse of the landmarks' own kernel (Nystroem), cut to its leading directions. The length
|phi(x) - mean| needs no cut: its square is k(x, x) - 2 c'w + m'w, with m the mean of c(x) and w the inverse times m.

The data are passed over in blocks: once for the mean, once for the Gram matrix of all y(x), once for what is wanted of
them. Gaussian kernel values are computed in float32, Gram matrices are summed in float64.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState
from scipy import sparse

from conspectus._typing import Array, Float
from conspectus.methods.kernels.base_partitions import Partitions, eigenpartition, inverse
from conspectus.methods.kernels.kernel_sets import FeatureKernels
from conspectus.methods.kernels.observed import Kernel, Side, Similarity, largest_entry, similarity
from conspectus.numerics.backend import namespace, row_blocks, to_numpy
from conspectus.numerics.distances import squared_norms
from conspectus.numerics.rows import unit_rows
from conspectus.views.table import Views

EXPLICIT_COLUMNS = 1024
"""Up to so many columns, rows are their own features under linear and cosine kernels."""
DIRECTIONS = 1e-6
"""Eigenvalues of the landmarks' kernel below this share of the largest are rounding in float32."""


@dataclass(frozen=True)
class RowFeatures:
    """Rows (for the cosine, of unit length; else divided by `scale`) less their mean, scaled to unit length."""

    cosine: bool
    scale: float
    mean: Float
    normalize: bool

    @property
    def width(self) -> int:
        """How many features there are."""
        return len(self.mean)

    def raw(self, block: Views, v: int) -> Array:
        """Return z(x) before anything is subtracted."""
        X = block.data(v)
        X = unit_rows(X) if self.cosine else X / self.scale
        return X if sparse.issparse(X) else namespace(X).astype(X, namespace(X).float64)

    def sums(self, block: Views, v: int) -> Float:
        """Sum z(x)."""
        return column_sums(self.raw(block, v))

    def centred_at(self, mean: Float) -> RowFeatures:
        """Move the origin."""
        return replace(self, mean=mean)

    def project(self, block: Views, v: int, R: Float) -> Float:
        """Return y(x)'R."""
        X = self.raw(block, v)
        if not self.normalize:
            return times(X, R)
        if not sparse.issparse(X):
            Z = X - beside(self.mean, X)
            return times(Z, R) * over_root(np.asarray(to_numpy(squared_norms(Z))))[:, None]
        squares = squared_norms(X) - 2 * (X @ self.mean) + self.mean @ self.mean
        return (times(X, R) - self.mean @ R) * over_root(squares)[:, None]


@dataclass(frozen=True)
class NystroemFeatures:
    """Kernel values with landmarks, turned into coordinates.

    Attributes
    ----------
    similarity : Similarity
        The kernel.
    U : array, shape (l, d)
        The landmarks.
    A : ndarray, shape (l, r)
        The leading directions, divided by the roots of their eigenvalues.
    mean : ndarray, shape (l,)
        m: the mean of c(x) over the observed rows.
    w : ndarray, shape (l,)
        The inverse of the landmarks' kernel times m.
    normalize : bool
        Whether features are centred and scaled.
    """

    similarity: Similarity
    U: Array
    A: Float
    mean: Float
    w: Float
    normalize: bool

    @property
    def width(self) -> int:
        """How many features there are."""
        return int(self.A.shape[1])

    def raw(self, block: Views, v: int) -> Float:
        """Return c(x)."""
        X = block.data(v)
        if self.similarity.kernel != "gaussian" or not self.similarity.width > 0:
            return self.similarity(X, self.U)
        return gaussian_block(X, self.U, self.similarity.width)

    def sums(self, block: Views, v: int) -> Float:
        """Sum c(x)."""
        return column_sums(self.raw(block, v))

    def centred_at(self, mean: Float) -> NystroemFeatures:
        """Move the origin."""
        s, Q = np.linalg.eigh(self.similarity(self.U, self.U))
        kept = s > DIRECTIONS * max(s[-1], 1e-300)
        w = Q[:, kept] @ ((Q[:, kept].T @ mean) / s[kept])
        return replace(self, mean=mean, w=w)

    def project(self, block: Views, v: int, R: Float) -> Float:
        """Return y(x)'R."""
        C = self.raw(block, v)
        M = self.A @ R
        if not self.normalize:
            return times(C, M)
        product = times(C, np.column_stack([M, self.w]))
        single = product.dtype
        squares = self.similarity.of_itself(block.data(v)) - 2 * product[:, -1] + self.mean @ self.w
        return (product[:, :-1] - (self.mean @ M).astype(single)) * over_root(squares)[:, None].astype(single)


def gaussian_block(X: Array, U: Array, width: float) -> Array:
    """exp(-|x - u|^2 / (2 s^2)) in float32: one product of rows with two more columns, and the exponential."""
    xp = namespace(U)
    U = xp.astype(U, xp.float64)
    origin = xp.mean(U, axis=0)
    Y = (U - origin) / width
    lengths = xp.sum(Y * Y, axis=1)[:, None] / -2
    targets = xp.astype(xp.concat([Y, xp.ones_like(lengths), lengths], axis=1), xp.float32).T
    C = xp.empty((X.shape[0], U.shape[0]), dtype=xp.float32, device=U.device)
    for rows in row_blocks(X.shape[0]):
        Z = X[rows, :].toarray() if sparse.issparse(X) else X[rows, :]
        Z = (xp.astype(Z, xp.float64) - origin) / width
        lengths = xp.sum(Z * Z, axis=1)[:, None] / -2
        exponents = xp.astype(xp.concat([Z, lengths, xp.ones_like(lengths)], axis=1), xp.float32) @ targets
        C[rows, :] = xp.exp(xp.where(exponents < 0, exponents, xp.zeros_like(exponents)))
    return C


def beside(M: Float, X: Array) -> Array:
    """A NumPy array in the library and precision of `X`, and on its device."""
    if sparse.issparse(X):
        return M
    xp = namespace(X)
    return xp.asarray(M, dtype=X.dtype, device=X.device)


def times(X: Array, M: Float) -> Float:
    """X M, computed where `X` lies; few columns, so the result comes back to NumPy."""
    return np.asarray(to_numpy(X @ beside(M, X)))


def column_sums(X: Array) -> Float:
    """Sum the rows in float64."""
    if sparse.issparse(X):
        return np.asarray(X.sum(axis=0)).reshape(-1)
    xp = namespace(X)
    return np.asarray(to_numpy(xp.sum(X, axis=0, dtype=xp.float64)))


def over_root(squares: Float) -> Float:
    """Return 1 / sqrt, and 0 where a row lies at the origin."""
    kept = squares > 1e-12
    return np.where(kept, 1 / np.sqrt(np.where(kept, squares, 1)), 0)


FeatureSide = RowFeatures | NystroemFeatures


class FeatureSums(NamedTuple):
    """Sums of z(x) or c(x), a view each."""

    sums: list[Float]


def feature_sums(block: Views, sides: tuple[FeatureSide, ...]) -> FeatureSums:
    """Sum the features of a block before anything is subtracted."""
    return FeatureSums([side.sums(block, v) for v, side in enumerate(sides)])


def feature_sides(
    views: Views,
    kernel: Kernel,
    normalize: bool,
    rng: RandomState,
    n_landmarks: int,
    rank: int,
) -> tuple[FeatureSide, ...]:
    """Choose the features of every view."""
    sides = tuple(_side(views, v, kernel, normalize, rng, n_landmarks, rank) for v in range(views.n_views))
    sums = views.reduce(feature_sums, sides=sides).sums
    return tuple(side.centred_at(total / n) for side, total, n in zip(sides, sums, views.seen.sum(axis=0)))


def _side(
    views: Views, v: int, kernel: Kernel, normalize: bool, rng: RandomState, n_landmarks: int, rank: int
) -> FeatureSide:
    rows, seed = views.observed(v), int(rng.randint(2**31 - 1))
    landmarks = np.sort(rng.permutation(rows)[:n_landmarks])
    if kernel in ("linear", "cosine") and views.widths[v] <= EXPLICIT_COLUMNS:
        scale = largest_entry(views, v) if normalize else 1.0
        return RowFeatures(kernel == "cosine", scale, np.zeros(views.widths[v]), normalize)
    U = views.rows(landmarks).data(v)
    U = U.toarray() if sparse.issparse(U) else U
    function = similarity(views, v, kernel, normalize, seed)
    s, Q = np.linalg.eigh(function(U, U))
    leading = np.argsort(-s)[:rank]
    leading = leading[s[leading] > DIRECTIONS * max(s.max(), 1e-300)]
    zero = np.zeros(len(s))
    return NystroemFeatures(function, U, Q[:, leading] / np.sqrt(s[leading]), zero, zero, normalize)


def stacked(
    block: Views, sides: tuple[FeatureSide, ...], fill: tuple[Float, ...] | None = None, dtype: Any = np.float64
) -> Float:
    """[y_1(x) ... y_m(x)] of a block, with 0 (or the rows `fill`) for unseen views."""
    F = np.zeros((len(block), sum(side.width for side in sides)), dtype=dtype)
    start = 0
    for v, side in enumerate(sides):
        part = slice(start, start + side.width)
        F[block.observed(v), part] = side.project(block, v, np.eye(side.width))
        if fill is not None:
            F[block.missing(v), part] = fill[v]
        start += side.width
    return F


def gram(block: Views, sides: tuple[FeatureSide, ...], fill: tuple[Float, ...] | None = None) -> Float:
    """F'F of a block."""
    F = stacked(block, sides, fill)
    return F.T @ F


def feature_means(views: Views, sides: tuple[FeatureSide, ...]) -> tuple[Float, ...]:
    """The mean of y(x) over the observed rows of each view."""
    sums = views.reduce(projected_sums, sides=sides).sums
    return tuple(total / n for total, n in zip(sums, views.seen.sum(axis=0)))


def projected_sums(block: Views, sides: tuple[FeatureSide, ...]) -> FeatureSums:
    """Sum y(x) over a block."""
    return FeatureSums([side.project(block, v, np.eye(side.width)).sum(axis=0) for v, side in enumerate(sides)])


def feature_kernels(
    views: Views, sides: tuple[FeatureSide, ...], fill: tuple[Float, ...] | None = None
) -> FeatureKernels:
    """The kernels of all samples, by the Gram matrix of their features."""
    G = views.reduce(gram, sides=sides, fill=fill)
    return FeatureKernels(G, tuple(side.width for side in sides))


def projected(block: Views, sides: tuple[Side, ...], R: tuple[Float, ...]) -> tuple[Float, ...]:
    """y_v(x)'R_v of a block, a view each; 0 in unseen rows."""
    return tuple(block.scatter(v, side.project(block, v, R[v]).astype(np.float64)) for v, side in enumerate(sides))


def feature_partitions(views: Views, k: int, sides: tuple[FeatureSide, ...], kernels: FeatureKernels) -> Partitions:
    """Take the leading eigenvectors of each view's Gram matrix, H_p = Y_p V L^(-1/2)."""
    R = []
    for part in kernels.parts:
        V, values = eigenpartition(kernels.G[part, part], min(k, part.stop - part.start))
        padded = np.zeros((len(V), k))
        padded[:, : V.shape[1]] = V * np.sqrt(inverse(values))
        R.append(padded)
    H = views.map(projected, sides=sides, R=tuple(R))
    again = [orthonormal(H_p.T @ H_p) for H_p in H]  # float32 blocks leave H'H - I at 1e-7
    return Partitions(tuple(H_p @ Q for H_p, Q in zip(H, again)), sides, tuple(r @ Q for r, Q in zip(R, again)))


def orthonormal(G: Float) -> Float:
    """Return G^(-1/2) on the range of G."""
    values, Q = np.linalg.eigh(G)
    kept = values > 1e-8 * max(float(values[-1]), 1e-300)
    return np.asarray((Q[:, kept] / np.sqrt(values[kept])) @ Q[:, kept].T)
