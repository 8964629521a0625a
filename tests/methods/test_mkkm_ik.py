"""MKKM-IK and its mutual completion: the released code's numbers, optimal blocks, features as good as matrices."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from conspectus import MKKMIK, MKKMIKMKC, InputError, as_views
from conspectus.loop import run, strict
from conspectus.methods.kernels import mkkm_ik, mkkm_ik_mkc
from conspectus.methods.kernels.fillings import complete
from conspectus.methods.kernels.imputed import IncompleteKernels
from conspectus.methods.kernels.observed import observed_kernel, zero_filled
from conspectus.metrics import adjusted_rand_index
from conspectus.numerics.rows import unit_rows

from .kernel_inputs import golden_kernels, same_span, stored
from .test_apmc import blobs
from .test_kernel_features import wide_blobs

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_ik_is_equal_to_the_released_code():
    arrays, _, missing = stored()
    incomplete = IncompleteKernels(list(arrays["K"]), missing, 1e-4)
    objective = arrays["oct_ik_obj"].ravel()
    with strict():  # the original counts to 50 and stops one later
        state, trace = run(mkkm_ik.steps(incomplete, 3, 4), max_iter=51, tol=1e-4, min_iter=3, direction="down")
    assert trace.n_iter == len(objective)
    np.testing.assert_allclose(trace.objective, objective, rtol=1e-12)
    np.testing.assert_allclose(state.g, arrays["oct_ik_g"].ravel(), atol=1e-12)
    H = unit_rows(state.H)
    np.testing.assert_allclose(H @ H.T, arrays["oct_ik_HHt"], atol=1e-11)
    completed = np.stack(incomplete.completed(state.H).K, axis=2)
    np.testing.assert_allclose(completed, arrays["oct_ik_K"], atol=1e-11)


def test_mkc_is_equal_to_the_released_code():
    arrays, mask, _ = stored()
    kernels = golden_kernels()
    # Three views: the factor m - 2 that the code lacks is 1. Its lambda .125 is .25 here.
    iterates = mkkm_ik_mkc.steps(kernels.K, kernels.observed, 4, 0.25)
    found = list(islice(iterates, 11))
    np.testing.assert_allclose([f for f, _ in found], arrays["oct_mkc_obj"].ravel(), rtol=1e-7)
    state = found[-1][1]
    np.testing.assert_allclose(state.g, arrays["oct_mkc_g"].ravel(), atol=1e-7)
    H = unit_rows(state.H)
    np.testing.assert_allclose(H @ H.T, arrays["oct_mkc_HHt"], atol=1e-6)


def test_imputation_as_printed():
    """K_ou = -K_oo U_ou (U_uu + a I)^-1 with U = I - HH', the n_u x n_u solve."""
    arrays, mask, missing = stored()
    H = np.linalg.qr(np.random.default_rng(0).standard_normal((60, 4)))[0]
    U = np.eye(60) - H @ H.T
    for K, u, found in zip(arrays["K"], missing, complete(arrays["K"], missing, H, 1e-2)):
        o = np.setdiff1d(np.arange(60), u)
        A = -U[np.ix_(o, u)] @ np.linalg.inv(U[np.ix_(u, u)] + 1e-2 * np.eye(len(u)))
        K_oo = K[np.ix_(o, o)]
        np.testing.assert_allclose(found[np.ix_(o, u)], K_oo @ A, atol=1e-11)
        np.testing.assert_allclose(found[np.ix_(u, u)], A.T @ K_oo @ A, atol=1e-11)
        np.testing.assert_array_equal(found[np.ix_(o, o)], K_oo)
        assert np.linalg.eigvalsh(found).min() > -1e-10


def test_no_other_imputation_is_better():
    """Features filled as Z_u = A'Z_o minimise tr(Z'(I - HH')Z) + a |Z_u|^2."""
    rng = np.random.default_rng(1)
    Z, u, ridge = rng.standard_normal((20, 6)), np.arange(5), 0.1
    o = np.arange(5, 20)
    H = np.linalg.qr(rng.standard_normal((20, 3)))[0]
    K = np.zeros((20, 20))
    K[5:, 5:] = Z[o] @ Z[o].T
    filled = complete([K], [u], H, ridge)[0]
    value = np.trace(filled) - np.trace(H.T @ filled @ H)
    value += ridge * np.trace(filled[:5, :5])
    for _ in range(30):
        Z[u] = rng.standard_normal((5, 6)) * rng.uniform(0, 1)
        other = np.trace(Z.T @ Z) - np.linalg.norm(H.T @ Z) ** 2 + ridge * np.linalg.norm(Z[u]) ** 2
        assert value <= other


@pytest.mark.parametrize("mode", ["observed", "fixpoint"])
def test_features_are_exact_for_linear_kernels(mode):
    X, mask, _ = wide_blobs()
    views = as_views(X, mask)
    options = {"kernel": "linear", "tol": None, "max_iter": 10, "random_state": 0, "predict_mode": mode}
    with strict():
        exact, features = (MKKMIK(3, approximation=a, **options).fit(views) for a in ("exact", "features"))
    np.testing.assert_allclose(features.trace_.objective, exact.trace_.objective, rtol=1e-8)
    np.testing.assert_allclose(features.view_weights_, exact.view_weights_, atol=1e-8)
    same_span(features.embedding_, exact.embedding_, 1e-7)
    same_span(features._rule.map(views), exact._rule.map(views), 1e-7)


