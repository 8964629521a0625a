"""GPMVC: its objective as printed, gradients, monotone solvers, invariances, and resuming bit for bit."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import nnls

from conspectus import GPMVC, InputError, as_views, missing
from conspectus.loop import run, strict
from conspectus.methods.factors import gpmvc
from conspectus.methods.factors.one_view import Basis, OneView, Pull, normalised, objective
from conspectus.methods.factors.scale import scales
from conspectus.methods.factors.solvers import SOLVERS
from conspectus.metrics import adjusted_rand_index
from conspectus.numerics import knn_graph

from .factor_problems import parts


def problem_of(X, mask, lam=0.3, mu=0.1, graph="heat"):
    views = as_views(X, mask)
    c = scales(views)
    made = []
    for v in range(views.n_views):
        rows = views.data(v) * c[v]
        made.append(OneView.of(rows, knn_graph(rows, 4, graph), lam))
    return gpmvc.Problem(views, tuple(made), np.full(views.n_views, mu))


def begin(problem, k=3, seed=0):
    rng = np.random.default_rng(seed)
    found = [
        normalised(rng.random((p.X.shape[1], k)) + 0.1, rng.random((p.X.shape[0], k)) + 0.1) for p in problem.parts
    ]
    return gpmvc.State(*zip(*found))


def dense_graph(part):
    return np.zeros((len(part.X),) * 2) if part.W is None else part.W.toarray()


def naive(problem, U, V, C):
    """The objective with dense matrices, term by term."""
    total = 0.0
    for v, part in enumerate(problem.parts):
        W, Q = dense_graph(part), np.diag(U[v].sum(axis=0))
        L = np.diag(W.sum(axis=1)) - W
        total += ((part.X - V[v] @ U[v].T) ** 2).sum()
        total += problem.mu[v] * ((V[v] @ Q - C[problem.views.observed(v)]) ** 2).sum()
        total += part.lam * np.trace(Q @ V[v].T @ L @ V[v] @ Q)
    return total


@pytest.mark.parametrize("solver", ["apg", "mu"])
@pytest.mark.parametrize(("lam", "mu"), [(0.0, 0.0), (0.01, 0.1), (1.0, 0.1), (1e4, 10.0)])
def test_objective_falls_and_is_that_of_the_formula(solver, lam, mu):
    problem = problem_of(*parts(60)[:2], lam=lam, mu=mu)
    with strict():
        state, trace = run(
            gpmvc.steps(problem, lambda: begin(problem), SOLVERS[solver]), max_iter=60, tol=None, direction="down"
        )
    C = problem.consensus(state.V)
    assert trace.objective[-1] == pytest.approx(naive(problem, state.U, state.V, C), rel=1e-9)
    for U, V in zip(state.U, state.V):
        np.testing.assert_allclose(U.sum(axis=0), 1)
        assert min(U.min(), V.min()) >= 0
    weights = problem.views.seen @ problem.mu if mu else problem.views.seen.sum(axis=1)
    expected = sum(problem.views.scatter(v, V) for v, V in enumerate(state.V)) * (mu or 1) / weights[:, None]
    np.testing.assert_allclose(C, expected)
    for i in np.flatnonzero(problem.views.seen.sum(axis=1) == 1):
        v = int(problem.views.seen[i].argmax())
        np.testing.assert_allclose(C[i], state.V[v][problem.views.observed(v) == i][0])


def test_the_consensus_put_in_is_the_objective():
    """With V* at its best, the rest of the objective is a pull to the other views, but for a constant."""
    problem = problem_of(*parts(40)[:2])
    rng = np.random.default_rng(3)
    _, V = map(list, begin(problem))
    for v in range(3):
        pull, changed = problem.pull(v, V), list(V)
        changed[v] = V[v] + rng.normal(size=V[v].shape)
        before, after = (float((pull.m * (x - pull.T) ** 2).sum()) for x in (V[v], changed[v]))
        assert problem.disagreement(changed) - problem.disagreement(V) == pytest.approx(after - before, rel=1e-9)


def test_gradients_are_those_of_finite_differences():
    problem = problem_of(*parts(20, dims=(4, 5, 6))[:2])
    U, V = begin(problem)
    view, u, w, pull = problem.parts[1], U[1], V[1], problem.pull(1, V)
    basis = Basis.of(view, w, pull)
    in_V = 2 * (w @ u.T @ u - view.X @ u + pull.m * (w - pull.T) + view.degrees * w - view.neighbours(w))
    in_U = 2 * (u @ basis.H - basis.C + (basis.a + basis.g) * u.sum(axis=0) - basis.b)
    for x, gradient, value in [
        (w, in_V, lambda x: objective(view, u, x, pull)),
        (u, in_U, lambda x: objective(view, x, w, pull)),
    ]:
        for i, j in [(0, 0), (2, 1), (3, 2)]:
            step = np.zeros_like(x)
            step[i, j] = 1e-5
            assert (value(x + step) - value(x - step)) / 2e-5 == pytest.approx(gradient[i, j], rel=1e-6, abs=1e-9)


def test_objective_does_not_depend_on_the_scale_of_the_factors():
    problem = problem_of(*parts(30)[:2])
    U, V = begin(problem)
    view, pull, d = problem.parts[0], problem.pull(0, V), np.array([3.0, 0.2, 11.0])
    assert objective(view, U[0] * d, V[0] / d, pull) == pytest.approx(objective(view, U[0], V[0], pull), rel=1e-12)


@pytest.mark.parametrize("solver", ["apg", "mu"])
def test_a_dead_part_stays_finite(solver):
    problem = problem_of(*parts(30)[:2])
    U, V = begin(problem)
    view, pull = problem.parts[0], problem.pull(0, V)
    dead = U[0] * [1.0, 0.0, 1.0]
    found = SOLVERS[solver](view, *normalised(dead, V[0]), pull)
    assert all(np.isfinite(part).all() for part in found)
    np.testing.assert_allclose(found.U.sum(axis=0), 1)


@pytest.mark.parametrize("solver", ["apg", "mu"])
def test_without_ties_each_view_is_factored_on_its_own(solver):
    X, mask, _ = parts(50)
    problem = problem_of(X, mask, lam=0.0, mu=0.0)
    start = begin(problem)
    together = list(islice(gpmvc.steps(problem, lambda: start, SOLVERS[solver]), 5))[-1]
    total = 0.0
    for v, view in enumerate(problem.parts):
        U, V, none = start.U[v], start.V[v], Pull.none(start.V[v].shape)
        for _ in range(5):
            U, V, cost = SOLVERS[solver](view, U, V, none)
        np.testing.assert_allclose(together[1].V[v], V, rtol=1e-12)
        total += cost
    assert together[0] == pytest.approx(total)


def test_the_solvers_meet():
    """From near a minimum both find it; the accelerated one gets no less far."""
    problem = problem_of(*parts(60, seed=2)[:2], lam=0.1)
    near = list(islice(gpmvc.steps(problem, lambda: begin(problem), SOLVERS["apg"]), 100))[-1][1]
    start = gpmvc.State(*zip(*(normalised(U + 0.01, V * 1.1 + 1e-4) for U, V in zip(*near))))
    apg, mu = (
        [f for f, _ in islice(gpmvc.steps(problem, lambda: start, SOLVERS[name]), 200)] for name in ("apg", "mu")
    )
    assert apg[-1] <= mu[-1]
    assert apg[-1] == pytest.approx(mu[-1], rel=0.05)


def test_classes_are_found_and_predicted_from_any_views():
    X, mask, y = parts(150)
    assert adjusted_rand_index(y, GPMVC(3, random_state=0).fit_predict(as_views(X, mask))) > 0.8
    model = GPMVC(3, init="align", random_state=0).fit(as_views(X, mask))
    assert adjusted_rand_index(y, model.labels_) > 0.95
    assert np.mean(model.predict(as_views(X, mask)) == model.labels_) > 0.97
    for v in range(3):
        assert adjusted_rand_index(y, model.predict({v: X[v]})) > 0.9


def test_the_map_is_the_mean_of_nonnegative_least_squares():
    X, mask, _ = parts(60)
    views = as_views(X, mask)
    model = GPMVC(3, random_state=0, mu=[0.1, 0.3, 0.2]).fit(views)
    H = model._rule.map(views)
    for i in range(0, 60, 7):
        seen = np.flatnonzero(mask[i])
        z = [nnls(model.bases_[v], X[v][i] * scales(views)[v])[0] for v in seen]
        mean = np.average(z, axis=0, weights=np.array([0.1, 0.3, 0.2])[seen])
        np.testing.assert_allclose(H[i], mean / np.linalg.norm(mean), atol=1e-8)


@pytest.mark.parametrize("options", [{}, {"solver": "mu"}, {"variant": "official"}, {"init": "align"}])
def test_going_on_is_bit_equal(options):
    views = as_views(*parts(60)[:2])
    fixed = {"random_state": 0, "tol": None, **options}
    whole = GPMVC(3, max_iter=6, **fixed).fit(views)
    first = GPMVC(3, max_iter=2, **fixed).fit(views)
    rest = GPMVC(3, max_iter=6, **fixed).fit(views, start=first.state_)
    assert rest.trace_.objective == whole.trace_.objective
    np.testing.assert_array_equal(rest.embedding_, whole.embedding_)
    np.testing.assert_array_equal(rest.labels_, whole.labels_)


def test_an_interrupt_before_the_first_iteration_can_be_gone_on_from(monkeypatch):
    views = as_views(*parts(60)[:2])
    whole = GPMVC(3, random_state=0).fit(views)

    def interrupt(*arguments):
        raise KeyboardInterrupt

    stopped = GPMVC(3, random_state=0)
    with monkeypatch.context() as patch:
        patch.setattr(gpmvc, "single_view_state", interrupt)
        with pytest.raises(KeyboardInterrupt):
            stopped.fit(views)
    again = GPMVC(3, random_state=0).fit(views, start=stopped.state_)
    assert again.trace_.objective == whole.trace_.objective


def test_scale_order_and_storage_do_not_matter():
    X, mask, _ = parts(80)
    model = GPMVC(3, random_state=0).fit(as_views(X, mask))
    scaled = GPMVC(3, random_state=0).fit(as_views([x * 512 for x in X], mask))
    np.testing.assert_array_equal(scaled.labels_, model.labels_)
    np.testing.assert_allclose(scaled.trace_.objective, model.trace_.objective)
    kept = missing.remove([sparse.csr_array(x) for x in X], mask)
    stored = GPMVC(3, random_state=0, prepare=None).fit(kept)
    np.testing.assert_allclose(stored.trace_.objective, model.trace_.objective, rtol=1e-9)


def test_a_permutation_of_the_samples_permutes_the_factors():
    X, mask, _ = parts(50)
    order = np.random.default_rng(0).permutation(50)
    one, other = problem_of(X, mask), problem_of([x[order] for x in X], mask[order])
    start = begin(one)
    moved = gpmvc.State(
        start.U, tuple(other.views.gather(v, one.views.scatter(v, V)[order]) for v, V in enumerate(start.V))
    )
    found, same = (
        list(islice(gpmvc.steps(p, lambda s=s: s, SOLVERS["apg"]), 10))[-1] for p, s in ((one, start), (other, moved))
    )
    assert same[0] == pytest.approx(found[0], rel=1e-10)
    np.testing.assert_allclose(other.consensus(same[1].V), one.consensus(found[1].V)[order], rtol=1e-6, atol=1e-9)


def test_alignment_undoes_a_permutation_of_the_parts():
    problem = problem_of(*parts(50)[:2])
    U, V = begin(problem)
    one = problem.views.scatter(0, V[0]) + problem.views.scatter(1, V[1]) * ~problem.views.seen[:, [0]]
    shuffled = [
        (u[:, p], problem.views.gather(v, one)[:, p])
        for v, (u, p) in enumerate(zip(U, [[0, 1, 2], [2, 0, 1], [1, 0, 2]]))
    ]
    aligned = gpmvc.aligned(problem, shuffled)
    for v in (1, 2):
        np.testing.assert_array_equal(aligned.V[v], problem.views.gather(v, one))


@pytest.mark.filterwarnings("ignore::conspectus.errors.DataWarning")
def test_zero_rows_and_columns_and_tiny_views():
    X, mask, _ = parts(40)
    X[0][3], X[1][:, 2] = 0, 0
    mask[:, 2] = False
    mask[:2, 2] = True
    mask[:, 0] |= ~mask[:, 1]
    for solver in ("apg", "mu"):
        model = GPMVC(3, solver=solver, random_state=0, max_iter=20).fit(as_views(X, mask))
        assert np.isfinite(model.consensus_).all()
    X[1][:] = 0
    with pytest.raises(InputError, match="view 1 has no entry above zero"):
        GPMVC(3, prepare=None).fit(as_views(X, mask))


def test_a_given_graph_is_the_one_used():
    X, mask, _ = parts(60)
    views = as_views(X, mask)
    given = []
    for v in range(3):
        W = knn_graph(views.data(v), 5)
        rows = views.observed(v)
        whole = np.full((60, 60), np.nan)
        whole[np.ix_(rows, rows)] = W.toarray()
        given.append(whole)
    one, other = (GPMVC(3, graph=graph, random_state=0).fit(views) for graph in ("binary", given))
    np.testing.assert_allclose(one.trace_.objective, other.trace_.objective)
    for bad, match in [
        (given[:2], "2 matrices for 3 views"),
        ([given[0][:5], *given[1:]], "shape"),
        ([-given[0], *given[1:]], "nonnegative"),
        ([np.triu(given[0]), *given[1:]], "symmetric"),
    ]:
        with pytest.raises(InputError, match=match):
            GPMVC(3, graph=bad).fit(views)


def test_negative_data_and_weights_are_refused():
    X, mask, _ = parts(40)
    views = as_views([X[0], X[1] - 2, X[2]], mask)
    with pytest.raises(InputError, match=r"view 1, column .*prepare='clip' or prepare='minmax'"):
        GPMVC(3, prepare=None).fit(views)
    GPMVC(3, max_iter=2, tol=None).fit(views)
    with pytest.raises(InputError, match="mu"):
        GPMVC(3, mu=[0.1, 0.0, 0.1]).fit(views)
    with pytest.raises(InputError, match="lam"):
        GPMVC(3, lam=[0.1, 0.1]).fit(views)
