"""SOME-AS: independent references, a dense transcription, the lock of its labels, and what must hold of every block."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from conspectus import SOMEAS, InputError, as_views
from conspectus.loop import run, strict
from conspectus.methods.anchors import row_space
from conspectus.methods.anchors.integral import (
    Data,
    Found,
    Penalties,
    Rows,
    Theta,
    align,
    label_codes,
    locked,
    objective,
    one_pass,
    seen_codes,
)
from conspectus.methods.anchors.some_as_paper import steps
from conspectus.methods.anchors.some_as_start import CentreCodes, centres_by_default, first_theta, frame, start_codes
from conspectus.metrics import adjusted_rand_index
from conspectus.numerics.rows import unit_rows
from conspectus.numerics.simplex import project_simplex

from .golden import anchor_views, golden
from .test_apmc import blobs

WEIGHT = {"d": 0.1, "s": 0.003}


def stored_start(l):
    stored = golden("anchors")
    A = tuple(stored[f"someas_l{l}_A0_{p}"] for p in range(3))
    return Found(stored["someas_y0"].astype(int), Theta(A, (np.eye(l, 4),) * 3, np.full(3, 1 / 3)))


def dense_J(X, mask, theta, y, penalties):
    """The objective as the paper writes it: every code stored, P and F in the place of G, in a random gauge."""
    alpha, beta = penalties
    l, k = theta.G[0].shape
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(l, l)))[0]
    F, Y, J = Q @ np.eye(l, k), np.eye(k)[y], 0.0
    for p, (A, G, _) in enumerate(zip(*theta)):
        Z = dense_codes(X[p], mask[:, p], theta, y, penalties, p)
        rest = np.linalg.svd(G)[0][:, k:]
        P = Q @ np.hstack([G, rest]).T  # P'F = G
        fitted = (X[p] - Z @ A.T)[mask[:, p]]
        padding = l - min(A.shape)  # columns of zeros, which anchors of a narrow view reach into
        missing = Z[mask[:, p]] if padding else np.zeros((1, l))
        lost = (missing**2).sum() - ((missing @ A.T) ** 2).sum()
        J += theta.gamma[p] ** 2 * ((fitted**2).sum() + max(lost, 0)) + alpha * (Z**2).sum()
        J += beta * ((Z @ P.T - Y @ F.T) ** 2).sum()
    return J


def dense_codes(X, seen, theta, y, penalties, p):
    """Equation (7) for all samples of view p."""
    alpha, beta = penalties
    A, G, gamma = (part[p] for part in theta)
    pull = beta * G[:, y].T
    rows = np.where(seen[:, None], gamma**2 * np.where(seen[:, None], X, 0) @ A + pull, pull)
    return project_simplex(rows / np.where(seen, gamma**2 + alpha + beta, alpha + beta)[:, None])


def centred(X, mask):
    """Rows with the mean of the seen ones removed, unit length, zeros where unseen."""
    rows = [unit_rows(x - x[mask[:, p]].mean(axis=0)) for p, x in enumerate(X)]
    return [np.where(mask[:, [p]], x, 0) for p, x in enumerate(rows)]


@pytest.mark.parametrize("weight", ["d", "s"])
@pytest.mark.parametrize(("form", "l"), [("paper", 4), ("reduced", 4), ("reduced", 8)])
def test_printed_blocks_equal_a_dense_reference(form, l, weight):
    stored, views = golden("anchors"), anchor_views()[0]
    penalties = Penalties(WEIGHT[weight], WEIGHT[weight])
    f_step = {"paper": "common", "reduced": "each"}[form]
    iterates = steps(views, stored_start(l), Data.of(views, centred=True), penalties, f_step=f_step)
    found = list(islice(iterates, 12))
    name = f"ref_{form}_l{l}_{weight}"
    np.testing.assert_allclose([J for J, _ in found], stored[f"{name}_obj"], rtol=1e-13)
    np.testing.assert_array_equal(found[-1][1].y, stored[f"{name}_labels"])
    np.testing.assert_allclose(found[-1][1].theta.gamma, stored[f"{name}_gamma"], atol=1e-13)
    moved = int((found[-1][1].y != stored["someas_y0"]).sum())
    if weight == "d":
        assert moved == 0


def joint_labels(views, theta, data, penalties):
    """The label of least exact cost: the minimum over z for every label, which checks the cost formula."""
    total = 0.0
    alpha, beta = penalties
    k = theta.G[0].shape[1]
    for p, (A, G, gamma) in enumerate(zip(*theta)):
        X = Rows(views.data(p), data.means[p]).dot(A)
        cost = np.empty((len(X), k))
        D = gamma**2 + alpha + beta
        for c in range(k):
            f = (gamma**2 * X + beta * G[:, c]) / D
            z = seen_codes(X, G, np.full(len(X), c), gamma, penalties)
            cost[:, c] = D * (z * (z - 2 * f)).sum(axis=1)
        T = label_codes(G, penalties)
        constant = (alpha + beta) * (T**2).sum(axis=1) - 2 * beta * (T * G.T).sum(axis=1)
        total = total + np.where(views.seen[:, [p]], views.scatter(p, cost), constant)
    return np.argmin(total, axis=1)


@pytest.mark.parametrize("weight", ["d", "s"])
@pytest.mark.parametrize("l", [4, 8])
def test_exact_cost_of_a_label_equals_a_reference(l, weight):
    stored, views = golden("anchors"), anchor_views()[0]
    data, penalties = Data.of(views, centred=True), Penalties(WEIGHT[weight], WEIGHT[weight])
    first = stored_start(l)
    theta, eye = first.theta, np.eye(l, 4)
    M = []
    for p, A in enumerate(theta.A):  # G from codes with beta = 0, on the rows that were seen
        Z = project_simplex(Rows(views.data(p), data.means[p]).dot(A) / 9 / (1 / 9 + penalties.alpha))
        M.append(Z.T @ np.eye(4)[first.y[views.seen[:, p]]])
    theta = theta._replace(G=align([m + 1e-9 * eye for m in M], theta.G, "each"))
    found = []
    for _ in range(12):
        y = joint_labels(views, theta, data, penalties)
        fit = one_pass(views, y, theta, data, penalties)
        G, A = align(fit.M, theta.G, "each"), align(fit.C, theta.A, "each")
        r = np.array([n - 2 * (a * c).sum() for n, a, c in zip(data.norms, A, fit.C)])
        r = r + fit.r - [n - 2 * (a * c).sum() for n, a, c in zip(data.norms, theta.A, fit.C)]
        theta = Theta(A, G, 1 / r / (1 / r).sum())
        J = (theta.gamma**2 * r).sum() + sum(penalties) * fit.square.sum()
        found.append(J + sum(penalties[1] * (60 - 2 * (g * m).sum()) for g, m in zip(G, fit.M)))
    np.testing.assert_allclose(found, stored[f"ref_joint_l{l}_{weight}_obj"], rtol=1e-12)
    np.testing.assert_array_equal(y, stored[f"ref_joint_l{l}_{weight}_labels"])


def test_closed_form_of_the_objective_is_the_dense_one():
    X, mask, y = blobs(30, dims=(3, 8, 9), seed=4)  # the first view has fewer columns than anchors
    views, penalties = as_views(X, mask), Penalties(0.2, 0.05)
    data, rng = Data.of(views, centred=True), np.random.RandomState(0)
    y = np.where(rng.rand(30) < 0.3, rng.randint(3, size=30), y)
    theta = first_theta(views, y, 3, 6, data.means, rng)
    fit = one_pass(views, y, theta, data, penalties)
    J = objective(30, theta, fit, fit.M, penalties)
    assert pytest.approx(dense_J(centred(X, mask), mask, theta, y, penalties), rel=1e-9) == J
    assert all(later <= J for later, _ in islice(locked(views, y, theta, data, penalties), 3))


@given(st.integers(0, 10_000), st.sampled_from([2, 3, 6, 9]), st.sampled_from(["each", "one"]))
def test_objective_falls_and_states_are_feasible(seed, l, how):
    rng = np.random.default_rng(seed)
    X, mask, _ = blobs(40, k=2 if l == 2 else 3, dims=(4, 8, 11), seed=seed % 17)
    k = 2 if l == 2 else 3
    views = as_views(X, mask)
    data, penalties = Data.of(views, centred=True), Penalties(*10 ** rng.uniform(-3, 1, 2))
    y = rng.integers(k, size=40)
    first = Found(y, first_theta(views, y, k, l, data.means, np.random.RandomState(0)))
    with strict():
        theta, _ = run(locked(views, y, first.theta, data, penalties, how), max_iter=6, tol=None, direction="down")
        iterates = steps(views, first, data, penalties, f_step="common" if how == "each" else "one", p_step=how)
        state, _ = run(iterates, max_iter=6, tol=None, direction="down")
    for found in (theta, state.theta):
        for A, G in zip(found.A, found.G):
            smaller = A.T @ A if A.shape[0] >= l else A @ A.T
            np.testing.assert_allclose(smaller, np.eye(len(smaller)), atol=1e-10)
            np.testing.assert_allclose(G.T @ G, np.eye(k), atol=1e-10)
        assert found.gamma.min() >= 0
        assert found.gamma.sum() == pytest.approx(1)
    if how == "one":
        np.testing.assert_array_equal(theta.G[0], theta.G[1])


def test_labels_of_the_printed_method_do_not_move():
    """At alpha = beta = 0.1 no gain of a unit row exceeds beta / gamma^2; the default repairs the same labels."""
    X, mask, y = blobs(120, dims=(10, 12, 8, 9), seed=3)
    rng = np.random.default_rng(0)
    wrong = np.where(rng.random(120) < 0.2, rng.integers(3, size=120), y)
    printed = SOMEAS(3, variant="paper", init=wrong, random_state=0).fit(as_views(X, mask))
    np.testing.assert_array_equal(printed.labels_, wrong)
    assert printed.trace_.objective[-1] < printed.trace_.objective[0]
    repaired = SOMEAS(3, init=wrong, random_state=0).fit(as_views(X, mask))
    assert adjusted_rand_index(y, repaired.labels_) == 1


def test_labels_are_locked_by_the_threshold():
    """Without clipping, z speaks for label c by gamma^2 <A'x, g_c - g_y> - beta, up to the size term (identity)."""
    rng = np.random.default_rng(0)
    G = np.linalg.qr(rng.normal(size=(6, 3)))[0]
    XA, gamma, (alpha, beta) = rng.normal(size=(1, 6)) * 0.01, 0.5, (0.1, 0.1)
    z = seen_codes(XA, G * 0.01, np.array([1]), gamma, Penalties(alpha, beta))[0]  # small enough that nothing clips
    D = gamma**2 + alpha + beta
    f = (gamma**2 * XA[0] + beta * 0.01 * G[:, 1]) / D
    theta = (1 - f.sum()) / 6
    for c in (0, 2):
        g = G[:, c] - G[:, 1]
        assert z @ g == pytest.approx((gamma**2 * XA[0] @ g - 0.01 * beta) / D + theta * g.sum())


