"""Where the factors of a view begin: the graph regularised factors of Cai et al., the best of several random starts.

From one random start the methods of this family often end in 0 / 0 or in a poor fit; this beginning is not optional.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.random import RandomState

from conspectus._typing import Float
from conspectus.methods.factors.one_view import OneView, Pull, fit_of, normalised
from conspectus.methods.factors.solvers import multiplicative, multiplied

Factors = tuple[Float, Float]
"""U (d x k) and V (n_v x k) of one view."""

STARTS, START_ITER, FIRST_ITER = 10, 30, 75
"""The released choice: so many random starts of so many iterations, the best one continued to so many in all."""


def random_factors(view: OneView, k: int, rng: RandomState) -> Factors:
    """Draw from (0, 1], for an exact zero would stay; columns of U of unit length, as Cai's code begins."""
    n, d = view.X.shape
    return unit_columns(1 - rng.random_sample((d, k)), 1 - rng.random_sample((n, k)))


def unit_columns(U: Float, V: Float) -> Factors:
    """Return the same product with columns of U of unit length (columns of zeros as they are)."""
    length = np.sqrt((U * U).sum(axis=0))
    return U / np.where(length > 0, length, 1), V * length


def unscaled_steps(view: OneView, U: Float, V: Float) -> Iterator[tuple[float, Factors]]:
    """Lower |X - V U'|^2 + lam tr(V'LV) by the multiplicative steps of Cai et al., without scaling in between.

    The graph's term falls with the scale of V, too: what it does depends on when one stops.
    """
    none = Pull.none(V.shape)
    while True:
        U, V, basis = multiplied(view, U, V, none, (1, 1), graph_in_basis=False)
        yield fit_of(view, basis, U) + float(basis.g.sum()), (U, V)


def best_start(view: OneView, starts: Iterator[Factors], n_iter: int) -> Factors:
    """Return the start of the lowest objective after so many iterations, as it is then."""
    tried = (next(islice(unscaled_steps(view, *start), n_iter - 1, None)) for start in starts)
    return min(tried, key=lambda tried_one: tried_one[0])[1]


def advanced(view: OneView, factors: Factors, n_iter: int) -> Factors:
    """Go on for so many iterations."""
    return next(islice(unscaled_steps(view, *factors), n_iter - 1, None))[1]


def single_view_start(view: OneView, k: int, rng: RandomState, n_iter: int = FIRST_ITER) -> Factors:
    """Return the factors of one view that a method of several views begins from, at the scale they end at."""
    starts = (random_factors(view, k, rng) for _ in range(STARTS))
    return advanced(view, best_start(view, starts, START_ITER), n_iter - START_ITER)


def chained_start(views: Sequence[OneView], k: int, rng: RandomState) -> list[Factors]:
    """Factor views of the same samples so that their columns mean the same: each begins from the last one's V.

    The first view begins from the best of several random starts; then, three times, every view takes over the
    coefficients of the view before it (the first those of the last), looks for its basis alone, and goes on from there.
    No entry becomes an exact zero, which multiplicative steps could never leave.
    """
    none = Pull.none((views[0].X.shape[0], k))
    _, V = normalised(*best_start(views[0], (random_factors(views[0], k, rng) for _ in range(STARTS)), START_ITER))
    for _ in range(3):
        found = []
        for view in views:
            U = random_factors(view, k, rng)[0]
            U, V, _ = multiplicative(view, normalised(U, V)[0], V, none, sweeps=(0, 50))
            for _ in range(10):
                U, V, _ = multiplicative(view, U, V, none)
            found.append((U, V))
    return found
