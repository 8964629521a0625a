"""DAIMC: each block solves its equation, the objective is that of the formula, unseen rows are never read."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from scipy.linalg import solve_sylvester

from conspectus import DAIMC, as_views
from conspectus.methods.factors import daimc
from conspectus.metrics import adjusted_rand_index
from conspectus.numerics.rows import unit_rows

from .test_apmc import blobs


def problem_of(n=60, a=0.1, b=1.0, dims=(5, 8, 6)):
    X, mask, _ = blobs(n, dims=dims)
    return daimc.Problem.of(as_views(X, mask).each([unit_rows] * 3), a, b)


@pytest.mark.parametrize("rank", [4, 2])
def test_the_sylvester_equation_is_solved(rank):
    rng = np.random.default_rng(0)
    B, Z, R = rng.normal(size=(30, 4)), rng.random((20, rank)) @ rng.random((rank, 4)), rng.normal(size=(30, 4))
    S = Z.T @ Z + (0 if rank < 4 else 0.1) * np.eye(4)
    U = daimc.basis(R, S, B, 0.3)
    if rank == 4:
        residual = 0.3 * B @ (B.T @ U) + U @ S - R
        assert np.abs(residual).max() < 1e-8 * np.abs(R).max()
        np.testing.assert_allclose(U, solve_sylvester(0.3 * B @ B.T, S, R), atol=1e-10)
    assert np.isfinite(U).all()  # an empty cluster makes S singular


def test_the_alignment_is_stationary():
    rng = np.random.default_rng(1)
    U, D = rng.normal(size=(20, 4)), rng.random(20) * 1e-3
    B = daimc.alignment(U, D)
    np.testing.assert_allclose(U @ (U.T @ B) + D[:, None] * B, U, atol=1e-12)


def test_objective_is_that_of_the_formula_and_falls():
    problem = problem_of()
    begun = daimc.clustered(problem, 3, np.random.RandomState(0))
    drawn = list(islice(daimc.steps(problem, lambda: begun), 15))
    costs = [f for f, _ in drawn]
    assert max(np.diff(costs)) <= 1e-10
    U, V, B = drawn[-1][1]
    value = 0.0
    for v, X in enumerate(problem.X):
        value += ((X - problem.views.gather(v, V) @ U[v].T) ** 2).sum()
        value += 0.1 * (((B[v].T @ U[v] - np.eye(3)) ** 2).sum() + np.sqrt((B[v] ** 2).sum(axis=1) + 1e-10).sum())
    assert costs[-1] == pytest.approx(value, rel=1e-10)
    assert V.min() >= 0
    np.testing.assert_allclose(V.sum(axis=0), 1)


def test_steps_of_V_never_raise_the_fit():
    problem = problem_of()
    U, V, _ = daimc.clustered(problem, 3, np.random.RandomState(0))
    before = sum(((X - problem.views.gather(v, V) @ U[v].T) ** 2).sum() for v, X in enumerate(problem.X))
    moved, fit = daimc.coefficients(problem, U, V, problem.square)
    after = sum(((X - problem.views.gather(v, moved) @ U[v].T) ** 2).sum() for v, X in enumerate(problem.X))
    assert fit == pytest.approx(after, rel=1e-10)
    assert after < before


def test_blobs_are_found_and_predicted_from_any_views():
    X, mask, y = blobs(150)
    model = DAIMC(3, random_state=0).fit(as_views(X, mask))
    assert adjusted_rand_index(y, model.labels_) > 0.95
    assert np.mean(model.predict(as_views(X, mask)) == model.labels_) > 0.95
    for v in range(3):
        assert adjusted_rand_index(y, model.predict({v: X[v]})) > 0.9


def test_going_on_is_bit_equal():
    views = as_views(*blobs(80)[:2])
    whole, first = (DAIMC(3, random_state=0, tol=None, max_iter=m).fit(views) for m in (6, 2))
    rest = DAIMC(3, random_state=0, tol=None, max_iter=6).fit(views, start=first.state_)
    assert rest.trace_.objective == whole.trace_.objective
    np.testing.assert_array_equal(rest.embedding_, whole.embedding_)


def test_content_of_unseen_rows_is_never_read():
    X, mask, _ = blobs(80)
    model = DAIMC(3, random_state=0).fit(as_views(X, mask))
    for junk in (np.nan, 1e300):
        other = [np.where(mask[:, [v]], x, junk) for v, x in enumerate(X)]
        np.testing.assert_array_equal(DAIMC(3, random_state=0).fit(as_views(other, mask)).embedding_, model.embedding_)