def test_blocks_of_another_size_give_the_same():
    X, mask, _ = blobs(100)
    views = as_views(X, mask)
    for options in ({}, {"variant": "paper"}):
        one, many = (SOMEAS(3, random_state=0, **options).fit(v) for v in (views, replace(views, chunk=7)))
        np.testing.assert_allclose(one.trace_.objective, many.trace_.objective, rtol=1e-10)
        np.testing.assert_array_equal(one.labels_, many.labels_)


def test_single_precision_gives_the_same_labels():
    X, mask, y = blobs(100)
    double = SOMEAS(3, random_state=0, n_restarts=2).fit(as_views(X, mask))
    single = SOMEAS(3, random_state=0, n_restarts=2).fit(as_views([x.astype(np.float32) for x in X], mask))
    assert adjusted_rand_index(double.labels_, single.labels_) == 1
    assert single.trace_.objective[-1] == pytest.approx(double.trace_.objective[-1], rel=1e-5)


@pytest.mark.parametrize("stop_at", [1, 2])
@pytest.mark.parametrize("options", [{}, {"variant": "paper", "tol": 1e-12}])
def test_going_on_is_bit_equal(options, stop_at):
    X, mask, _ = blobs(90, seed=2)
    views = as_views(X, mask)
    whole = SOMEAS(3, random_state=0, n_restarts=3, **options).fit(views)

    def stop(t, objective, state):
        if t == stop_at:
            raise KeyboardInterrupt

    first = SOMEAS(3, random_state=0, n_restarts=3, callback=stop, **options)
    with pytest.raises(KeyboardInterrupt):
        first.fit(views)
    rest = SOMEAS(3, random_state=0, n_restarts=3, **options).fit(views, start=first.state_)
    assert rest.trace_.objective == whole.trace_.objective
    assert rest.n_iter_ > stop_at
    np.testing.assert_array_equal(rest.labels_, whole.labels_)
    np.testing.assert_array_equal(rest.embedding_, whole.embedding_)


