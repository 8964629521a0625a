"""The factors of one view, with a graph on its rows and a pull towards given rows.

    min  |X - V U'|^2 + sum_i m_i |V_i Q - T_i|^2 + lam tr(Q V'LV Q)        over U, V >= 0,    Q = diag(1'U)

X (n_v x d) holds the rows that the view has seen, L = D - W is the Laplacian of a graph on them, T are the rows that V
is pulled to, each with its weight m_i. NMF is m = 0 and lam = 0, GNMF m = 0, MultiNMF lam = 0, and GPMVC has all three.
The value does not change under U <- U Q^-1, V <- V Q, so that factors are kept with columns of U that sum to one, where
Q = I. Without Q in the last term the value would fall to that of lam = 0 by scaling alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from conspectus._typing import Array, Bool, Float
from conspectus.numerics.backend import as_float, to_numpy


def in_float64(X: Array) -> Array:
    """Return NumPy or CSR in float64."""
    X = as_float(X)
    return (X if sparse.issparse(X) else to_numpy(X)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class OneView:
    """The data of one view and the graph on its rows.

    Attributes
    ----------
    X : array of shape (n_v, d)
        Nonnegative, float64, dense, CSR or `MeanFilled`.
    W : csr_array of shape (n_v, n_v) or None
        Symmetric and nonnegative.
    lam : float
        Weight of the graph.
    """

    X: Array
    W: sparse.csr_array | None = None
    lam: float = 0.0

    @classmethod
    def of(cls, X: Array, W: Any = None, lam: float = 0.0, scale: float = 1.0) -> OneView:
        """Take a matrix of any kind, times a scale."""
        return cls(in_float64(X) * scale, W if lam > 0 else None, lam)

    @classmethod
    def filled(cls, X: Array, seen: Bool, scale: float = 1.0) -> OneView:
        """Take the rows seen; the others are their mean."""
        return cls(MeanFilled(in_float64(X) * scale, seen))

    @cached_property
    def square(self) -> float:
        """|X|^2."""
        return self.X.square() if isinstance(self.X, MeanFilled) else square_sum(self.X)

    @cached_property
    def degrees(self) -> Float:
        """Lam times the diagonal of D, as a column."""
        total = np.zeros(self.X.shape[0]) if self.W is None else np.asarray(self.W.sum(axis=1)).reshape(-1)
        return float(self.lam) * total[:, None].astype(np.float64)

    @cached_property
    def _weighted(self) -> sparse.csr_array | None:
        return None if self.W is None else sparse.csr_array(self.lam * self.W, dtype=np.float64)

    @cached_property
    def _laplacian(self) -> sparse.csr_array | None:
        if self._weighted is None:
            return None
        return sparse.csr_array(sparse.diags_array(self.degrees[:, 0]) - self._weighted)

    def neighbours(self, V: Float) -> Float:
        """Lam W V."""
        return np.zeros_like(V) if self._weighted is None else self._weighted @ V

    def roughness(self, V: Float) -> Float:
        """Lam L V, the gradient of half the graph's term."""
        return np.zeros_like(V) if self._laplacian is None else self._laplacian @ V


@dataclass(frozen=True, eq=False)
class MeanFilled:
    """A matrix whose unseen rows are the mean of those seen; only the products with it are formed.

    Attributes
    ----------
    X : array of shape (n_v, d)
        The rows seen, dense or CSR.
    seen : ndarray of bool, shape (n,)
        Which rows those are.
    """

    X: Array
    seen: Bool

    @cached_property
    def mean(self) -> Float:
        """The mean row."""
        return np.asarray(self.X.mean(axis=0)).reshape(1, -1)

    @property
    def shape(self) -> tuple[int, int]:
        """Of the filled matrix."""
        return len(self.seen), int(self.X.shape[1])

    def __matmul__(self, U: Float) -> Float:
        product = np.empty((len(self.seen), U.shape[1]))
        product[self.seen], product[~self.seen] = self.X @ U, self.mean @ U
        return product

    @property
    def T(self) -> _Transposed:
        """What is multiplied from the left."""
        return _Transposed(self)

    def square(self, weight: float = 1.0) -> float:
        """Sum the squared entries, those of the filled rows with a weight."""
        filled = float((~self.seen).sum()) * float((self.mean**2).sum())
        return square_sum(self.X) + weight * filled


@dataclass(frozen=True, eq=False)
class _Transposed:
    filled: MeanFilled

    def __matmul__(self, V: Float) -> Float:
        X, seen = self.filled.X, self.filled.seen
        return np.asarray(X.T @ V[seen] + self.filled.mean.T * V[~seen].sum(axis=0))


def square_sum(X: Array) -> float:
    """Sum the squared entries."""
    entries = X.data if sparse.issparse(X) else X.reshape(-1)
    return float(entries @ entries)


class Pull(NamedTuple):
    """The rows that V is pulled to, and their weights as a column."""

    T: Float
    m: Float

    @classmethod
    def none(cls, shape: tuple[int, int]) -> Pull:
        """No pull."""
        return cls(np.zeros(shape), np.zeros((shape[0], 1)))


class Basis(NamedTuple):
    """All that U depends on: C = X'V, H = V'V, a_k + g_k and b_k of the pull and the graph, for a given V."""

    C: Float
    H: Float
    a: Float
    b: Float
    g: Float

    @classmethod
    def of(cls, view: OneView, V: Float, pull: Pull) -> Basis:
        """Pass over the data once; the roughness g_k = lam V_k' L V_k is no less than zero but for rounding."""
        mV = pull.m * V
        rough = np.einsum("ij,ij->j", view.roughness(V), V)
        a, b = np.einsum("ij,ij->j", mV, V), np.einsum("ij,ij->j", mV, pull.T)
        return cls(view.X.T @ V, V.T @ V, a, b, np.maximum(rough, 0))


def fit_of(view: OneView, basis: Basis, U: Float) -> float:
    """|X - V U'|^2 from the Gram matrices."""
    value = view.square - 2 * float((basis.C * U).sum()) + float(((U.T @ U) * basis.H).sum())
    return max(value, 0.0)


def objective(view: OneView, U: Float, V: Float, pull: Pull) -> float:
    """Return the value at any U and V, normalised or not."""
    basis, q = Basis.of(view, V, pull), U.sum(axis=0)
    target = float((pull.m * pull.T**2).sum())
    pulled = float(basis.a @ q**2 - 2 * basis.b @ q) + target
    return fit_of(view, basis, U) + max(pulled, 0.0) + float(basis.g @ q**2)


def normalised(U: Float, V: Float) -> tuple[Float, Float]:
    """Return the same factors with columns of U that sum to one; a dead column becomes even, with no coefficients."""
    q = U.sum(axis=0)
    return np.where(q > 0, U / np.where(q > 0, q, 1), 1 / len(U)), V * q
