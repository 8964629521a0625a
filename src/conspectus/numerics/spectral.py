"""Leading singular triplets of row-stochastic graphs and leading eigenvectors of symmetric matrices."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.sparse import issparse

from .._typing import Array, Float
from .backend import as_float, to_numpy
from .lanczos import Search, dense_pairs, leading_pairs
from .operators import EMPTY as EMPTY
from .operators import WIDTH, RowStochastic, as_graph

RANK = 1e-6
"""Singular values below this share of the largest are not told from 0 by a Gram matrix in float64."""


def stochastic_svd(
    B: RowStochastic | Any,
    k: int,
    *,
    near: float | None = None,
    at_most: int | None = None,
    tol: float = 1e-7,
    seed: int = 0,
) -> tuple[Float, Float, Float, Float]:
    """Find the leading singular triplets of ``B diag(c)^(-1/2)``, ``c`` the column sums of a row-stochastic ``B``.

    The left vectors are the spectral embedding of the samples by the graph ``B diag(1/c) B'``, whose largest
    eigenvalue is 1, as often as the graph has connected components. For explicit matrices the components are found
    first and are exact; the other triplets come from a block Lanczos method on the smaller operator
    ``diag(c)^(-1/2) B'B diag(c)^(-1/2)``, or from its dense decomposition where it is small.

    Parameters
    ----------
    B : sparse matrix, LinearOperator or RowStochastic, shape (n, l)
        Nonnegative, rows sum to 1. Columns with ``c <= 1e-12`` count as empty.
    k : int
        Number of triplets; fewer are returned where the rank (singular values above 1e-6) is lower.
    near : float, optional
        Keep also all further triplets with singular values ``>= near``...
    at_most : int, optional
        ... up to so many in all (by default 2 k).
    tol : float
        Bound of the residuals of the operator's eigenvectors.
    seed : int
        Of the start vectors.

    Returns
    -------
    U : array of shape (n, r)
        Left singular vectors.
    sigma : array of shape (r,)
        Singular values in falling order, at most 1.
    V : array of shape (l, r)
        Right singular vectors; the largest entry of each is positive.
    c : array of shape (l,)
        Column sums. A further row ``b`` is embedded by ``(b / sqrt(c)) @ V / sigma``, empty columns left out.
    """
    graph = as_graph(B)
    sigma, V, c = right_triplets(graph, k, near=near, at_most=at_most, tol=tol, seed=seed)
    return graph.dot(_inverse_root(c)[:, None] * V) / sigma, sigma, V, c


def right_triplets(
    B: RowStochastic | Any,
    k: int,
    *,
    near: float | None = None,
    at_most: int | None = None,
    tol: float = 1e-7,
    seed: int = 0,
) -> tuple[Float, Float, Float]:
    """Find what :func:`stochastic_svd` finds but the left vectors: ``sigma``, ``V`` and ``c``, no array of n rows.

    Enough to embed rows in blocks, by ``(b / sqrt(c)) @ V / sigma``.
    """
    graph = as_graph(B)
    c = graph.tdot(np.ones((graph.shape[0], 1)))[:, 0]
    values, V = _right_vectors(graph, _inverse_root(c)[:, None], _search(graph, k, near, at_most, tol), seed)
    sigma = np.sqrt(np.clip(values, 0, 1))
    kept = sigma > RANK
    return sigma[kept], fix_signs(V[:, kept]), c


def _inverse_root(c: Float) -> Float:
    held = c > EMPTY
    return np.where(held, 1 / np.sqrt(np.where(held, c, 1)), 0)


def _search(graph: RowStochastic, k: int, near: float | None, at_most: int | None, tol: float) -> Search:
    """Ask for k triplets, and for the further ones that are near 1."""
    most = min(k if near is None else max(k, at_most or 2 * k), *graph.shape)
    least = np.inf if near is None else near**2

    def wanted(values: Float) -> int:
        return min(len(values), most, max(k, int((values >= least).sum())))

    # The compiled pass costs the same for every column, and narrow blocks need fewer columns in all. Other operators
    # may hide as many copies of the value 1 as they have components: wide blocks find more of them at once.
    return Search(most, wanted, WIDTH if hasattr(graph, "gram") else 2 * WIDTH, tol)


def _right_vectors(graph: Any, scale: Float, search: Search, seed: int) -> tuple[Float, Float]:
    n, l = graph.shape
    small = max(64, 3 * search.most)
    if n < l and n <= small:
        rows = dense_pairs(lambda x: graph.dot(scale**2 * graph.tdot(x)), n, search)
        return rows.values, scale * graph.tdot(rows.vectors) / np.sqrt(np.maximum(rows.values, RANK**2))
    once = getattr(graph, "gram", lambda x: graph.tdot(graph.dot(x)))

    def apply(x: Float) -> Float:
        return scale * once(scale * x)

    if l <= small:
        columns = dense_pairs(apply, l, search)
        return columns.values, columns.vectors
    return _with_components(apply, l, search, seed, getattr(graph, "components", lambda: np.empty((l, 0)))())


def _with_components(apply: Any, l: int, search: Search, seed: int, known: Float) -> tuple[Float, Float]:
    ones, rng = np.ones(known.shape[1]), np.random.default_rng(seed)
    if search.most <= len(ones):
        return ones[: search.most], known[:, : search.most]
    whole, total = search.wanted, len(ones)
    missing = search._replace(
        most=search.most - total,
        wanted=lambda values: max(0, whole(np.concatenate([ones, values])) - total),
    )
    found = leading_pairs(apply, l, missing, rng, known)
    return np.concatenate([ones, found.values]), np.hstack([known, found.vectors])


def fix_signs(V: Float) -> Float:
    """Turn every column so that its entry of largest modulus (the first of those that are nearly it) is positive."""
    if V.shape[0] == 0:
        return V
    size = np.abs(V)
    first = np.argmax(size >= (1 - 1e-6) * size.max(axis=0), axis=0)
    return V * np.where(V[first, np.arange(V.shape[1])] < 0, -1.0, 1.0)


def top_eigenvectors(
    A: Any, k: int, *, which: Literal["largest", "smallest"] = "largest", tol: float = 1e-9, seed: int = 0
) -> tuple[Float, Float]:
    """Find the ``k`` largest (or smallest) eigenvalues of a symmetric matrix and their eigenvectors.

    Block Lanczos with checked residuals, all copies of a multiple eigenvalue included; small matrices, and those on
    which the iteration does not converge, are decomposed completely.

    Parameters
    ----------
    A : array, sparse matrix or LinearOperator of shape (n, n)
        Symmetric.
    k : int
        At most n.
    which : {"largest", "smallest"}
        By value, not by modulus.
    tol : float
        Bound of the residuals, relative to the norm of ``A``.
    seed : int
        Of the start vectors.

    Returns
    -------
    values : array of shape (k,)
        The most extreme first.
    vectors : array of shape (n, k)
        Orthonormal; the largest entry of each is positive.
    """
    n, sign = A.shape[0], 1.0 if which == "largest" else -1.0
    A = A if issparse(A) or hasattr(A, "matvec") else to_numpy(as_float(A))
    k = min(k, n)
    search = Search(k, lambda values: min(k, len(values)), tol=tol)

    def apply(x: Float) -> Float:
        return sign * (A @ x)

    dense = n <= 256 or 3 * k >= n
    found = dense_pairs(apply, n, search) if dense else leading_pairs(apply, n, search, np.random.default_rng(seed))
    return sign * found.values, fix_signs(found.vectors)


def directions_from_gram(G: Array, q: int) -> tuple[Float, Float]:
    """Find the leading directions of a matrix from its Gram matrix ``X'X``, which may be summed over blocks of rows.

    Returns what :func:`leading_directions` returns; singular values that rounding hides are 0.
    """
    G = np.asarray(to_numpy(G), dtype=np.float64)
    values, V = top_eigenvectors((G + G.T) / 2, q)
    noise = len(G) * np.finfo(np.float64).eps * max(float(values[0]), 0.0) if len(values) else 0.0
    return V, np.sqrt(np.where(values > noise, values, 0))