def test_more_restarts_begin_like_fewer_and_never_raise_the_objective():
    X, mask, _ = blobs(60, seed=5)
    few, many = (SOMEAS(3, random_state=0, n_restarts=r).fit(as_views(X, mask)) for r in (2, 4))
    assert few.trace_.objective == many.trace_.objective[:2]
    assert list(many.trace_.objective) == sorted(many.trace_.objective, reverse=True)


@pytest.mark.parametrize("dims", [(5, 8, 6), (200, 8, 150)])  # the second: more columns than rows
def test_blobs_are_found_and_predicted_from_any_views(dims):
    X, mask, y = blobs(120, dims=dims)
    model = SOMEAS(3, random_state=0, n_restarts=2).fit(as_views(X, mask))
    assert adjusted_rand_index(y, model.labels_) == 1
    np.testing.assert_array_equal(model.predict(as_views(X, mask)), model.labels_)
    for v in range(3):
        assert adjusted_rand_index(y, model.predict({v: X[v]})) == 1
    assert model.n_clusters_found_ == 3
    printed = SOMEAS(3, variant="paper", random_state=0).fit(as_views(X, mask))
    assert adjusted_rand_index(y, printed.predict(as_views(X, mask))) == 1


def test_the_row_space_changes_nothing(monkeypatch):
    X, mask, _ = blobs(60, dims=(200, 8, 150), seed=6)
    turned = SOMEAS(3, random_state=0).fit(as_views(X, mask))
    monkeypatch.setattr(row_space, "MOST_ROWS", 0)
    plain = SOMEAS(3, random_state=0).fit(as_views(X, mask))
    assert adjusted_rand_index(turned.labels_, plain.labels_) == 1
    assert turned.trace_.objective[-1] == pytest.approx(plain.trace_.objective[-1], rel=1e-4)  # R is random
    for A in turned.anchors_:
        assert np.linalg.norm(A.T @ A - np.eye(6)) < 1e-7


