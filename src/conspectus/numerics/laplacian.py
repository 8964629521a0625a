"""The spectrum of the normalised Laplacian of a graph: L = I - D^(-1/2) W D^(-1/2), D the degrees W 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import diags_array, issparse
from scipy.sparse.linalg import LinearOperator

from .._typing import Array, Float
from .spectral import top_eigenvectors


def normalised_graph(W: Array) -> Any:
    """Form ``D^(-1/2) W D^(-1/2)`` of a symmetric nonnegative graph (array, sparse matrix or LinearOperator).

    Rows of degree 0 stay 0.
    """
    d = np.asarray(W @ np.ones(W.shape[0])).reshape(-1)
    scale = np.where(d > 0, 1 / np.sqrt(np.where(d > 0, d, 1)), 0)
    if issparse(W):
        return diags_array(scale) @ W @ diags_array(scale)
    if isinstance(W, np.ndarray):
        return scale[:, None] * W * scale

    def apply(x: Float) -> Float:
        flat = x.reshape(len(scale), -1)
        return np.asarray(scale[:, None] * (W @ (scale[:, None] * flat))).reshape(x.shape)

    return LinearOperator(W.shape, matvec=apply, matmat=apply, dtype=np.float64)


def laplacian_vectors(W: Array, k: int) -> tuple[Float, Float]:
    """Find the k least eigenvalues of the normalised Laplacian, in rising order, and their vectors.

    Parameters
    ----------
    W : array, sparse matrix or LinearOperator of shape (n, n)
        Symmetric and nonnegative.
    k : int
        At most n.

    Returns
    -------
    values : array of shape (k,)
        From 0 (once for every connected component) to 2.
    vectors : array of shape (n, k)
        Orthonormal.
    """
    values, vectors = top_eigenvectors(normalised_graph(W), k)
    return 1 - values, vectors
