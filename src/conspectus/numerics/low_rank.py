"""Low-rank matrices from what is seen of them, by inexact augmented Lagrangians.

Lin, Chen, Ma. The Augmented Lagrange Multiplier Method for Exact Recovery of Corrupted Low-Rank Matrices. 2010.

completion:   min |A|_*                 such that A = D where D is seen
robust PCA:   min |A|_* + lam |E|_1     such that A + E = D
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .._typing import Bool, Float

GRAM = 1e-5
"""Thresholds above this share of the largest singular value leave alone what a Gram matrix cannot tell from 0."""
MOST = 1e7
"""How often mu may become larger than at the start."""


def shrink_singular_values(T: Float, threshold: float, most: int | None = None) -> tuple[Float, int]:
    """Minimise ``threshold |A|_* + |A - T|^2 / 2``: every singular value is lowered by ``threshold``, at most to 0.

    Returns
    -------
    A : array
    rank : int
        Of ``A``; at most ``most``.
    """
    if T.shape[0] < T.shape[1]:
        A, rank = shrink_singular_values(T.T, threshold, most)
        return A.T, rank
    values, V = np.linalg.eigh(T.T @ T)
    s, V = np.sqrt(np.maximum(values[::-1], 0)), V[:, ::-1]
    if threshold > GRAM * s.max(initial=0.0):
        rank = _kept(s, threshold, most)
        return (T @ (V[:, :rank] * (1 - threshold / s[:rank]))) @ V[:, :rank].T, rank
    U, s, Vt = np.linalg.svd(T, full_matrices=False)
    rank = _kept(s, threshold, most)
    return (U[:, :rank] * (s[:rank] - threshold)) @ Vt[:rank], rank


def _kept(s: Float, threshold: float, most: int | None) -> int:
    rank = int((s > threshold).sum())
    return rank if most is None else min(rank, most)


def largest_singular_value(T: Float) -> float:
    """Compute ``|T|_2`` from the smaller Gram matrix."""
    G = T.T @ T if T.shape[0] > T.shape[1] else T @ T.T
    return float(np.sqrt(max(np.linalg.eigvalsh(G)[-1], 0.0))) if G.size else 0.0


def scaled_directions(T: Float, least: float) -> Float:
    """Return ``V S`` of ``T = U S V'``, without the singular values below ``least`` times the largest."""
    tall = T.shape[0] > T.shape[1]
    values, W = np.linalg.eigh(T.T @ T if tall else T @ T.T)
    kept = values > least**2 * max(values.max(initial=0.0), 0.0)
    return np.asarray(W[:, kept] * np.sqrt(values[kept]) if tall else T.T @ W[:, kept])


def soften(T: Float, threshold: float) -> Float:
    """Minimise ``threshold |E|_1 + |E - T|^2 / 2``: every entry is moved by ``threshold`` towards 0."""
    return np.sign(T) * np.maximum(np.abs(T) - threshold, 0)


class Completion(NamedTuple):
    """The matrix, its rank, the residual where D is seen, the multipliers, their step, and the guess of the rank."""

    A: Float
    rank: int
    Z: Float
    Y: Float
    mu: float
    guess: int


def completion_steps(
    D: Float, seen: Bool, *, rho: float | None = 1.5, rank_guess: bool = False, start: Completion | None = None
) -> Iterator[tuple[float, Completion]]:
    """Iterate ``min |A|_*`` such that ``A = D`` where seen; yields ``|P(D - A)| / |D|``.

    Parameters
    ----------
    D : array of shape (m, n)
        What stands where ``seen`` is False is not read.
    seen : array of bool, shape (m, n)
    rho : float or None
        Growth of mu, until it is 1e7 times what it was. None: the released code's ``1.1 + 2.5 share seen``, without
        end.
    rank_guess : bool
        The released code's bound of the rank, which rises slowly and is cut at the widest ratio of singular values.
        Where whole rows of a view are unseen it ends at matrices of too high a rank, or at none.
    start : Completion, optional
        Where an earlier run stopped.
    """
    D = np.where(seen, D, 0.0)
    size, largest = float(np.linalg.norm(D)) or 1.0, largest_singular_value(D) or 1.0
    first = 0.3 / largest
    growth = 1.1 + 2.5 * float(seen.mean()) if rho is None else rho
    state = Completion(np.zeros_like(D), 0, D, np.zeros_like(D), first, 5) if start is None else start
    while True:
        A, Y, mu, guess = state.A, state.Y, state.mu, min(state.guess, min(D.shape))
        T = A + state.Z + Y / mu
        most = _guessed(T, 1 / mu, guess) if rank_guess else None
        A, rank = shrink_singular_values(T, 1 / mu, most)
        guess = min(rank + (1 if rank < guess else 10), min(D.shape))
        Z = np.where(seen, D - A, 0.0)
        mu_next = mu * growth if rho is None else min(mu * growth, MOST * first)
        state = Completion(A, rank, Z, Y + mu * Z, mu_next, guess)
        yield float(np.linalg.norm(Z)) / size, state


def _guessed(T: Float, threshold: float, guess: int) -> int:
    """The released code's bound: the values up to the guess, cut where the next one is less than half as large."""
    s = np.linalg.svd(T, compute_uv=False)[:guess]
    most = int((s > threshold).sum())
    ratios = s[:-1] / np.maximum(s[1:], 1e-300)
    widest = int(np.argmax(ratios)) if len(ratios) else 0
    return min(most, widest + 1) if len(ratios) and ratios[widest] > 2 else most


class Decomposition(NamedTuple):
    """The low-rank and the sparse part, the multipliers and their step."""

    A: Float
    E: Float
    Y: Float
    mu: float


def decomposition_steps(
    D: Float, lam: float | None = None, *, rho: float = 1.5, start: Decomposition | None = None
) -> Iterator[tuple[float, Decomposition]]:
    """Iterate ``min |A|_* + lam |E|_1`` such that ``A + E = D``; yields ``|D - A - E| / |D|``.

    Parameters
    ----------
    D : array of shape (m, n)
    lam : float, optional
        By default ``m ** -0.5``.
    rho : float
        Growth of mu, until it is 1e7 times what it was.
    start : Decomposition, optional
        Where an earlier run stopped.
    """
    lam = 1 / np.sqrt(len(D)) if lam is None else lam
    size, largest = float(np.linalg.norm(D)) or 1.0, largest_singular_value(D) or 1.0
    first = 1.25 / largest
    zero = np.zeros_like(D)
    dual = max(largest, float(np.abs(D).max(initial=0.0)) / lam)
    state = Decomposition(zero, zero, D / dual, first) if start is None else start
    while True:
        A, Y, mu = state.A, state.Y, state.mu
        E = soften(D - A + Y / mu, lam / mu)
        A, _ = shrink_singular_values(D - E + Y / mu, 1 / mu)
        Z = D - A - E
        state = Decomposition(A, E, Y + mu * Z, min(mu * rho, MOST * first))
        yield float(np.linalg.norm(Z)) / size, state