def test_sparse_rows_give_what_dense_rows_give():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = [rng.poisson(np.eye(3).repeat(4, axis=0).T[y] * 4 + 0.2).astype(float) for _ in range(2)]
    model = SOMEAS(3, init=y, random_state=0).fit(X)
    other = SOMEAS(3, init=y, random_state=0).fit([sparse.csr_array(x) for x in X])
    np.testing.assert_allclose(other.trace_.objective, model.trace_.objective, rtol=1e-8)
    np.testing.assert_array_equal(other.labels_, model.labels_)
    mean = X[0].mean(axis=0)
    A, Z = rng.normal(size=(12, 4)), rng.normal(size=(90, 4))
    dense, thin = Rows(X[0], mean), Rows(sparse.csr_array(X[0]), mean)
    np.testing.assert_allclose(thin.dot(A), dense.dot(A), atol=1e-12)
    np.testing.assert_allclose(thin.tdot(Z), dense.tdot(Z), atol=1e-12)


def test_content_of_unseen_rows_is_never_read():
    X, mask, _ = blobs(60)
    labels = SOMEAS(3, random_state=0, n_restarts=1).fit_predict(as_views(X, mask))
    for junk in (np.nan, np.inf, 1e300):
        other = [np.where(mask[:, [v]], x, junk) for v, x in enumerate(X)]
        np.testing.assert_array_equal(
            SOMEAS(3, random_state=0, n_restarts=1).fit_predict(as_views(other, mask)), labels
        )


def test_order_of_samples_and_views_does_not_matter_to_the_blocks():
    X, mask, y = blobs(80, seed=7)
    rng = np.random.default_rng(1)
    order, wrong = rng.permutation(80), np.where(rng.random(80) < 0.2, 0, y)
    penalties = Penalties(0.1, 0.1)

    def settled(X, mask, y):
        views = as_views(X, mask)
        data = Data.of(views, centred=True)
        theta = first_theta(views, y, 3, 3, data.means, np.random.RandomState(0))
        return run(locked(views, y, theta, data, penalties), max_iter=5, tol=None)[1].objective

    J = settled(X, mask, wrong)
    np.testing.assert_allclose(settled([x[order] for x in X], mask[order], wrong[order]), J, rtol=1e-10)
    np.testing.assert_allclose(settled(X[::-1], mask[:, ::-1], wrong), J, rtol=1e-10)


