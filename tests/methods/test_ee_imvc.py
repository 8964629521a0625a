"""EE-IMVC: the released code's numbers, Algorithm 1 with stored imputations, invariances, prediction."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from conspectus import EEIMVC, EERIMVC, DataWarning, InputError, as_views
from conspectus.loop import run, strict
from conspectus.methods.kernels.base_partitions import eigenpartition, exact_partitions
from conspectus.methods.kernels.ee_imvc import align, fused, identity, inverse_root, steps
from conspectus.methods.kernels.observed import observed_kernel
from conspectus.methods.kernels.prior import leading_partition
from conspectus.metrics import adjusted_rand_index
from conspectus.numerics.rows import unit_rows

from .kernel_inputs import golden_kernels, golden_views, partitions, same_span, stored
from .test_apmc import blobs

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def svd_polar(M):
    U, _, Vt = np.linalg.svd(M, full_matrices=False)
    return U @ Vt


def algorithm_1(H_o, missing, W, H0, lam, n_iter):
    """The paper's steps, with the imputed rows stored."""
    m = len(H_o)
    Hp, W, beta, objective = [H.copy() for H in H_o], [w.copy() for w in W], np.full(m, m**-0.5), []
    for _ in range(n_iter):
        H = svd_polar(sum(b * h @ w for b, h, w in zip(beta, Hp, W)) + lam * H0)
        for p in range(m):
            W[p] = svd_polar(Hp[p].T @ H)
            Hp[p][missing[p]] = svd_polar(H[missing[p]] @ W[p].T)
        v = np.array([np.trace(H.T @ h @ w) for h, w in zip(Hp, W)])
        beta = v / np.linalg.norm(v)
        objective.append(beta @ v + lam * np.trace(H.T @ H0))
    return H, Hp, W, beta, objective


@pytest.mark.parametrize(("key", "lam"), [("ee0", 0.0), ("ee1", 0.125), ("ee2", 1.0), ("ee3", 8.0)])
def test_equal_to_the_released_code(key, lam):
    arrays, _, missing = stored()
    Hs = list(arrays["HP0"])
    objective = arrays[f"oct_{key}_obj"].ravel()
    with strict():
        iterates = steps(Hs, missing, identity(Hs), arrays["H0"], lam)
        state, trace = run(iterates, max_iter=101, tol=1e-4, min_iter=3, direction="up")
    assert trace.n_iter == len(objective)
    np.testing.assert_allclose(trace.objective, objective, rtol=1e-13)
    np.testing.assert_allclose(unit_rows(state.H), arrays[f"oct_{key}_Hrow"], atol=1e-12)
    np.testing.assert_allclose(state.beta, arrays[f"oct_{key}_beta"].ravel(), atol=1e-13)
    for p in range(3):
        np.testing.assert_allclose(state.W[p], arrays[f"oct_{key}_W"][:, :, p], atol=1e-12)
        H_p = Hs[p].copy()
        H_p[missing[p]] = state.H[missing[p]] @ state.B[p] @ state.W[p].T
        np.testing.assert_allclose(H_p, arrays[f"oct_{key}_HP"][:, :, p], atol=1e-12)


def test_every_stored_output_is_asserted_somewhere():
    """Inputs, and outputs that the tests of the kernel methods go through key by key; none is left out."""
    of_ee = {f"ee{i}_{name}" for i in range(4) for name in ("obj", "Hrow", "beta", "W", "HP")}  # here
    of_lf = {f"lf{i}_{name}" for i in (1, 2, 3) for name in ("obj", "H")}  # test_lf_imvc
    of_fills = {f"fill_{name}" for name in ("zero", "mean", "knn", "af")}  # test_mkkm
    of_mkkm = {f"{fill}_{name}" for fill in ("zf", "mf", "knn", "af") for name in ("obj", "HHt", "g")}
    of_ik = {f"{key}_{name}" for key in ("ik", "mkc") for name in ("obj", "HHt", "g")} | {"ik_K"}  # test_mkkm_ik
    outputs = {f"oct_{name}" for name in of_ee | of_lf | of_fills | of_mkkm | of_ik}
    assert set(stored()[0]) == outputs | {"X0", "X1", "X2", "y", "M", "K", "HP0", "H0", "k"}


def test_imputation_of_rows_that_depend_on_each_other():
    X = np.random.default_rng(0).standard_normal((9, 2)) @ np.random.default_rng(1).standard_normal((2, 4))
    B, total = inverse_root(X)
    P = X @ B
    np.testing.assert_allclose(np.linalg.svd(P, compute_uv=False), [1, 1, 0, 0], atol=1e-9)
    assert np.sum(X * P) == pytest.approx(total) == pytest.approx(np.linalg.norm(X, "nuc"))
    assert inverse_root(np.zeros((0, 3)))[1] == 0
    np.testing.assert_array_equal(inverse_root(np.zeros((5, 3)))[0], np.zeros((3, 3)))


