"""Leading singular triplets of row-stochastic graphs, leading eigenvectors, leading directions of tall matrices."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components

from .._typing import Array, Float
from .backend import as_float, row_blocks, to_numpy
from .lanczos import Search, dense_pairs, leading_pairs

EMPTY = 1e-12
"""Columns of a graph whose weights sum to no more count as empty; so does an edge for the connected components."""
RANK = 1e-6
"""Singular values below this share of the largest are not told from 0 by a Gram matrix in float64."""


class RowStochastic(Protocol):
    """A nonnegative n x l matrix with rows that sum to 1, known by its products with blocks of vectors.

    An operator may also have ``gram(x)``, ``B'(B x)`` in one pass over its rows; otherwise it is formed from the two.
    """

    shape: tuple[int, int]

    def dot(self, x: Float, /) -> Float:
        """Multiply: ``B x`` for ``x`` of shape (l, b)."""

    def tdot(self, y: Float, /) -> Float:
        """Multiply by the transpose: ``B' y`` for ``y`` of shape (n, b)."""


class SparseGraph:
    """A CSR matrix with the products of :class:`RowStochastic`."""

    def __init__(self, B: Any) -> None:
        self.B = csr_array(B)
        self.shape = self.B.shape

    def dot(self, x: Float) -> Float:
        """Multiply: ``B x``."""
        return self.B @ x

    def tdot(self, y: Float) -> Float:
        """Multiply by the transpose: ``B' y``."""
        return self.B.T @ y

    def components(self) -> Float:
        """Find the right singular vectors of value 1: one for each connected component, the largest first.

        A component with the rows R and the columns C has the vector ``sqrt(c_j / |R|)`` on C, c the column sums.
        """
        n, l = self.shape
        edges = csr_array(self.B, copy=bool(self.B.nnz and self.B.data.min() <= EMPTY))
        if edges is not self.B and edges.data is not self.B.data:
            edges.data[edges.data <= EMPTY] = 0
            edges.eliminate_zeros()
        indptr = np.concatenate([edges.indptr, np.full(l, edges.indptr[-1], edges.indptr.dtype)])
        graph = csr_array((edges.data, edges.indices + n, indptr), (n + l, n + l))
        _, label = connected_components(graph, directed=False)
        rows = np.bincount(label[:n], minlength=label.max() + 1)
        largest = np.argsort(-rows, kind="stable")[: np.count_nonzero(rows)]
        position = np.full(len(rows), -1)
        position[largest] = np.arange(len(largest))
        column, weight = position[label[n:]], self.B.sum(axis=0, dtype=np.float64)
        vectors = np.zeros((l, len(largest)))
        held = np.flatnonzero((column >= 0) & (weight > EMPTY))
        vectors[held, column[held]] = np.sqrt(weight[held])
        return vectors / np.linalg.norm(vectors, axis=0)


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
    B : sparse matrix or RowStochastic, shape (n, l)
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
    graph = B if hasattr(B, "tdot") else SparseGraph(B)
    n, l = graph.shape
    c = graph.tdot(np.ones((n, 1)))[:, 0]
    scale = np.zeros_like(c)
    np.divide(1, np.sqrt(c, where=c > EMPTY, out=np.ones_like(c)), out=scale, where=c > EMPTY)
    most = k if near is None else max(k, at_most or 2 * k)
    least = np.inf if near is None else near**2
    search = Search(
        min(most, n, l), lambda values: min(len(values), most, max(k, int((values >= least).sum()))), tol=tol
    )
    values, V = _right_vectors(graph, scale[:, None], search, seed)
    sigma = np.sqrt(np.clip(values, 0, 1))
    kept = sigma > RANK
    sigma, V = sigma[kept], fix_signs(V[:, kept])
    return graph.dot(scale[:, None] * V) / sigma, sigma, V, c


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
    if search.wanted(ones) == search.most <= len(ones):
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


def directions_from_gram(G: Float, q: int) -> tuple[Float, Float]:
    """Find the leading directions of a matrix from its Gram matrix ``X'X``, which may be summed over blocks of rows.

    Returns what :func:`leading_directions` returns; singular values that rounding hides are 0.
    """
    values, V = top_eigenvectors((G + G.T) / 2, q)
    noise = len(G) * np.finfo(np.float64).eps * max(float(values[0]), 0.0) if len(values) else 0.0
    return V, np.sqrt(np.where(values > noise, values, 0))


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
