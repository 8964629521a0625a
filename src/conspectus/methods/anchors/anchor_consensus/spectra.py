"""What knows no views: the embedding by a row-stochastic graph, and the consensus of several embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conspectus._typing import Float
from conspectus.numerics.backend import row_blocks
from conspectus.numerics.operators import EMPTY
from conspectus.numerics.rows import unit_rows
from conspectus.numerics.spectral import right_triplets, top_eigenvectors

EXTRA = 3
"""Directions beyond k: where the graph says more than k things, they are kept, and damped."""
POWER = 8
"""Steps of the walk on B diag(1/c) B' whose probabilities the embedding follows."""
NEAR = 0.98
"""Singular values from here on belong to nearly separate parts of the graph: all are kept, up to 2k + EXTRA."""


def walk(graph: Any, k: int) -> tuple[Float, Float]:
    """Find the matrix R by which the rows of a row-stochastic graph are embedded: ``unit_rows(B R)``.

    With the leading singular triplets ``U Sigma V'`` of ``B diag(c)^(-1/2)``, c the column sums, ``U Sigma^p = B R``
    for ``R = diag(c)^(-1/2) V Sigma^(p-1)``. They lie as far apart as the walk on ``B diag(1/c) B'`` takes them in p
    steps: directions beyond the clusters are damped, not cut.

    Returns
    -------
    R : ndarray, shape (L, r)
    sigma : ndarray, shape (r,)
        The singular values that were kept.
    """
    sigma, V, c = right_triplets(graph, k + EXTRA, near=NEAR, at_most=2 * k + EXTRA)
    held = c > EMPTY
    scale = np.where(held, 1 / np.sqrt(np.where(held, c, 1)), 0)
    return scale[:, None] * V * sigma ** (POWER - 1), sigma


def consensus(embeddings: Sequence[Float], k: int) -> Float:
    """Find the k + 3 directions in which embeddings, laid side by side, agree: the leading eigenvectors of A'A."""
    n = len(embeddings[0])
    total: Any = 0
    for rows in row_blocks(n, 8192):
        A = np.hstack([E[rows] for E in embeddings])
        total = total + A.T @ A
    return top_eigenvectors(total, k + EXTRA)[1]


def together(embeddings: Sequence[Float], Q: Float) -> Float:
    """Lay embeddings side by side, reduce them by the consensus Q, and bring the rows to unit length."""
    widths = np.cumsum([0, *(E.shape[1] for E in embeddings)])
    parts = (E @ Q[a:b] for E, a, b in zip(embeddings, widths, widths[1:]))
    return unit_rows(sum(parts, np.zeros((len(embeddings[0]), Q.shape[1]))))
