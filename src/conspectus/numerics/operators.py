"""Row-stochastic graphs as operators: what the spectral step needs of a graph are its products with few vectors."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from .._typing import Float
from .backend import has_numba

EMPTY = 1e-12
"""Columns of a graph whose weights sum to no more count as empty; so does an edge for the connected components."""
WIDTH = 4
"""Columns that the compiled pass over a sparse graph takes at once."""


class RowStochastic(Protocol):
    """A nonnegative n x l matrix with rows that sum to 1, known by its products with blocks of vectors.

    An operator may also have ``gram(x)``, ``B'(B x)`` in one pass over its rows; otherwise it is formed from the two.
    """

    shape: tuple[int, int]

    def dot(self, x: Float, /) -> Float:
        """Multiply: ``B x`` for ``x`` of shape (l, b)."""

    def tdot(self, y: Float, /) -> Float:
        """Multiply by the transpose: ``B' y`` for ``y`` of shape (n, b)."""


def as_graph(B: Any) -> RowStochastic:
    """Give a sparse or dense matrix, or a SciPy ``LinearOperator``, the products of :class:`RowStochastic`."""
    if hasattr(B, "tdot"):
        return B
    return _Adapted(B) if hasattr(B, "rmatmat") else SparseGraph(B)


class _Adapted:
    def __init__(self, B: Any) -> None:
        self.shape, self.dot, self.tdot = B.shape, B.matmat, B.rmatmat


class SparseGraph:
    """A CSR matrix with the products of :class:`RowStochastic`."""

    def __init__(self, B: Any) -> None:
        self.B = csr_array(B)
        self.shape = self.B.shape
        self.compiled = has_numba(self.shape[0])
        if not self.compiled and self.B.dtype != np.float64:
            self.B = self.B.astype(np.float64)  # once, not in every product

    def dot(self, x: Float) -> Float:
        """Multiply: ``B x``."""
        return self.B @ x

    def tdot(self, y: Float) -> Float:
        """Multiply by the transpose: ``B' y``."""
        return self.B.T @ y

    def gram(self, x: Float) -> Float:
        """Multiply: ``B'(B x)``, compiled in one pass over the rows."""
        if not self.compiled:
            return self.tdot(self.dot(x))
        from ._compiled import sparse_gram

        indices, indptr = (a.view(f"u{a.itemsize}") for a in (self.B.indices, self.B.indptr))
        blocks = (x[:, t : t + WIDTH] for t in range(0, x.shape[1], WIDTH))
        padded = (np.pad(block, ((0, 0), (0, WIDTH - block.shape[1]))) for block in blocks)
        return np.hstack([sparse_gram(self.B.data, indices, indptr, block) for block in padded])[:, : x.shape[1]]

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


class ChainedGraph:
    """The product ``C E`` of a sparse matrix with a small linear map, without forming it.

    The rows of ``C`` mix the rows of ``E``: seen blocks are written in ``C`` as they are, unseen blocks as weights on a
    few typical rows that are the last rows of ``E``. One pass over the rows of ``C`` is still enough.

    Parameters
    ----------
    C : sparse matrix of shape (n, q)
    E : array, sparse matrix or LinearOperator of shape (q, l)
        The rows of the product are to sum to 1.
    """

    def __init__(self, C: Any, E: Any) -> None:
        self.C, self.E, self.shape = SparseGraph(C), E, (C.shape[0], E.shape[1])

    def dot(self, x: Float) -> Float:
        """Multiply: ``C (E x)``."""
        return self.C.dot(self.E @ x)

    def tdot(self, y: Float) -> Float:
        """Multiply by the transpose: ``E' (C' y)``."""
        return self.E.T @ self.C.tdot(y)

    def gram(self, x: Float) -> Float:
        """Multiply: ``E' (C' C (E x))``, in one pass over the rows of ``C``."""
        return self.E.T @ self.C.gram(self.E @ x)
