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


def accelerated(view: OneView, U: Float, V: Float, pull: Pull, *, sweeps: tuple[int, int] = (10, 3)) -> Solved:
    """Take accelerated projected gradient steps for V and exact columns of U from normalised factors.

    The quadratic form of V lies below the diagonal one lmax(G) + m_i + 2 lam D_ii, for D - W <= 2 D.
    """
    G, B = U.T @ U, view.X @ U + pull.m * pull.T
    before, first, V = _momentum(view, G, B, V, pull.m, sweeps[0])
    basis = Basis.of(view, V, pull)
    if float(np.vdot(G, basis.H) + basis.a.sum() + basis.g.sum() - 2 * np.vdot(B, V)) > before:
        V, basis = first, Basis.of(view, first, pull)  # momentum overshot; one plain step never does
    for _ in range(sweeps[1]):
        U = _exact_columns(U, basis)
    return _finished(view, basis, U, V)


def _momentum(view: OneView, G: Float, B: Float, V: Float, m: Float, sweeps: int) -> tuple[float, Float, Float]:
    """Minimise <V, V G + m V + lam L V - 2 B> over V >= 0; its value at the start, the first step, the last."""
    length = np.repeat(1 / (float(np.linalg.eigvalsh(G)[-1]) + m + 2 * view.degrees), V.shape[1], axis=1)
    m = np.repeat(m, V.shape[1], axis=1)  # columns formed once are faster than broadcast in every sweep
    Y, t, before, first = V, 1.0, np.inf, V
    for sweep in range(sweeps):
        gradient = Y @ G
        gradient += view.roughness(Y)
        gradient += m * Y
        gradient -= B
        if sweep == 0:
            before = float(np.vdot(V, gradient - B))
        new = gradient * length
        np.subtract(Y, new, out=new)
        np.maximum(new, 0, out=new)
        step = new - V
        if sweep == 0:
            first = new
        if float(np.vdot(gradient, step)) > 0:  # momentum points uphill: start it again
            t = 1.0
        following = (1 + np.sqrt(1 + 4 * t * t)) / 2
        step *= (t - 1) / following
        Y, V, t = np.add(new, step, out=step), new, following
    return before, first, V


def _exact_columns(U: Float, basis: Basis) -> Float:
    """Minimise over each column of U in turn: H_jj |u|^2 + (a_j + g_j)(1'u)^2 - 2 c'u over u >= 0."""
    rows = np.ascontiguousarray(U.T)
    C, h = basis.C.T + basis.b[:, None], basis.a + basis.g
    for j in np.flatnonzero(basis.H.diagonal() > 0):
        others = basis.H[j].copy()
        others[j] = 0
        rows[j] = nonnegative_with_sum(C[j] - others @ rows, float(basis.H[j, j]), float(h[j]))
    return np.ascontiguousarray(rows.T)


def _finished(view: OneView, basis: Basis, U: Float, V: Float) -> Solved:
    """Return normalised factors; C, H and g still belong to V, so that the cost needs no pass over the data."""
    cost = fit_of(view, basis, U) + float(basis.g @ U.sum(axis=0) ** 2)
    return Solved(*normalised(U, V), cost)


official: Solver = partial(multiplicative, sweeps=(1, 1), graph_in_basis=False)
"""The update rule that the authors of GPMVC released."""

SOLVERS: dict[str, Solver] = {"apg": accelerated, "mu": multiplicative}