def test_an_empty_cluster_in_init_and_a_view_twice_are_legal():
    X, mask, y = blobs(60, seed=8)
    for labels in (np.zeros(60, int), np.where(y == 2, 1, y)):
        model = SOMEAS(3, init=labels, random_state=0).fit(as_views(X, mask))
        assert np.isfinite(model.embedding_).all()
        assert model.n_clusters_found_ == len(set(model.labels_))
    twice = SOMEAS(3, random_state=0, n_restarts=1).fit(as_views([X[0], X[0]], mask[:, :1].repeat(2, axis=1) | True))
    assert np.isfinite(twice.view_weights_).all()
    assert SOMEAS(2, n_anchors=2, random_state=0).fit(as_views(X, mask)).n_clusters_found_ == 2


@pytest.mark.parametrize(
    ("init", "words"), [(np.zeros(3), r"shape \(3,\) for 60 samples"), (np.arange(60), "60 different labels")]
)
def test_init_that_does_not_fit_is_refused(init, words):
    X, mask, _ = blobs(60)
    with pytest.raises(InputError, match=words):
        SOMEAS(3, init=init).fit(as_views(X, mask))


def test_the_start():
    X, mask, y = blobs(120, seed=9)
    views = as_views(X, mask)
    assert centres_by_default(views, 3) == int(mask.sum(axis=0).min() / 4)
    labels, spectral = start_codes(views, 3, "auto", 10, np.random.RandomState(0))
    assert adjusted_rand_index(y, labels) == 1
    B = spectral.graph.codes(views)
    np.testing.assert_allclose(B.sum(axis=1), 1)
    assert np.diff(B.indptr).max() <= 9
    # naive: weights d_4 - d_j of the three nearest centres of the sample's views, divided by their number
    centres = spectral.graph.centres
    for i in (0, 17):
        row, at = np.zeros(B.shape[1]), 0
        for v, C in enumerate(centres):
            if mask[i, v]:
                d = ((unit_rows(X[v][[i]]) - C) ** 2).sum(axis=1)
                near = np.argsort(d)
                w = d[near[3]] - d[near[:3]]
                row[at + near[:3]] = w / w.sum() / mask[i].sum()
            at += len(C)
        np.testing.assert_allclose(B[[i]].toarray()[0], row, atol=1e-12)
    U, s, _ = np.linalg.svd((B / np.sqrt(np.maximum(B.sum(axis=0), 1e-300))).toarray(), full_matrices=False)
    H = spectral(views)
    U3 = unit_rows(U[:, :3])
    np.testing.assert_allclose(H @ H.T, U3 @ U3.T, atol=1e-8)
    assert isinstance(spectral.graph, CentreCodes)


@pytest.mark.parametrize(("d", "l"), [(20, 3), (20, 6), (20, 8), (4, 6)])
def test_the_first_anchors_are_orthonormal_and_hold_the_class_means(d, l):
    C = np.random.default_rng(0).normal(size=(d, 3))
    A = frame(C, l, np.random.RandomState(0))
    assert A.shape == (d, l)
    smaller = A.T @ A if d >= l else A @ A.T
    if d >= l:
        np.testing.assert_allclose(smaller, np.eye(l), atol=1e-12)
    else:
        assert np.linalg.eigvalsh(smaller).max() <= 1 + 1e-12
    if l % 3 == 0 and d >= l:
        B = A @ np.kron(np.full(l // 3, np.sqrt(3 / l))[:, None], np.eye(3))
        U, _, Vt = np.linalg.svd(C, full_matrices=False)
        np.testing.assert_allclose(B, U @ Vt, atol=1e-12)


@pytest.mark.slow
def test_fifty_thousand_samples_stay_below_a_gigabyte():
    import tracemalloc

    from conspectus.datasets import make_views

    data = make_views(50_000, [20, 20, 20], 5, missing=0.5, seed=0)
    views = as_views(data.X, data.mask)
    tracemalloc.start()
    try:
        labels = SOMEAS(5, random_state=0, n_restarts=1).fit_predict(views)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2**30
    assert adjusted_rand_index(data.y, labels) > 0.9