def test_kernels_partitions_and_prior_are_those_of_the_released_code():
    arrays, mask, _ = stored()
    # The stored kernels take their width from all rows.
    from conspectus.numerics.kernels import centre_kernel, gaussian_kernel, normalise_kernel

    for p in range(3):
        seen = np.flatnonzero(mask[:, p])
        whole = gaussian_kernel(arrays[f"X{p}"])
        K = normalise_kernel(centre_kernel(whole[np.ix_(seen, seen)]))
        np.testing.assert_allclose(K, arrays["K"][p][np.ix_(seen, seen)], atol=1e-12)
        H, _ = eigenpartition(K, int(arrays["k"]))
        np.testing.assert_allclose(np.abs(H), np.abs(arrays["HP0"][p][seen]), atol=1e-12)
        assert not arrays["HP0"][p][~mask[:, p]].any()
    H0, _ = leading_partition(golden_kernels(), "average", 3, 4)
    same_span(H0, arrays["H0"], 1e-12)
    same_span(leading_partition(golden_kernels(), "mkkm", 3, 4)[0], _span(arrays["oct_zf_HHt"]), 1e-10)


def _span(P):
    values, U = np.linalg.eigh(P)
    return U[:, values > 0.5]


@pytest.mark.parametrize("lam", [0.0, 0.7])
@pytest.mark.parametrize("shares", [(0.7, 0.8, 0.95), (1.0, 1.0), (0.5, 0.975)])
def test_implicit_imputation_is_algorithm_1(lam, shares):
    Hs, missing = partitions(shares=shares)  # the last has fewer unseen rows than k
    H0 = np.linalg.qr(np.random.default_rng(9).standard_normal((40, 3)))[0]
    W = align(Hs)
    H, Hp, Ws, beta, objective = algorithm_1(Hs, missing, W, H0, lam, 8)
    found = list(islice(steps(Hs, missing, W, H0, lam), 8))
    np.testing.assert_allclose([f for f, _ in found], objective, rtol=1e-12)
    state = found[-1][1]
    np.testing.assert_allclose(state.H, H, atol=1e-10)
    np.testing.assert_allclose(state.beta, beta, atol=1e-12)
    np.testing.assert_allclose(state.W, Ws, atol=1e-10)
    T = sum(b * h @ w for b, h, w in zip(beta, Hp, Ws)) + lam * H0
    np.testing.assert_allclose(fused(Hs, missing, state, H0, lam), T, atol=1e-10)


@pytest.mark.parametrize("lam", [0.0, 1.0])
def test_objective_rises_and_states_are_feasible(lam):
    Hs, missing = partitions(shares=(0.6, 0.7, 0.95))
    before = [H.copy() for H in Hs]
    H0 = np.linalg.qr(np.random.default_rng(1).standard_normal((40, 3)))[0]
    with strict():
        state, _ = run(steps(Hs, missing, identity(Hs), H0, lam), max_iter=60, tol=None, direction="up")
    np.testing.assert_allclose(state.H.T @ state.H, np.eye(3), atol=1e-12)
    assert np.linalg.norm(state.beta) == pytest.approx(1)
    assert state.beta.min() >= 0
    for p, u in enumerate(missing):
        np.testing.assert_allclose(state.W[p].T @ state.W[p], np.eye(3), atol=1e-12)
        H_u = state.H[u] @ state.B[p] @ state.W[p].T
        small = H_u.T @ H_u if len(u) >= 3 else H_u @ H_u.T
        np.testing.assert_allclose(small, np.eye(len(small)), atol=1e-10)
        np.testing.assert_array_equal(Hs[p], before[p])


def test_no_feasible_block_does_better():
    Hs, missing = partitions()
    state = list(islice(steps(Hs, missing, align(Hs)), 4))[-1][1]
    after = next(steps(Hs, missing, align(Hs), start=state))[1]
    rng = np.random.default_rng(0)
    T = fused(Hs, missing, state)
    value = np.sum(after.H * T)
    assert value == pytest.approx(np.linalg.norm(T, "nuc"))
    assert all(np.sum(np.linalg.qr(rng.standard_normal(T.shape))[0] * T) <= value for _ in range(20))
    u = missing[0]
    imputed = np.sum(after.H[u] * (after.H[u] @ after.B[0]))
    assert imputed == pytest.approx(np.linalg.norm(after.H[u], "nuc"))


