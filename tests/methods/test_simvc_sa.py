"""SIMVC-SA: the released code's numbers, a naive transcription, and what must hold of codes and turns."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from conspectus import SIMVCSA, as_views
from conspectus.loop import run, strict
from conspectus.methods.anchors.simvc_sa import Penalties, codes, first_codes, steps
from conspectus.metrics import adjusted_rand_index
from conspectus.numerics.orthogonal import polar
from conspectus.numerics.rows import unit_rows
from conspectus.numerics.simplex import project_simplex

from .golden import anchor_views, golden
from .test_apmc import blobs, same_up_to_rotation


@pytest.mark.parametrize(("key", "m", "penalties"), [("a", 8, Penalties(1.0, 0.01)), ("b", 4, Penalties(0.01, 0.1))])
def test_equal_to_the_released_code(key, m, penalties):
    stored, views = golden("anchors"), anchor_views()[0]
    views = views.each([unit_rows] * 3)
    Z = [stored[f"simvc_Z0_{v}"][:m].T for v in range(3)]
    Z = [z / z.sum(axis=1, keepdims=True) for z in Z]
    objective = stored[f"oct_simvc_{key}_obj"]
    state, trace = run(steps(views, Z, penalties), max_iter=101, tol=1e-6, min_iter=10, warn=False)
    np.testing.assert_allclose(trace.objective, objective[: trace.n_iter], rtol=1e-12)
    state, trace = run(steps(views, Z, penalties), max_iter=len(objective), tol=None)
    np.testing.assert_allclose(trace.objective, objective, rtol=1e-12)
    np.testing.assert_allclose(state.F, stored[f"oct_simvc_{key}_F"], atol=1e-11)
    np.testing.assert_allclose(state.g, stored[f"oct_simvc_{key}_gamma"], atol=1e-12)
    for v in range(3):
        np.testing.assert_allclose(state.used.A[v], stored[f"oct_simvc_{key}_A{v}"], atol=1e-11)


def naive(X, mask, Z, lam, mu, n_iter):
    """The formulas, every matrix stored."""
    V, m = len(X), Z[0].shape[1]
    Z, P, g = [z.copy() for z in Z], [np.eye(m)] * V, np.full(V, 1 / V)
    for _ in range(n_iter):
        A = [polar(X[v][mask[:, v]].T @ Z[v][mask[:, v]]) for v in range(V)]
        F = polar(sum(Z[v] @ P[v].T for v in range(V)))
        for v in range(V):
            h = mask[:, [v]] * g[v] ** 2
            Z[v] = project_simplex((h * (X[v] @ A[v]) + lam * F @ P[v]) / (h + lam + mu))
        P = [polar(F.T @ z) for z in Z]
        r = np.array([((X[v] - Z[v] @ A[v].T)[mask[:, v]] ** 2).sum() for v in range(V)])
        g = 1 / r / (1 / r).sum()
        J = sum(g[v] ** 2 * r[v] + lam * ((Z[v] @ P[v].T - F) ** 2).sum() + mu * (Z[v] ** 2).sum() for v in range(V))
    return J, Z, P, F


def test_naive_transcription_on_30_samples():
    X, mask, _ = blobs(30, dims=(7, 8, 9), seed=4)
    Z = first_codes(as_views(X, mask), 3, 6, "random", np.random.RandomState(0))
    J, dense, P, F = naive(X, mask, [Z] * 3, 0.3, 0.05, 5)
    found, state = list(islice(steps(as_views(X, mask), Z, Penalties(0.3, 0.05)), 5))[-1]
    assert found == pytest.approx(J, rel=1e-9)
    np.testing.assert_allclose(state.F, F, atol=1e-8)
    for v in range(3):
        np.testing.assert_allclose(state.P[v], P[v], atol=1e-8)
        seen, rest = codes(as_views(X, mask), state.F, v, state.used, Penalties(0.3, 0.05))
        np.testing.assert_allclose(as_views(X, mask).scatter(v, seen, rest), dense[v], atol=1e-8)


@pytest.mark.parametrize("init", ["random", "codes"])
def test_objective_falls_and_states_are_feasible(init):
    X, mask, _ = blobs(80, dims=(3, 8, 20), seed=5)  # the first view has fewer columns than anchors
    views = as_views(X, mask).each([unit_rows] * 3)
    Z = first_codes(views, 3, 6, init, np.random.RandomState(0))
    np.testing.assert_allclose(Z.sum(axis=1), 1)
    with strict():
        state, _ = run(steps(views, Z, Penalties(0.1, 0.01)), max_iter=30, tol=None, direction="down")
    np.testing.assert_allclose(state.F.T @ state.F, np.eye(6), atol=1e-10)
    for A, P in zip(state.used.A, state.P):
        smaller = A.T @ A if len(A) >= 6 else A @ A.T
        np.testing.assert_allclose(smaller, np.eye(len(smaller)), atol=1e-10)
        np.testing.assert_allclose(P @ P.T, np.eye(6), atol=1e-10)
    assert state.g.sum() == pytest.approx(1)


def test_the_embedding_is_that_of_the_codes():
    X, mask, _ = blobs(60, seed=6)
    views = as_views(X, mask)
    model = SIMVCSA(3, lam=0.01, prepare=None, max_iter=12, tol=None, random_state=0).fit(views)
    state, S = model.state_.state, 0
    for v in range(3):
        S = S + views.scatter(v, *codes(views, state.F, v, state.used, Penalties(0.01, 0.01))) @ state.P[v].T
    same_up_to_rotation(model.embedding_, unit_rows(np.linalg.svd(S, full_matrices=False)[0][:, :3]))


def test_going_on_is_bit_equal():
    X, mask, _ = blobs(90)
    views = as_views(X, mask)
    whole = SIMVCSA(3, max_iter=20, random_state=0).fit(views)
    first = SIMVCSA(3, max_iter=4, random_state=0).fit(views)
    rest = SIMVCSA(3, max_iter=20, random_state=0).fit(views, start=first.state_)
    assert rest.trace_.objective == whole.trace_.objective
    assert rest.n_iter_ > 4
    np.testing.assert_array_equal(rest.labels_, whole.labels_)
    np.testing.assert_array_equal(rest.embedding_, whole.embedding_)


def test_blobs_are_found_and_predicted_from_any_views():
    X, mask, y = blobs(150)
    model = SIMVCSA(3, init="codes", random_state=0).fit(as_views(X, mask))
    assert adjusted_rand_index(y, model.labels_) == 1
    assert adjusted_rand_index(y, model.predict(X)) == 1
    for v in range(3):
        assert adjusted_rand_index(y, model.predict({v: X[v]})) == 1


def test_blocks_of_another_size_and_orders_do_not_matter():
    X, mask, _ = blobs(100)
    views = as_views(X, mask)
    Z = first_codes(views, 3, 6, "random", np.random.RandomState(0))
    order = np.random.default_rng(0).permutation(100)
    one = list(islice(steps(views, Z, Penalties(0.1, 0.1)), 6))[-1][0]
    for other, z in (
        (replace(views, chunk=7), Z),
        (as_views([x[order] for x in X], mask[order]), Z[order]),
        (as_views(X[::-1], mask[:, ::-1]), Z),
    ):
        assert list(islice(steps(other, z, Penalties(0.1, 0.1)), 6))[-1][0] == pytest.approx(one, rel=1e-9)


def test_content_of_unseen_rows_is_never_read():
    X, mask, _ = blobs(60)
    labels = SIMVCSA(3, max_iter=10, random_state=0).fit_predict(as_views(X, mask))
    for junk in (np.nan, np.inf, 1e300):
        other = [np.where(mask[:, [v]], x, junk) for v, x in enumerate(X)]
        np.testing.assert_array_equal(
            SIMVCSA(3, max_iter=10, random_state=0).fit_predict(as_views(other, mask)), labels
        )
