"""Two ways to lower the objective of one view: a block of V, then a block of U.

Each passes over the data twice, XU for all sweeps of V and X'V for all sweeps of U.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from conspectus._typing import Float
from conspectus.methods.factors.one_view import Basis, OneView, Pull, fit_of, normalised
from conspectus.numerics.nonnegative import multiply, nonnegative_with_sum


class Solved(NamedTuple):
    """Normalised factors and what the rows cost without their pull: |X - V U'|^2 + lam tr(V'LV)."""

    U: Float
    V: Float
    cost: float


Solver = Callable[[OneView, Float, Float, Pull], Solved]


def multiplicative(
    view: OneView,
    U: Float,
    V: Float,
    pull: Pull,
    *,
    sweeps: tuple[int, int] = (10, 5),
    graph_in_basis: bool = True,
) -> Solved:
    """Take multiplicative steps from normalised factors (Q = I); none can raise the objective."""
    U, V, basis = multiplied(view, U, V, pull, sweeps, graph_in_basis)
    return _finished(view, basis, U, V)


def multiplied(
    view: OneView, U: Float, V: Float, pull: Pull, sweeps: tuple[int, int], graph_in_basis: bool
) -> tuple[Float, Float, Basis]:
    """Take multiplicative steps and leave the factors at the scale that they end at."""
    G, B = U.T @ U, view.X @ U + pull.m * pull.T
    for _ in range(sweeps[0]):
        V = multiply(V, B + view.neighbours(V), V @ G + (pull.m + view.degrees) * V)
    basis = Basis.of(view, V, pull)
    weight = basis.a + basis.g if graph_in_basis else basis.a
    for _ in range(sweeps[1]):
        U = multiply(U, basis.C + basis.b, U @ basis.H + weight * U.sum(axis=0))
    return U, V, basis


def accelerated(view: OneView, U: Float, V: Float, pull: Pull, *, sweeps: tuple[int, int] = (10, 1)) -> Solved:
    """Take accelerated projected gradient steps for V and exact columns of U from normalised factors.

    The quadratic form of V lies below the diagonal one lmax(G) + m_i + 2 lam D_ii, for D - W <= 2 D.
    """
    G, B = U.T @ U, view.X @ U + pull.m * pull.T
    before, first, V = _momentum(view, G, B, V, pull.m + view.degrees, sweeps[0])
    basis = Basis.of(view, V, pull)
    if float((G * basis.H).sum() + basis.a.sum() + basis.g.sum() - 2 * (B * V).sum()) > before:
        V, basis = first, Basis.of(view, first, pull)  # momentum overshot; one plain step never does
    for _ in range(sweeps[1]):
        U = _exact_columns(U, basis)
    return _finished(view, basis, U, V)


def _momentum(view: OneView, G: Float, B: Float, V: Float, diagonal: Float, sweeps: int) -> tuple[float, Float, Float]:
    """Minimise <V, V G + diagonal V - lam W V - 2 B> over V >= 0; its value at the start, the first step, the last."""
    curvature = float(np.linalg.eigvalsh(G)[-1]) + diagonal + view.degrees
    Y, t, before, first = V, 1.0, np.inf, V
    for sweep in range(sweeps):
        gradient = Y @ G - B + diagonal * Y - view.neighbours(Y)
        new = np.maximum(Y - gradient / curvature, 0)
        if sweep == 0:
            before, first = float((V * (gradient - B)).sum()), new
        step = new - V
        if float(np.vdot(curvature * (Y - new), step)) > 0:  # momentum points uphill: start it again
            t = 1.0
        following = (1 + np.sqrt(1 + 4 * t * t)) / 2
        Y, V, t = new + ((t - 1) / following) * step, new, following
    return before, first, V


def _exact_columns(U: Float, basis: Basis) -> Float:
    """Minimise over each column of U in turn: H_jj |u|^2 + (a_j + g_j)(1'u)^2 - 2 c'u over u >= 0."""
    U = U.copy(order="F")
    for j in np.flatnonzero(basis.H.diagonal() > 0):
        c = basis.C[:, j] - U @ basis.H[j] + basis.H[j, j] * U[:, j] + basis.b[j]
        U[:, j] = nonnegative_with_sum(c, float(basis.H[j, j]), float(basis.a[j] + basis.g[j]))
    return np.ascontiguousarray(U)


def _finished(view: OneView, basis: Basis, U: Float, V: Float) -> Solved:
    """Return normalised factors; C, H and g still belong to V, so that the cost needs no pass over the data."""
    cost = fit_of(view, basis, U) + float(basis.g @ U.sum(axis=0) ** 2)
    return Solved(*normalised(U, V), cost)


official: Solver = partial(multiplicative, sweeps=(1, 1), graph_in_basis=False)
"""The update rule that the authors of GPMVC released."""

SOLVERS: dict[str, Solver] = {"apg": accelerated, "mu": multiplicative}
