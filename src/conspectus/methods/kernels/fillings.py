"""Four ways to fill the unseen rows and columns of kernels, for methods that know complete kernels only.

Each takes kernels that are 0 in unseen rows and columns, and the unseen samples of each view.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from conspectus._typing import Float, Int
from conspectus.methods.kernels.base_partitions import eigenpartition
from conspectus.numerics.distances import squared_distances

Kernels = Sequence[Float]


def zero(K: Kernels, missing: Sequence[Int], k: int) -> list[Float]:
    """Unseen samples lie at the origin of feature space."""
    return list(K)


def mean(K: Kernels, missing: Sequence[Int], k: int) -> list[Float]:
    """Unseen samples lie at the mean of the observed ones."""
    return [_at_the_mean(K_p, u) for K_p, u in zip(K, missing)]


def _at_the_mean(K: Float, u: Int) -> Float:
    o = np.setdiff1d(np.arange(len(K)), u)
    column = K[:, o].mean(axis=1)
    filled = K.copy()
    filled[:, u] = column[:, None]
    filled[u] = column
    filled[np.ix_(u, u)] = column[o].mean()
    return filled


def knn(K: Kernels, missing: Sequence[Int], k: int, n_neighbors: int = 7) -> list[Float]:
    """Unseen samples get the mean row of the samples that are nearest to them in the mean of the other kernels.

    An entry between two unseen samples is that of the later one. The result is not positive semidefinite.
    """
    total = np.sum(K, axis=0)
    return [_like_neighbours(K_p, (total - K_p) / max(len(K) - 1, 1), u, n_neighbors) for K_p, u in zip(K, missing)]


def _like_neighbours(K: Float, others: Float, u: Int, n_neighbors: int) -> Float:
    if not len(u):
        return K
    D = squared_distances(others[u], others)
    D[np.arange(len(u)), u] = -1  # a sample is its own nearest, whatever rounding says
    near = np.argsort(D, axis=1, kind="stable")[:, 1 : n_neighbors + 1]
    rows = others[near].mean(axis=1)
    filled = K.copy()
    filled[u], filled[:, u] = rows, rows.T
    between = np.tril(rows[:, u])
    filled[np.ix_(u, u)] = between + np.tril(between, -1).T
    return (filled + filled.T) / 2


def alignment(K: Kernels, missing: Sequence[Int], k: int, ridge: float = 1e-3) -> list[Float]:
    """Unseen samples lie where the leading eigenvectors H of the mean kernel, filled with 0, expect them."""
    H, _ = eigenpartition(np.sum(K, axis=0) / len(K) ** 2, k)
    return complete(K, missing, H, ridge)


def complete(K: Kernels, missing: Sequence[Int], H: Float, ridge: float) -> list[Float]:
    """Minimise tr(K_p (I - HH')) + ridge tr(K_p(u,u)) over the unseen entries, K_p >= 0."""
    return [_completed(K_p, u, H, ridge) for K_p, u in zip(K, missing)]


def _completed(K: Float, u: Int, H: Float, ridge: float) -> Float:
    """K_ou = K_oo A, K_uu = A'K_oo A with A = H_o [(1 + a) I - H_u'H_u]^-1 H_u'."""
    if not len(u):
        return K
    o = np.setdiff1d(np.arange(len(K)), u)
    A = H[o] @ imputing(H[u], ridge) @ H[u].T
    K_ou = K[np.ix_(o, o)] @ A
    filled = K.copy()
    filled[np.ix_(o, u)], filled[np.ix_(u, o)], filled[np.ix_(u, u)] = K_ou, K_ou.T, A.T @ K_ou
    return (filled + filled.T) / 2


def imputing(H_u: Float, ridge: float) -> Float:
    """[(1 + a) I - H_u'H_u]^-1: with U = I - HH', the n_u x n_u solve of -U_ou (U_uu + a I)^-1 done in k x k."""
    k = H_u.shape[1]
    return np.linalg.inv((1 + ridge) * np.eye(k) - H_u.T @ H_u)


FILLS: dict[str, Callable[[Kernels, Sequence[Int], int], list[Float]]] = {
    "zero": zero,
    "mean": mean,
    "knn": knn,
    "alignment": alignment,
}
