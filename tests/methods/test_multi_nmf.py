"""MultiNMF: equal to GPMVC without graphs on complete data, mean rows that are never formed, monotone rounds."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from scipy import sparse

from conspectus import GPMVC, Filled, InputError, MultiNMF, as_views
from conspectus.loop import run, strict
from conspectus.methods.factors import gpmvc, multi_nmf
from conspectus.methods.factors.one_view import MeanFilled, OneView, Pull, normalised
from conspectus.methods.factors.scale import scales
from conspectus.methods.factors.solvers import SOLVERS, multiplicative, official
from conspectus.metrics import adjusted_rand_index

from .factor_problems import parts


def begun(views, k=3, seed=0):
    rng = np.random.default_rng(seed)
    found = [normalised(rng.random((part.X.shape[1], k)), rng.random((part.X.shape[0], k))) for part in views]
    U, V = zip(*found)
    return multi_nmf.State(U, V, V[0])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_filled_matrix_multiplies_like_one_that_is_formed(kind):
    X, mask, _ = parts(30)
    seen = mask[:, 0]
    formed = np.where(seen[:, None], X[0], X[0][seen].mean(axis=0))
    filled = MeanFilled(kind(X[0][seen]), seen)
    rng = np.random.default_rng(0)
    U, V = rng.random((8, 3)), rng.random((30, 3))
    np.testing.assert_allclose(filled @ U, formed @ U)
    np.testing.assert_allclose(filled.T @ V, formed.T @ V)
    assert filled.square() == pytest.approx((formed**2).sum())
    assert filled.shape == formed.shape


@pytest.mark.parametrize("solver", ["apg", "mu"])
def test_rounds_never_rise(solver):
    X, mask, _ = parts(60)
    views = as_views(X, mask)
    made = multi_nmf.filled_parts(views, scales(views))
    with strict():
        state, trace = run(
            multi_nmf.steps(made, np.array([0.01, 0.2, 1.0]), lambda: begun(made), multi_nmf.SOLVERS[solver], 5),
            max_iter=40,
            tol=None,
            direction="down",
        )
    formed = [np.where(mask[:, [v]], X[v], X[v][mask[:, v]].mean(axis=0)) * scales(views)[v] for v in range(3)]
    value = sum(
        ((x - V @ U.T) ** 2).sum() + a * ((V - state.C) ** 2).sum()
        for x, U, V, a in zip(formed, state.U, state.V, [0.01, 0.2, 1.0])
    )
    assert trace.objective[-1] == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(state.C, np.average(state.V, axis=0, weights=[0.01, 0.2, 1.0]))


def test_gpmvc_without_graphs_has_the_same_objective_and_steps():
    """Under one held consensus both make the same steps; at rest both have the same value."""
    X, _, _ = parts(40)
    views = as_views(X)
    made = [OneView.of(views.data(v), scale=scales(views)[v]) for v in range(3)]
    problem, alpha = gpmvc.Problem(views, tuple(made), np.full(3, 0.1)), np.full(3, 0.1)
    start = begun(made)._replace(C=problem.consensus(begun(made).V))
    rounds = list(islice(multi_nmf.steps(made, alpha, lambda: start, official, 7), 4))
    same = list(islice(gpmvc.official_steps(problem, lambda: gpmvc.State(*start[:2]), inner=7), 4))
    np.testing.assert_allclose([f for f, _ in rounds], [f for f, _ in same], rtol=1e-12)
    for v in range(3):
        np.testing.assert_allclose(rounds[-1][1].V[v], same[-1][1].V[v], rtol=1e-10)
    value, state = next(gpmvc.steps(problem, lambda: gpmvc.State(*rounds[-1][1][:2]), SOLVERS["apg"]))
    assert value <= rounds[-1][0]
    assert value == pytest.approx(
        sum(((part.X - V @ U.T) ** 2).sum() for part, U, V in zip(made, *state)) + problem.disagreement(state.V)
    )


def test_a_held_consensus_is_a_pull():
    X, _, _ = parts(30)
    view = OneView.of(X[0], scale=1 / X[0].sum())
    state = begun([view])
    pull = Pull(state.C, np.full((30, 1), 1e6))
    U, V = state.U[0], np.ones_like(state.V[0])
    for _ in range(200):
        U, V, _ = multiplicative(view, U, V, pull)
    np.testing.assert_allclose(V, state.C, atol=1e-5)


def test_classes_are_found_and_gone_on_with():
    X, mask, y = parts(120, share=0.1)
    views = as_views(X, mask)
    model = MultiNMF(3, random_state=0, tol=None, max_iter=6).fit(views)
    assert adjusted_rand_index(y, model.labels_) > 0.8
    assert np.mean(model.predict(views) == model.labels_) > 0.85
    first = MultiNMF(3, random_state=0, tol=None, max_iter=2).fit(views)
    rest = MultiNMF(3, random_state=0, tol=None, max_iter=6).fit(views, start=first.state_)
    assert rest.trace_.objective == model.trace_.objective
    np.testing.assert_array_equal(rest.embedding_, model.embedding_)


def test_filling_first_gives_the_same():
    """Rows at the mean, formed or not. (The scale differs only by the sum of a filled view.)"""
    X, mask, _ = parts(60, share=0.1)
    views = as_views(X, mask)
    inside = MultiNMF(3, random_state=0, max_iter=3, tol=None).fit(views)
    outside = Filled(MultiNMF(3, max_iter=3, tol=None)).fit(views)
    complete = outside.preparation_.transform(views)
    assert len(complete) == 60
    filled = [np.where(mask[:, [v]], X[v], X[v][mask[:, v]].mean(axis=0)) for v in range(3)]
    formed = MultiNMF(3, random_state=0, max_iter=3, tol=None).fit(as_views(filled))
    np.testing.assert_allclose(formed.trace_.objective, inside.trace_.objective, rtol=1e-8)


def test_alpha_must_be_positive():
    X, mask, _ = parts(40)
    with pytest.raises(InputError, match="alpha must be positive"):
        MultiNMF(3, alpha=[0.1, 0.0, 0.1]).fit(as_views(X, mask))
    with pytest.raises(InputError, match=r"view 0, column .*prepare='clip' or prepare='minmax'"):
        MultiNMF(3, prepare=None).fit(as_views([-x for x in X], mask))
    assert GPMVC(3).requires.nonnegative
