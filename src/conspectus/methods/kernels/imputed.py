"""Kernels whose unseen rows are imputed from H, as matrices and as features.

The ridge solution of MKKM-IK puts unseen rows at K_p(o, u) = K_p(o, o) A with A = H_o M H_u' and
M = [(1 + a) I - H_u'H_u]^-1. In features that is Y_p(u) = H_u N_p with N_p = M H_o'Y_p(o), so that all Gram matrices of
completed features F = Y + [H_u1 N_1 ... H_um N_m] follow from Y'Y, Y'H_u and H_u'H_u, and F is never formed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from conspectus._typing import Bool, Float, Int
from conspectus.methods.kernels.base_partitions import inverse
from conspectus.methods.kernels.features import FeatureSide, NystroemFeatures, stacked
from conspectus.methods.kernels.fillings import complete, imputing
from conspectus.methods.kernels.kernel_sets import DenseKernels, FeatureKernels, KernelSet
from conspectus.numerics.backend import row_blocks
from conspectus.views.table import Views


class Joining(NamedTuple):
    """How a new sample joins: h(x) = sum_{p in O} y_p(x) A_p + h(x) sum_{p not in O} E_p."""

    A: tuple[Float, ...]
    E: tuple[Float, ...]


class Incomplete(Protocol):
    """Kernels of which some rows are unseen, and can be imputed from H."""

    def completed(self, H: Float | None) -> KernelSet:
        """Impute the unseen entries from H; None: with 0."""

    def joining(self, H: Float, values: Float, g: Float, imputed_from: Float | None = None) -> Joining:
        """Return A and E of H = sum_p g_p^2 K_p H / values."""


@dataclass(frozen=True)
class IncompleteKernels:
    """Kernels as matrices, 0 in unseen rows and columns."""

    K: Sequence[Float]
    missing: Sequence[Int]
    ridge: float

    def completed(self, H: Float | None) -> DenseKernels:
        """Impute the unseen entries from H; None: with 0."""
        return DenseKernels(self.K if H is None else complete(self.K, self.missing, H, self.ridge))

    def joining(self, H: Float, values: Float, g: Float, imputed_from: Float | None = None) -> Joining:
        """k_p(x)'H = k_p(x, o) (H_o + A H_u)."""
        source, A, E = H if imputed_from is None else imputed_from, [], []
        for K, u, w in zip(self.K, self.missing, g**2):
            o = np.setdiff1d(np.arange(len(K)), u)
            M = imputing(source[u], self.ridge)
            A.append(w * (H[o] + source[o] @ (M @ (source[u].T @ H[u]))) * inverse(values))
            E.append(M @ (source[o].T @ (K[np.ix_(o, o)] @ A[-1])))
        return Joining(tuple(A), tuple(E))


@dataclass(frozen=True)
class IncompleteFeatures:
    """Features Y of all views side by side, 0 in unseen rows."""

    Y: Float
    widths: tuple[int, ...]
    seen: Bool
    ridge: float

    @cached_property
    def gram(self) -> Float:
        """Y'Y."""
        return tdot(self.Y, self.Y)

    @cached_property
    def parts(self) -> tuple[slice, ...]:
        """The columns of each view."""
        return FeatureKernels(self.gram, self.widths).parts

    def completed(self, H: Float | None) -> CompletedFeatures:
        """Impute the unseen rows from H; None: with 0."""
        if H is None:
            return CompletedFeatures(self, None, np.zeros((0, len(self.gram))))
        HU = np.hstack([H * ~self.seen[:, [p]] for p in range(len(self.widths))])
        return CompletedFeatures(self, HU, self._imputations(H, HU))

    def _imputations(self, H: Float, HU: Float) -> Float:
        """N, block after block."""
        k, YH = H.shape[1], tdot(self.Y, H)
        N = np.zeros((HU.shape[1], len(YH)))
        for p, part in enumerate(self.parts):
            mine = HU[:, p * k : (p + 1) * k]
            N[p * k : (p + 1) * k, part] = imputing(mine, self.ridge) @ YH[part].T
        return N

    def joining(self, H: Float, values: Float, g: Float, imputed_from: Float | None = None) -> Joining:
        """A_p = g_p^2 F_p'H / values, E_p = N_p A_p."""
        completed = self.completed(H if imputed_from is None else imputed_from)
        FH, k = completed.products(H), H.shape[1]
        A = [w * FH[part] * inverse(values) for w, part in zip(g**2, self.parts)]
        N = [completed.N[p * k : (p + 1) * k, part] for p, part in enumerate(self.parts)]
        return Joining(tuple(A), tuple(n @ a for n, a in zip(N, A)))


@dataclass(frozen=True)
class CompletedFeatures:
    """F = Y + H_u N, known by its parts; its eigenvectors are rows."""

    incomplete: IncompleteFeatures
    HU: Float | None
    N: Float

    @cached_property
    def kernels(self) -> FeatureKernels:
        """The Gram matrix of F."""
        G = self.incomplete.gram
        if self.HU is not None:
            cross = tdot(self.incomplete.Y, self.HU) @ self.N
            G = G + cross + cross.T + self.N.T @ (self.HU.T @ self.HU) @ self.N
        return FeatureKernels(G, self.incomplete.widths)

    @property
    def traces(self) -> Float:
        """tr K_p."""
        return self.kernels.traces

    def leading(self, weights: Float, k: int) -> tuple[Float, Float]:
        """Return the k leading eigenvectors of sum_p w_p F_p F_p', and their eigenvalues."""
        R, values = self.kernels.leading(weights, k)
        H = dot(self.incomplete.Y, R)
        return H if self.HU is None else H + self.HU @ (self.N @ R), values

    def products(self, H: Float) -> Float:
        """F'H."""
        YH = tdot(self.incomplete.Y, H)
        return YH if self.HU is None else YH + self.N.T @ (self.HU.T @ H)

    def energies(self, H: Float) -> Float:
        """Return |F_p'H|^2."""
        FH = self.products(H)
        return np.array([float((FH[part] ** 2).sum()) for part in self.kernels.parts])

    def split(self, H: Float, values: Float, weights: Float) -> tuple[Float, ...]:
        """H = sum_p w_p F_p F_p'H / values."""
        FH = self.products(H)
        return tuple(w * FH[part] * inverse(values) for w, part in zip(weights, self.kernels.parts))


def dot(Y: Float, R: Float) -> Float:
    """Y R in float64, a block of rows at a time."""
    out = np.empty((len(Y), R.shape[1]))
    for rows in row_blocks(len(Y), 8192):
        out[rows] = Y[rows].astype(np.float64, copy=False) @ R
    return out


def tdot(Y: Float, X: Float) -> Float:
    """Y'X in float64, a block of rows at a time."""
    out = np.zeros((Y.shape[1], X.shape[1]))
    for rows in row_blocks(len(Y), 8192):
        out += Y[rows].astype(np.float64, copy=False).T @ X[rows].astype(np.float64, copy=False)
    return out


def incomplete_features(views: Views, sides: tuple[FeatureSide, ...], ridge: float) -> IncompleteFeatures:
    """Keep the features of all samples: in float32 where they are approximate anyway."""
    single = any(isinstance(side, NystroemFeatures) for side in sides)
    Y = views.map(stacked, sides=sides, dtype=np.float32 if single else np.float64)
    return IncompleteFeatures(Y, tuple(side.width for side in sides), views.seen, ridge)