def test_rotated_partitions_give_the_same_consensus():
    Hs, missing = partitions()
    rng = np.random.default_rng(3)
    Q = [np.linalg.qr(rng.standard_normal((3, 3)))[0] for _ in Hs]
    turned = [H @ q for H, q in zip(Hs, Q)]
    one = list(islice(steps(Hs, missing, identity(Hs)), 6))[-1]
    two = list(islice(steps(turned, missing, [q.T for q in Q]), 6))[-1]
    np.testing.assert_allclose(two[1].H, one[1].H, atol=1e-12)
    # Aligned rotations do not depend on the bases at all.
    aligned = [list(islice(steps(H, missing, align(H)), 6))[-1] for H in (Hs, turned)]
    assert aligned[0][0] == pytest.approx(aligned[1][0], rel=1e-12)
    same_span(aligned[0][1].H, aligned[1][1].H)


def test_order_of_samples_and_views_does_not_matter():
    X, mask, _ = blobs(90)
    order = np.random.default_rng(0).permutation(90)
    model = EEIMVC(3, random_state=0).fit(as_views(X, mask))
    shuffled = EEIMVC(3, random_state=0).fit(as_views([x[order] for x in X], mask[order]))
    np.testing.assert_allclose(shuffled.trace_.objective, model.trace_.objective, rtol=1e-10)
    assert adjusted_rand_index(shuffled.labels_, model.labels_[order]) == 1
    turned = EEIMVC(3, random_state=0).fit(as_views(X[::-1], mask[:, ::-1]))
    np.testing.assert_allclose(turned.trace_.objective, model.trace_.objective, rtol=1e-10)
    np.testing.assert_allclose(turned.view_weights_[::-1], model.view_weights_, atol=1e-8)


@pytest.mark.parametrize("stop_at", [1, 3])
@pytest.mark.parametrize("method", [EEIMVC, EERIMVC])
def test_going_on_is_bit_equal(method, stop_at):
    X, mask, _ = blobs(80)
    views = as_views(X, mask)
    options = {"random_state": 0, "tol": 1e-12, "max_iter": 30}
    whole = method(3, **options).fit(views)
    first = method(3, **{**options, "max_iter": stop_at}).fit(views)
    rest = method(3, **options).fit(views, start=first.state_)
    assert rest.trace_.objective == whole.trace_.objective
    np.testing.assert_array_equal(rest.labels_, whole.labels_)
    np.testing.assert_array_equal(rest.embedding_, whole.embedding_)
    for mine, other in zip(rest.state_.state, whole.state_.state):
        np.testing.assert_array_equal(np.asarray(mine), np.asarray(other))


@pytest.mark.parametrize("parameters", [{}, {"prior": "average"}, {"prior": "mkkm", "prior_weight": 0.3}])
@pytest.mark.parametrize("kernel", ["gaussian", "linear"])
def test_fixpoint_prediction_gives_training_rows_back(kernel, parameters):
    X, mask, y = blobs(120)
    views = as_views(X, mask)
    options = {"kernel": kernel, "tol": 1e-14, "max_iter": 3000, "random_state": 0, **parameters}
    model = EEIMVC(3, predict_mode="fixpoint", **options).fit(views)
    np.testing.assert_array_equal(model.predict(views), model.labels_)
    np.testing.assert_allclose(model._rule.map(views), model.embedding_, atol=1e-4)
    assert adjusted_rand_index(y, model.labels_) > 0.95
    observed = EEIMVC(3, **options).fit(views)
    assert (observed.predict(views) == observed.labels_).mean() > 0.95
    for v in range(3):
        for fitted in (model, observed):
            assert adjusted_rand_index(y, fitted.predict({v: X[v]})) > 0.8


def test_given_kernels_are_what_rows_give():
    X, mask, _ = blobs(90, dims=(5, 8))
    K = [x @ x.T for x in X]
    for v in range(2):
        K[v][~mask[:, v]], K[v][:, ~mask[:, v]] = np.nan, np.nan
    rows = EEIMVC(3, kernel="linear", random_state=0).fit(as_views(X, mask))
    given = EEIMVC(3, kernel="precomputed", random_state=0).fit(as_views(K, square=True))
    np.testing.assert_allclose(given.trace_.objective, rows.trace_.objective, rtol=1e-9)
    assert adjusted_rand_index(given.labels_, rows.labels_) == 1
    cross = [x[:15] @ x.T for x in X]
    for v in range(2):
        cross[v][:, ~mask[:, v]] = np.nan
    assert (given.predict(cross) == given.predict([k + 0.0 for k in cross])).all()
    assert adjusted_rand_index(given.predict(cross), rows.predict([x[:15] for x in X])) > 0.9
    called = EEIMVC(3, kernel=lambda A, B: A @ B.T, random_state=0).fit(as_views(X, mask))
    np.testing.assert_allclose(called.trace_.objective, rows.trace_.objective, rtol=1e-9)
    np.testing.assert_array_equal(called.predict(X), rows.predict(X))