@pytest.mark.parametrize("approximation", ["exact", "features"])
def test_samples_join_by_the_formula_of_training(approximation):
    """For any H: sum_{p in O} y_p A_p + h sum_{p not in O} E_p = sum_p g_p^2 K_p H / values, K_p completed from H."""
    X, mask, _ = wide_blobs(100)
    views = as_views(X, mask)
    model = MKKMIK(3, kernel="linear", approximation=approximation, random_state=0)
    incomplete, sides = model._incomplete(views, np.random.RandomState(0))
    state = list(islice(mkkm_ik.steps(incomplete, 3, 3), 3))[-1][1]
    joining = incomplete.joining(state.H, state.values, state.used)
    joined = np.zeros_like(state.H)
    for v in range(3):
        joined[views.observed(v)] += sides[v].project(views, v, joining.A[v])
        joined[views.missing(v)] += state.H[views.missing(v)] @ joining.E[v]
    K = [observed_kernel(views, v, "linear")[0] for v in range(3)]
    missing = [views.missing(v) for v in range(3)]
    completed = complete([zero_filled(views, v, k) for v, k in enumerate(K)], missing, state.H, model.ridge)
    direct = sum(w * k @ state.H for w, k in zip(state.used**2, completed)) / state.values
    np.testing.assert_allclose(joined, direct, atol=1e-8)


@pytest.mark.parametrize("approximation", ["exact", "features"])
def test_training_samples_are_predicted_as_labelled(approximation):
    X, mask, y = wide_blobs(100)
    views = as_views(X, mask)
    options = {
        "approximation": approximation,
        "rank": 20,
        "ridge": 1e-1,
        "tol": 1e-7,
        "max_iter": 80,
        "random_state": 0,
    }
    for mode in ("observed", "fixpoint"):
        model = MKKMIK(3, predict_mode=mode, **options).fit(views)
        assert adjusted_rand_index(y, model.labels_) > 0.95
        assert (model.predict(views) == model.labels_).mean() > (0.99 if mode == "fixpoint" else 0.9)


@pytest.mark.parametrize("method", [MKKMIK, MKKMIKMKC])
def test_going_on_is_bit_equal(method):
    X, mask, _ = blobs(60)
    views = as_views(X, mask)
    whole, first = (method(3, max_iter=t, tol=None, random_state=0).fit(views) for t in (6, 2))
    rest = method(3, max_iter=6, tol=None, random_state=0).fit(views, start=first.state_)
    assert rest.trace_.objective == whole.trace_.objective
    np.testing.assert_array_equal(rest.embedding_, whole.embedding_)


def test_blocks_of_mutual_completion_are_optimal():
    rng = np.random.default_rng(0)
    K = [B @ B.T for B in rng.standard_normal((4, 15, 15))]
    H = np.linalg.qr(rng.standard_normal((15, 3)))[0]
    rest, lam = np.eye(15) - H @ H.T, 0.7

    def whole(K, g):
        fit = sum(w**2 * np.trace(k @ rest) for w, k in zip(g, K))
        mutual = sum(np.linalg.norm(K[p] - sum(g[q] * K[q] for q in range(4) if q != p)) ** 2 for p in range(4))
        return fit + lam / 2 * mutual

    a = np.array([np.trace(k @ rest) for k in K])
    M = np.array([[np.sum(k * q) for q in K] for k in K])
    g = mkkm_ik_mkc.weights(a, M, lam)
    best = mkkm_ik_mkc.objective(a, M, g, lam)
    assert best == pytest.approx(whole(K, g))
    assert all(best <= whole(K, other) + 1e-9 for other in rng.dirichlet(np.ones(4), size=60))
    # Were K_p free, its target would be stationary: no small change of it does better.
    g = rng.dirichlet(np.ones(4))
    K[1] = mkkm_ik_mkc.target(K, 1, g, rest, lam)
    value = whole(K, g)
    for _ in range(20):
        step = rng.standard_normal((15, 15))
        changed = [*K[:1], K[1] + 1e-2 * (step + step.T), *K[2:]]
        assert whole(changed, g) >= value
    P = mkkm_ik_mkc.semidefinite(K[1])
    assert np.linalg.eigvalsh(P).min() > -1e-10
    np.testing.assert_allclose(mkkm_ik_mkc.semidefinite(P), P, atol=1e-10)


def test_mutual_completion_finds_blobs_and_refuses_many_samples():
    X, mask, y = blobs(120, dims=(12, 20, 15))
    model = MKKMIKMKC(3, random_state=0).fit(as_views(X, mask))
    assert adjusted_rand_index(y, model.labels_) > 0.95
    assert model.view_weights_.sum() == pytest.approx(1)
    assert adjusted_rand_index(y, model.predict(X)) > 0.9
    with pytest.raises(InputError, match=r"3,001 samples need 0.1 GiB .*at most 3,000.*MKKMIK or EEIMVC"):
        MKKMIKMKC(2).fit(np.arange(3001.0)[:, None])


def test_given_kernels():
    X, mask, _ = blobs(70, dims=(5, 8))
    K = as_views([x @ x.T for x in X], mask, square=True)
    for method in (MKKMIK, MKKMIKMKC):
        given = method(3, kernel="precomputed", random_state=0).fit(K)
        rows = method(3, kernel="linear", random_state=0).fit(as_views(X, mask))
        np.testing.assert_allclose(given.trace_.objective, rows.trace_.objective, rtol=1e-8)
        assert adjusted_rand_index(given.labels_, rows.labels_) == 1
        cross = [x[:9] @ x.T for x in X]
        assert set(given.predict(cross)) <= set(range(3))
