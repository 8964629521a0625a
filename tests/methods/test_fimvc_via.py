"""FIMVC-VIA: the released code's numbers, a naive transcription, optimal blocks, and resuming bit for bit."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from conspectus import FIMVCVIA, as_views
from conspectus.loop import run, strict
from conspectus.methods.anchors.fimvc_via import Codes, first_rows, orthonormal, steps
from conspectus.metrics import adjusted_rand_index
from conspectus.numerics.rows import unit_rows

from .golden import anchor_views, golden
from .test_apmc import blobs


def prepared(views):
    return views.each([unit_rows] * views.n_views)


def project(F):
    """The nearest point of the simplex, by enumeration of the supports' sizes."""
    best = None
    order = np.argsort(-F)
    for size in range(1, len(F) + 1):
        z = np.zeros_like(F)
        top = order[:size]
        z[top] = F[top] + (1 - F[top].sum()) / size
        if z.min() >= 0 and (best is None or ((z - F) ** 2).sum() < ((best - F) ** 2).sum()):
            best = z
    return best


def naive(X, mask, rows, lam, n_iter):
    """The formulas, a sample and a view at a time."""
    n, V, m = len(mask), len(X), len(rows)
    Z, a, objective = np.zeros((n, m)), np.full(V, 1 / V), []
    Z[rows] = np.eye(m)
    for _ in range(n_iter):
        A = []
        for v in range(V):
            U, _, W = np.linalg.svd(X[v][mask[:, v]].T @ Z[mask[:, v]], full_matrices=False)
            A.append(U @ W)
        for i in range(n):
            top = sum(a[v] ** 2 * A[v].T @ X[v][i] for v in range(V) if mask[i, v])
            Z[i] = project(top / (sum(a[v] ** 2 for v in range(V) if mask[i, v]) + lam))
        r = np.array([((X[v] - Z @ A[v].T)[mask[:, v]] ** 2).sum() for v in range(V)])
        a = 1 / r / (1 / r).sum()
        objective.append((a**2 * r).sum() + lam * (Z**2).sum())
    return Z, A, a, objective


@pytest.mark.parametrize(("key", "lam"), [("l1", 1.0), ("l01", 0.1)])
def test_equal_to_the_released_code(key, lam):
    stored = golden("anchors")
    views = prepared(anchor_views()[0])
    objective = stored[f"oct_fimvc_{key}_obj"]
    # The original begins from the first m samples, which are complete here, and stops by the same rule.
    state, trace = run(steps(views, np.arange(8), lam), max_iter=51, tol=1e-3)
    assert trace.n_iter == len(objective)
    np.testing.assert_allclose(trace.objective, objective, rtol=1e-13)
    Z = Codes(state.A, state.used, lam)(views)
    np.testing.assert_allclose(Z, stored[f"oct_fimvc_{key}_Z"], atol=1e-12)
    for v in range(3):
        np.testing.assert_allclose(state.A[v], stored[f"oct_fimvc_{key}_A{v}"], atol=1e-12)
    U = np.linalg.svd(Z, full_matrices=False)[0][:, :4]
    np.testing.assert_allclose(U @ U.T, stored[f"oct_fimvc_{key}_U"] @ stored[f"oct_fimvc_{key}_U"].T, atol=1e-10)


def test_naive_transcription_on_30_samples():
    X, mask, _ = blobs(30, dims=(7, 8, 9), seed=4)
    rows = np.flatnonzero(mask.all(axis=1))[:6]
    Z, A, a, objective = naive(X, mask, rows, 0.5, 5)
    found = list(islice(steps(as_views(X, mask), rows, 0.5), 5))
    np.testing.assert_allclose([f for f, _ in found], objective, rtol=1e-10)
    state = found[-1][1]
    np.testing.assert_allclose(state.a, a, rtol=1e-9)
    np.testing.assert_allclose(Codes(state.A, state.used, 0.5)(as_views(X, mask)), Z, atol=1e-9)


