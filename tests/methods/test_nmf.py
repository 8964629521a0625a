"""NMF and GNMF: scikit-learn's multiplicative solver, monotone objectives, one view only, and the compositions."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from sklearn.decomposition import non_negative_factorization

from conspectus import GNMF, GPMVC, NMF, InputError, all_methods, as_views
from conspectus.loop import run, strict
from conspectus.methods.factors import nmf
from conspectus.methods.factors.one_view import OneView, Pull, normalised
from conspectus.methods.factors.solvers import SOLVERS, official
from conspectus.metrics import adjusted_rand_index
from conspectus.numerics import knn_graph

from .factor_problems import parts


@pytest.fixture
def view():
    X = parts(60)[0][0]
    return OneView.of(X / X.sum())


def start(view, k=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((view.X.shape[1], k)) + 0.1, (rng.random((len(view.X), k)) + 0.1) * 1e-3


def test_equal_to_the_multiplicative_solver_of_scikit_learn(view):
    U, V = start(view)
    theirs, basis, _ = non_negative_factorization(
        view.X, W=V.copy(), H=U.T.copy(), n_components=3, init="custom", solver="mu", max_iter=40, tol=0
    )
    state = list(islice(nmf.official_steps(view, lambda: nmf.State(U, V), None), 40))[-1][1]
    np.testing.assert_allclose(state.V @ state.U.T, theirs @ basis, rtol=1e-9)
    np.testing.assert_allclose(state.V, theirs, rtol=1e-9)
    # Scaling in between changes nothing without a graph.
    u, v = normalised(U, V)
    for _ in range(40):
        u, v, _ = official(view, u, v, Pull.none(v.shape))
    np.testing.assert_allclose(v @ u.T, theirs @ basis, rtol=1e-9)


@pytest.mark.parametrize("lam", [0.0, 1.0, 100.0, 1e4])
@pytest.mark.parametrize("form", ["apg", "mu", "official"])
def test_objective_falls(view, lam, form):
    view = OneView.of(view.X, knn_graph(view.X, 5), lam)

    def begin():
        return nmf.State(*normalised(*start(view)))

    iterates = nmf.official_steps(view, begin, None) if form == "official" else nmf.steps(view, begin, SOLVERS[form])
    with strict():
        state, _ = run(iterates, max_iter=150, tol=None, direction="down")
    assert min(state.U.min(), state.V.min()) >= 0
    assert np.isfinite(state.U).all()


def test_the_scale_lowers_the_official_value_alone(view):
    """Why the corrected form keeps the columns of U at sum one."""
    U, V = start(view)
    W = knn_graph(view.X, 5).toarray()
    L = np.diag(W.sum(axis=1)) - W

    def value(U, V):
        return ((view.X - V @ U.T) ** 2).sum() + np.trace(V.T @ L @ V)

    assert value(1e6 * U, V / 1e6) == pytest.approx(((view.X - V @ U.T) ** 2).sum(), rel=1e-6)
    assert value(U, V) > 1.0001 * value(1e6 * U, V / 1e6)


def test_gnmf_is_gpmvc_of_one_view():
    """From the same factors both go the same way."""
    X = parts(60)[0][0]
    gnmf = GNMF(3, lam=0.3, tol=None, max_iter=2, random_state=0).fit(X)
    U, V, _ = gnmf.state_.state
    same = gnmf.state_._replace(state=((U,), (V,)))
    one = GNMF(3, lam=0.3, tol=None, max_iter=6).fit(X, start=gnmf.state_)
    other = GPMVC(3, lam=0.3, tol=None, max_iter=6).fit(X, start=same)
    np.testing.assert_allclose(one.trace_.objective, other.trace_.objective, rtol=1e-12)
    np.testing.assert_allclose(one.coefficients_, other.consensus_, rtol=1e-10)


@pytest.mark.parametrize("method", [NMF, GNMF])
def test_more_than_one_view_is_refused_with_the_wrappers_named(method):
    X, mask, _ = parts(40)
    with pytest.raises(InputError, match=r"one view.*3: wrap it, as BestSingleView\(...\) or Concatenated\(...\)"):
        method(3).fit(as_views(X, mask))
    with pytest.raises(InputError, match=r"prepare='clip' or prepare='minmax'"):
        method(3, prepare=None).fit(X[0] - 1)


@pytest.mark.parametrize("model", [NMF(3), GNMF(3), GNMF(3, variant="official", graph="binary"), NMF(3, solver="mu")])
def test_classes_are_found_and_predicted_and_gone_on_with(model):
    X, _, y = parts(90)
    model.set_params(random_state=0, max_iter=8, tol=None)
    model.fit(X[1])
    assert adjusted_rand_index(y, model.labels_) > 0.95
    assert np.mean(model.predict(X[1]) == model.labels_) > 0.97
    half = type(model)(**{**model.get_params(), "max_iter": 3}).fit(X[1])
    rest = type(model)(**model.get_params()).fit(X[1], start=half.state_)
    assert rest.trace_.objective == model.trace_.objective
    np.testing.assert_array_equal(rest.embedding_, model.embedding_)


@pytest.mark.filterwarnings("ignore::conspectus.errors.DataWarning")
def test_a_single_column_and_zero_rows():
    x = np.concatenate([np.full(10, 1.0), np.full(10, 9.0)])[:, None] + np.arange(20)[:, None] / 100
    assert adjusted_rand_index(np.arange(20) // 10, NMF(2, random_state=0).fit_predict(x)) == 1
    X = parts(40)[0][0]
    X[5], X[:, 3] = 0, 0
    for method in (NMF, GNMF):
        assert np.isfinite(method(3, random_state=0).fit(X).embedding_).all()


@pytest.mark.parametrize("name", ["BestViewNMF", "BestViewGNMF", "ConcatNMF", "ConcatGNMF"])
def test_the_compositions_cluster_incomplete_views(name):
    X, mask, y = parts(120, share=0.1)
    model = all_methods()[name](3, n_restarts=2, max_iter=20, random_state=0).fit(as_views(X, mask))
    assert adjusted_rand_index(y, model.labels_) > 0.5
    assert len(model.predict({1: X[1]})) == 120
    assert all_methods()[name](3, fill="zero").fill == "zero"
