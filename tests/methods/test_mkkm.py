"""MKKM with four fillings: the released code's numbers, fillings sample by sample, optimal weights, both routes."""

from __future__ import annotations

import numpy as np
import pytest

from conspectus import MKKM, AverageKernelKMeans, InputError, as_views
from conspectus.loop import run, strict
from conspectus.methods.kernels.fillings import FILLS
from conspectus.methods.kernels.kernel_sets import DenseKernels
from conspectus.methods.kernels.mkkm_steps import FLOOR, kernel_weights, steps, unexplained
from conspectus.metrics import adjusted_rand_index

from .kernel_inputs import same_span, stored
from .test_apmc import blobs
from .test_kernel_features import wide_blobs

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
ORIGINALS = [("zero", "zero", "zf"), ("mean", "mean", "mf"), ("knn", "knn", "knn"), ("alignment", "af", "af")]


@pytest.mark.parametrize(("fill", "stored_fill", "key"), ORIGINALS)
def test_equal_to_the_released_code(fill, stored_fill, key):
    arrays, _, missing = stored()
    filled = FILLS[fill](list(arrays["K"]), missing, 4)
    np.testing.assert_allclose(np.stack(filled, axis=2), arrays[f"oct_fill_{stored_fill}"], atol=1e-13)
    objective = arrays[f"oct_{key}_obj"].ravel()
    with strict():
        state, trace = run(steps(DenseKernels(filled), 3, 4), max_iter=101, tol=1e-4, min_iter=3, direction="down")
    assert trace.n_iter == len(objective)
    np.testing.assert_allclose(trace.objective, objective, rtol=1e-12)
    np.testing.assert_allclose(state.H @ state.H.T, arrays[f"oct_{key}_HHt"], atol=1e-12)
    np.testing.assert_allclose(state.g, arrays[f"oct_{key}_g"].ravel(), atol=1e-12)


def naive_knn(K, missing, n_neighbors=7):
    """One missing sample after the other, later ones over earlier ones."""
    filled = []
    for p, u in enumerate(missing):
        T = sum(K[q] for q in range(len(K)) if q != p) / (len(K) - 1)
        new = K[p].copy()
        for i in u:
            near = np.argsort(((T - T[i]) ** 2).sum(axis=1), kind="stable")[1 : n_neighbors + 1]
            new[i], new[:, i] = T[near].mean(axis=0), T[near].mean(axis=0)
        filled.append((new + new.T) / 2)
    return filled


def test_fillings_sample_by_sample():
    arrays, _, missing = stored()
    for found, naive in zip(FILLS["knn"](list(arrays["K"]), missing, 4), naive_knn(arrays["K"], missing)):
        np.testing.assert_allclose(found, naive, atol=1e-12)
    # The mean filling is the kernel of feature vectors that were filled with their mean.
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((12, 4))
    u = np.array([2, 5, 6])
    Z[u] = 0
    with_mean = Z.copy()
    with_mean[u] = Z[np.setdiff1d(np.arange(12), u)].mean(axis=0)
    np.testing.assert_allclose(FILLS["mean"]([Z @ Z.T], [u], 2)[0], with_mean @ with_mean.T, atol=1e-12)


def test_weights_are_the_best_on_the_simplex():
    a = np.array([3.0, 1.0, 0.5])
    g = kernel_weights(a)
    assert g.sum() == pytest.approx(1)
    others = np.random.default_rng(0).dirichlet(np.ones(3), size=200)
    assert (g**2 @ a <= others**2 @ a).all()


def test_kernels_without_rest_and_indefinite_ones_have_finite_weights():
    rng = np.random.default_rng(0)
    low, full = rng.standard_normal((20, 2)), rng.standard_normal((20, 20))
    kernels = DenseKernels([low @ low.T, full @ full.T])
    state, _ = run(steps(kernels, 2, 3), max_iter=5, tol=None)
    assert np.isfinite(state.g).all()
    assert state.g[0] > 1 - 1e-6  # a kernel of rank below k is explained whatever it says
    indefinite = DenseKernels([np.diag(np.r_[np.ones(3), -2 * np.ones(17)]), full @ full.T])
    a = unexplained(indefinite, np.eye(20)[:, :3])
    assert a.min() >= FLOOR * np.abs(indefinite.traces).min() > 0