def test_objective_falls_and_states_are_feasible():
    X, mask, _ = blobs(80, dims=(3, 8, 20), seed=5)  # the first view has fewer columns than anchors
    views = prepared(as_views(X, mask))
    with strict():
        state, _ = run(steps(views, np.arange(6), 1.0), max_iter=30, tol=None, direction="down")
    for A in state.A[1:]:
        np.testing.assert_allclose(A.T @ A, np.eye(6), atol=1e-10)
    np.testing.assert_allclose(state.A[0] @ state.A[0].T, np.eye(3), atol=1e-10)
    assert state.a.min() >= 0
    assert state.a.sum() == pytest.approx(1)
    Z = Codes(state.A, state.a, 1.0)(views)
    assert Z.min() >= 0
    np.testing.assert_allclose(Z.sum(axis=1), 1)


def test_anchors_are_the_best_for_the_codes():
    X, mask, _ = blobs(60, dims=(8, 9, 10), seed=6)
    views = as_views(X, mask)
    C = list(islice(steps(views, np.arange(5), 1.0), 3))[-1][1].C
    rng = np.random.default_rng(0)
    for c in C:
        best = np.trace(orthonormal(c, None).T @ c)
        assert best == pytest.approx(np.linalg.norm(c, "nuc"))
        assert all(np.trace(np.linalg.qr(rng.normal(size=c.shape))[0].T @ c) <= best for _ in range(20))


@pytest.mark.parametrize("stop_at", [1, 3])
def test_going_on_is_bit_equal(stop_at):
    X, mask, _ = blobs(120)
    views = as_views(X, mask)
    seen = []
    whole = FIMVCVIA(3, random_state=0, tol=1e-6, callback=lambda t, f, s: seen.append(s.a)).fit(views)
    first = FIMVCVIA(3, random_state=0, tol=1e-6, max_iter=stop_at).fit(views)
    again = []
    rest = FIMVCVIA(3, random_state=0, tol=1e-6, callback=lambda t, f, s: again.append(s.a))
    rest.fit(views, start=first.state_)
    assert rest.trace_.objective == whole.trace_.objective
    assert rest.n_iter_ == whole.n_iter_ > stop_at
    np.testing.assert_array_equal(rest.labels_, whole.labels_)
    np.testing.assert_array_equal(rest.embedding_, whole.embedding_)
    np.testing.assert_array_equal(np.array(again), np.array(seen[stop_at:]))


def test_an_interrupt_keeps_what_was_done():
    X, mask, _ = blobs(120)
    views = as_views(X, mask)
    whole = FIMVCVIA(3, random_state=0, tol=1e-6).fit(views)

    def interrupt(t, objective, state):
        if t == 3:
            raise KeyboardInterrupt

    stopped = FIMVCVIA(3, random_state=0, tol=1e-6, callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        stopped.fit(views)
    assert stopped.state_.trace.n_iter == 3
    rest = FIMVCVIA(3, random_state=0, tol=1e-6).fit(views, start=stopped.state_)
    assert rest.trace_.objective == whole.trace_.objective
    np.testing.assert_array_equal(rest.labels_, whole.labels_)


def test_blobs_are_found_and_predicted_from_any_views():
    X, mask, y = blobs(150)
    model = FIMVCVIA(3, random_state=0).fit(as_views(X, mask))
    assert adjusted_rand_index(y, model.labels_) == 1
    np.testing.assert_array_equal(model.predict(as_views(X, mask)), model.labels_)
    for v in range(3):
        assert adjusted_rand_index(y, model.predict({v: X[v]})) == 1


def test_blocks_of_another_size_give_the_same():
    from dataclasses import replace

    X, mask, _ = blobs(100)
    views = as_views(X, mask)
    one, many = (FIMVCVIA(3, random_state=0).fit(v) for v in (views, replace(views, chunk=7)))
    np.testing.assert_allclose(one.trace_.objective, many.trace_.objective, rtol=1e-12)
    np.testing.assert_array_equal(one.labels_, many.labels_)


def test_content_of_unseen_rows_is_never_read():
    X, mask, _ = blobs(100)
    labels = FIMVCVIA(3, random_state=0).fit_predict(as_views(X, mask))
    for junk in (np.nan, np.inf, 1e300):
        other = [np.where(mask[:, [v]], x, junk) for v, x in enumerate(X)]
        np.testing.assert_array_equal(FIMVCVIA(3, random_state=0).fit_predict(as_views(other, mask)), labels)


def test_first_rows_are_complete_where_there_are_enough():
    X, mask, _ = blobs(100)
    views = as_views(X, mask)
    rows = first_rows(views, 10, np.random.RandomState(0))
    assert mask[rows].all()
    assert len(set(rows)) == 10