@pytest.mark.parametrize("kernel", ["gaussian", "linear", "polynomial", "cosine"])
def test_training_rows_join_their_own_kernel(kernel):
    views = golden_views()
    for v in range(3):
        K, side = observed_kernel(views, v, kernel)
        np.testing.assert_allclose(side.project(views, v, np.eye(len(K))), K, atol=1e-10)
        np.testing.assert_allclose(np.diagonal(K), 1, atol=1e-12)
        scaled, _ = observed_kernel(views.each([lambda x: 3 * x] * 3), v, kernel)
        if kernel != "polynomial":  # after normalisation the scale of a view means nothing
            np.testing.assert_allclose(scaled, K, atol=1e-10)
    base = exact_partitions(views, 4, kernel)
    for v in range(3):
        rebuilt = base.sides[v].project(views, v, base.R[v])
        np.testing.assert_allclose(rebuilt, base.H[v][views.observed(v)], atol=1e-8)


def test_kernels_taken_as_they_are():
    X, mask, _ = blobs(60, dims=(5, 8))
    K = [np.exp(-cdist(x, x, "sqeuclidean") / 50) for x in X]
    views = as_views(K, mask, square=True)
    block, side = observed_kernel(views, 0, "precomputed", normalize=False)
    seen = np.flatnonzero(mask[:, 0])
    np.testing.assert_array_equal(block, K[0][np.ix_(seen, seen)])
    np.testing.assert_array_equal(side.project(views, 0, np.eye(len(seen))), block)
    assert EEIMVC(3, kernel="precomputed", normalize=False, random_state=0).fit(views).n_iter_ >= 3


def test_without_weight_the_prior_is_of_no_account():
    X, mask, _ = blobs(80)
    views = as_views(X, mask)
    plain = EEIMVC(3, random_state=0).fit(views)
    regularised = EERIMVC(3, prior_weight=0.0, random_state=0).fit(views)
    assert regularised.trace_.objective == plain.trace_.objective
    np.testing.assert_array_equal(regularised.labels_, plain.labels_)


def test_a_given_prior_pulls():
    X, mask, y = blobs(90)
    views = as_views(X, mask)
    shuffled = np.random.default_rng(0).permutation(y)
    H0 = np.eye(3)[shuffled] / np.sqrt(np.bincount(shuffled))
    model = EEIMVC(3, prior=H0, prior_weight=1e4, random_state=0).fit(views)
    assert adjusted_rand_index(model.labels_, shuffled) == 1
    with pytest.raises(InputError, match=r"prior has shape \(90, 2\).*\(90, 3\)"):
        EEIMVC(3, prior=H0[:, :2]).fit(views)


def test_complete_data_and_small_views():
    X, _, y = blobs(60)
    model = EEIMVC(3, random_state=0).fit(X)
    assert adjusted_rand_index(y, model.labels_) == 1
    mask = np.ones((60, 3), dtype=bool)
    mask[2:, 2] = False  # a view with fewer rows than clusters
    with pytest.warns(DataWarning, match=r"the views 'c' share fewer than 3 samples \(n_clusters\)"):
        model = EEIMVC(3, random_state=0).fit(as_views(X, mask, names=list("abc")))
    assert adjusted_rand_index(y, model.labels_) == 1
    assert np.isfinite(model.embedding_).all()


def test_content_of_unseen_rows_is_never_read():
    X, mask, _ = blobs(100)
    labels = EERIMVC(3, random_state=0).fit_predict(as_views(X, mask))
    for junk in (np.nan, np.inf, 1e300):
        other = [np.where(mask[:, [v]], x, junk) for v, x in enumerate(X)]
        np.testing.assert_array_equal(EERIMVC(3, random_state=0).fit_predict(as_views(other, mask)), labels)


def test_terms_of_the_bound():
    X, mask, _ = blobs(90)
    model = EEIMVC(3, random_state=0).fit(as_views(X, mask))
    terms = model.bound_
    state = model.state_.state
    Hs = exact_partitions(as_views(X, mask), 3, "gaussian").H
    T = fused(Hs, [np.flatnonzero(~m) for m in mask.T], state)
    centres = np.stack([T[model.labels_ == c].mean(axis=0) for c in range(3)])
    error = cdist(T, centres, "sqeuclidean").min(axis=1).mean()
    assert terms.reconstruction_error == pytest.approx(error, rel=1e-6)
    assert terms.complexity == pytest.approx(np.sqrt(2 * np.pi * 3) * 9 / np.sqrt(90))
    assert terms.dimension == pytest.approx(np.sqrt(2 * np.pi) * 3 * (3 + np.sqrt(2)) / np.sqrt(90))
    assert terms.confidence == pytest.approx(4 * np.sqrt(np.log(20) / 180))
