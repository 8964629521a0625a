"""The directions in which the rows of a tall matrix extend most."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._typing import Array, Float
from .backend import as_float, row_blocks, to_numpy
from .spectral import directions_from_gram, fix_signs


def leading_directions(X: Array, q: int, *, centre: bool = False, seed: int = 0) -> tuple[Float, Float]:
    """Find the leading right singular vectors of a matrix, the directions in which its rows extend most.

    Exact from the smaller Gram matrix where one side is at most 512 (or 10 (q + 10), if rows abound); otherwise by a
    randomised method with four power steps, which never forms a d x d matrix and leaves sparse data sparse.

    Parameters
    ----------
    X : array of shape (n, d)
        Dense or SciPy sparse.
    q : int
        Number of directions; at most min(n, d) are returned.
    centre : bool
        Subtract the mean of the columns first (implicitly, where ``X`` is sparse).
    seed : int
        Of the randomised method.

    Returns
    -------
    V : array of shape (d, q)
        Orthonormal columns; the largest entry of each is positive.
    sigma : array of shape (q,)
        Singular values in falling order.
    """
    X = as_float(X)
    X = X if issparse(X) else to_numpy(X)
    (n, d), q = X.shape, min(q, *X.shape)
    mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel() if centre else np.zeros(d)
    M = _Centred(X, mean) if issparse(X) else _Centred(X - mean if centre else X, np.zeros(d))
    if d <= 512 or (d <= n and d <= 10 * (q + 10)):
        V, _ = directions_from_gram(M.tdot(M.dot(np.eye(d))) if issparse(X) else M.gram(), q)
    elif n <= 512:
        V = np.linalg.qr(M.tdot(directions_from_gram(M.dot(M.tdot(np.eye(n))), q)[0]))[0]
    else:
        V = _randomised(M, q, np.random.default_rng(seed))
    # The lengths of the coordinates tell small singular values from 0, which the eigenvalues of a Gram matrix do not.
    sigma = np.linalg.norm(M.dot(V), axis=0)
    order = np.argsort(-sigma, kind="stable")
    return fix_signs(V[:, order]), sigma[order]


class _Centred:
    """``X - 1 mean'`` as an operator, so that sparse rows stay sparse."""

    def __init__(self, X: Any, mean: Float) -> None:
        self.X, self.mean, self.shape = X, mean, X.shape

    def dot(self, v: Float) -> Float:
        return self.X @ v - self.mean @ v

    def tdot(self, u: Float) -> Float:
        return self.X.T @ u - np.outer(self.mean, u.sum(axis=0))

    def gram(self) -> Float:
        blocks = (self.X[rows].astype(np.float64, copy=False) for rows in row_blocks(self.shape[0], 8192))
        return sum((block.T @ block for block in blocks), np.zeros((self.shape[1],) * 2))


def _randomised(M: _Centred, q: int, rng: np.random.Generator, steps: int = 4, extra: int = 10) -> Float:
    width = min(q + extra, *M.shape)
    V = rng.standard_normal((M.shape[1], width))
    for _ in range(steps + 1):
        U = np.linalg.qr(M.dot(V))[0]
        V = np.linalg.qr(M.tdot(U))[0]
    # The range of V is that of the iterated rows: the small matrix M V has the wanted right vectors.
    return V @ np.linalg.svd(M.dot(V), full_matrices=False)[2][:q].T
