"""Nonnegative least squares: the multiplicative step, the exact solution by rows, and columns with a sum."""

from __future__ import annotations

import numpy as np

from .._typing import Bool, Float
from .backend import row_blocks

TINY = 1e-300
"""The least denominator: it keeps 0 / 0 from being NaN and is far below any number that data produce."""


def multiply(A: Float, numerator: Float, denominator: Float) -> Float:
    """Take one multiplicative step ``A * numerator / denominator``; it keeps the sign and never divides by zero.

    With a gradient that is ``denominator - numerator``, both nonnegative, this is the step of Lee and Seung: large
    where the gradient asks for it, and none at a stationary point. An exact zero stays zero for ever.

    Parameters
    ----------
    A, numerator, denominator : nonnegative arrays of one shape (or shapes that broadcast to that of `A`)

    Returns
    -------
    array
        A new one.
    """
    return A * (numerator / np.maximum(denominator, TINY))


def nonnegative_rows(G: Float, B: Float, start: Float | None = None) -> Float:
    """Find for every row ``b`` of `B` the ``z >= 0`` that minimises ``z'Gz - 2 b'z``, exactly.

    With ``G = U'U`` and ``B = XU`` these are the nonnegative least squares solutions of ``Z U' = X``; an L1 penalty
    ``l |z|_1`` is ``B - l / 2``. Block principal pivoting (Kim and Park, 2011), for all rows at once: guess which
    entries are positive, solve for them, exchange all that have the wrong sign, one at a time where that does not
    settle. It ends at a point where the conditions of optimality hold to rounding.

    Parameters
    ----------
    G : array of shape (k, k)
        Positive semidefinite; a ridge of 1e-13 of its largest diagonal entry makes the solution unique.
    B : array of shape (n, k)
    start : array of shape (n, k), optional
        Nonnegative; its positive entries are the first guess.

    Returns
    -------
    array of shape (n, k)
    """
    top = float(G.diagonal().max(initial=0.0))
    if top <= 0:
        return np.zeros_like(B)
    G = G / top + 1e-13 * np.eye(len(G))
    positive = np.zeros(B.shape, dtype=bool) if start is None else start > 0
    blocks = [_pivot(G, B[rows] / top, positive[rows]) for rows in row_blocks(len(B))]
    return np.concatenate(blocks) if blocks else np.zeros_like(B)


def _pivot(G: Float, B: Float, positive: Bool) -> Float:
    """Solve for the positive entries and exchange those of the wrong sign until there are none."""
    k, Z, left = len(G), np.zeros_like(B), np.arange(len(B))
    fewest, patience = np.full(len(B), k + 1), np.full(len(B), 3)
    for _ in range(20 * k + 20):
        z, wrong = _solve(G, B[left], positive[left])
        Z[left] = z
        count = wrong.sum(axis=1)
        open_ = count > 0
        left, wrong, count = left[open_], wrong[open_], count[open_]
        if not len(left):
            break
        better = count < fewest[left]
        patience[left] = np.where(better, 3, patience[left] - 1)
        fewest[left] = np.minimum(count, fewest[left])
        # Out of patience: only the last wrong entry, which ends after finitely many exchanges (Murty).
        single = patience[left] < 0
        last = k - 1 - wrong[:, ::-1].argmax(axis=1)
        wrong[single] = np.arange(k) == last[single, None]
        positive[left] ^= wrong
    return np.maximum(Z, 0)


def _solve(G: Float, B: Float, positive: Bool) -> tuple[Float, Bool]:
    """Solve ``G_PP z_P = b_P`` for every row's positive set P; the entries whose z or gradient has the wrong sign."""
    masked = np.where(positive[:, :, None] & positive[:, None, :], G, np.eye(len(G)))
    z = np.linalg.solve(masked, np.where(positive, B, 0.0)[:, :, None])[:, :, 0]
    gradient = z @ G - B
    slack = 1e-14 * (np.abs(z) @ np.abs(G) + np.abs(B))
    return z, np.where(positive, z < 0, gradient < -slack)


def nonnegative_with_sum(c: Float, H: float, h: float) -> Float:
    """Find the ``u >= 0`` that minimises ``H |u|^2 + h (1'u)^2 - 2 c'u``, exactly, for ``H > 0`` and ``h >= 0``.

    ``u = max(0, (c - h s) / H)`` with ``s = 1'u``. Among the r largest entries of c, s would be their sum divided by
    ``H + r h``; a choice of r that is too small or too large only makes that quotient smaller.

    Parameters
    ----------
    c : array of shape (d,)
    H, h : float

    Returns
    -------
    array of shape (d,)
    """
    if h <= 0:
        return np.maximum(c, 0) / H
    sums = np.cumsum(np.sort(c)[::-1])
    s = max(float((sums / (H + h * np.arange(1, len(sums) + 1))).max()), 0.0)
    return np.maximum(c - h * s, 0) / H