def test_one_view_is_kernel_k_means():
    X = blobs(60, dims=(6, 2))[0][0]
    mkkm, average = (method(3, kernel="linear", random_state=0).fit(X) for method in (MKKM, AverageKernelKMeans))
    np.testing.assert_allclose(mkkm.embedding_, average.embedding_, atol=1e-10)
    np.testing.assert_array_equal(mkkm.view_weights_, [1.0])


@pytest.mark.parametrize("fill", ["zero", "mean", "alignment"])
def test_features_are_exact_for_linear_kernels(fill):
    X, mask, _ = wide_blobs()
    views = as_views(X, mask)
    exact, features = (
        MKKM(3, fill=fill, kernel="linear", approximation=a, tol=None, max_iter=8, random_state=0).fit(views)
        for a in ("exact", "features")
    )
    np.testing.assert_allclose(features.trace_.objective, exact.trace_.objective, rtol=1e-8)
    np.testing.assert_allclose(features.view_weights_, exact.view_weights_, atol=1e-8)
    same_span(features.embedding_, exact.embedding_, 1e-7)
    np.testing.assert_array_equal(features.predict(X), exact.predict(X))


@pytest.mark.parametrize("fill", list(FILLS))
def test_blobs_are_found_and_predicted(fill):
    X, mask, y = blobs(120, dims=(12, 20, 15))
    views = as_views(X, mask)
    with strict():
        model = MKKM(3, fill=fill, random_state=0).fit(views)
    assert model.view_weights_.sum() == pytest.approx(1)
    if fill in ("zero", "mean"):  # unseen views are filled alike in training and for new samples
        np.testing.assert_array_equal(model.predict(views), model.labels_)
        np.testing.assert_allclose(model._rule.map(views), model.embedding_, atol=1e-8)
    else:  # the first two fillings lose samples whose view weighs most: baselines
        assert adjusted_rand_index(y, model.labels_) > 0.9
        assert adjusted_rand_index(y, model.predict(X)) > 0.9
    complete = MKKM(3, fill=fill, random_state=0).fit(X)
    assert adjusted_rand_index(y, complete.labels_) > 0.9
    np.testing.assert_array_equal(complete.predict(X), complete.labels_)


@pytest.mark.parametrize("approximation", ["exact", "features"])
def test_the_average_kernel(approximation):
    X, mask, y = blobs(150, dims=(12, 20, 15))
    views = as_views(X, mask)
    model = AverageKernelKMeans(3, kernel="linear", approximation=approximation, random_state=0).fit(views)
    assert adjusted_rand_index(y, model.labels_) == 1
    np.testing.assert_array_equal(model.predict(views), model.labels_)
    np.testing.assert_allclose(model._rule.map(views), model.embedding_, atol=1e-9)
    other = AverageKernelKMeans(3, kernel="linear", approximation="exact", random_state=0).fit(views)
    same_span(model.embedding_, other.embedding_, 1e-7)
    with pytest.raises(InputError, match="no iterations"):
        model.fit(views, start=object())


def test_going_on_is_bit_equal():
    X, mask, _ = blobs(80)
    for fill in ("mean", "knn"):
        options = {"fill": fill, "random_state": 0, "tol": None}
        whole = MKKM(3, max_iter=8, **options).fit(as_views(X, mask))
        first = MKKM(3, max_iter=3, **options).fit(as_views(X, mask))
        rest = MKKM(3, max_iter=8, **options).fit(as_views(X, mask), start=first.state_)
        assert rest.trace_.objective == whole.trace_.objective
        np.testing.assert_array_equal(rest.embedding_, whole.embedding_)


def test_neighbours_need_matrices():
    X, mask, _ = blobs(30)
    with pytest.raises(InputError, match=r"fill='knn' looks for neighbours.*approximation='exact'"):
        MKKM(2, fill="knn", approximation="features").fit(as_views(X, mask))
    assert MKKM(2, fill="knn").max_samples == 10_000
    assert MKKM(2).max_samples is None
    with pytest.raises(InputError, match=r"10,001 samples need 1.5 GiB"):
        MKKM(2, fill="knn").fit(np.arange(10_001.0)[:, None])
