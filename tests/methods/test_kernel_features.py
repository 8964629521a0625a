"""Features: their inner products are the kernel, and what is computed from them is what kernel matrices give."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from conspectus import EEIMVC, EERIMVC, InputError, as_views
from conspectus.methods.kernels.base_partitions import exact_partitions
from conspectus.methods.kernels.features import feature_kernels, feature_partitions, feature_sides, gaussian_block
from conspectus.methods.kernels.observed import observed_kernel
from conspectus.metrics import adjusted_rand_index
from conspectus.numerics.kernels import gaussian_kernel

from .kernel_inputs import same_span
from .test_apmc import blobs

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def sides_of(views, kernel, n_landmarks=1000, rank=1000, normalize=True):
    return feature_sides(views, kernel, normalize, np.random.RandomState(0), n_landmarks, rank)


def inner_products(views, side, v):
    Y = side.project(views, v, np.eye(side.width))
    return Y @ Y.T


def wide_blobs(n=150, seed=0):
    return blobs(n, dims=(12, 20, 15), seed=seed)


@pytest.mark.parametrize(
    ("kernel", "atol"), [("linear", 1e-12), ("cosine", 1e-12), ("gaussian", 2e-4), ("polynomial", 1e-4)]
)
@pytest.mark.parametrize("normalize", [True, False])
def test_inner_products_are_the_kernel(kernel, atol, normalize):
    X, mask, _ = wide_blobs(80)
    views = as_views([x / 8 for x in X], mask)
    for v, side in enumerate(sides_of(views, kernel, normalize=normalize)):
        K, _ = observed_kernel(views, v, kernel, normalize)
        np.testing.assert_allclose(inner_products(views, side, v), K, atol=atol * np.abs(K).max())


def test_gaussian_values_in_single_precision():
    rng = np.random.default_rng(0)
    X, U = 1e4 + rng.standard_normal((700, 6)), 1e4 + rng.standard_normal((30, 6))
    C = gaussian_block(X, U, 2.0)
    assert C.dtype == np.float32
    np.testing.assert_allclose(C, gaussian_kernel(X, U, 2.0), atol=1e-6)
    assert C.max() <= 1


def test_fewer_landmarks_come_close():
    X, mask, _ = wide_blobs(400)
    views = as_views(X, mask)
    sides = sides_of(views, "gaussian", 100, 40)
    base = feature_partitions(views, 3, sides, feature_kernels(views, sides))
    exact = exact_partitions(views, 3, "gaussian")
    for H, other, v in zip(base.H, exact.H, range(3)):
        assert np.linalg.norm(H.T @ other) ** 2 / 3 > 0.95
        np.testing.assert_allclose(H.T @ H, np.eye(3), atol=1e-12)
        assert not H[views.missing(v)].any()
        joined = sides[v].project(views, v, base.R[v])
        np.testing.assert_allclose(joined, H[views.observed(v)], atol=1e-5)


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
@pytest.mark.parametrize("parameters", [{}, {"prior": "average"}, {"prior": "mkkm"}])
def test_features_are_exact_for_linear_kernels(kernel, parameters):
    X, mask, _ = wide_blobs()
    views = as_views(X, mask)
    options = {
        "kernel": kernel,
        "tol": None,
        "max_iter": 20,
        "random_state": 0,
        "predict_mode": "fixpoint",
        **parameters,
    }
    exact, features = (EEIMVC(3, approximation=a, **options).fit(views) for a in ("exact", "features"))
    np.testing.assert_allclose(features.trace_.objective, exact.trace_.objective, rtol=1e-8)
    same_span(features.embedding_, exact.embedding_, 1e-8)
    np.testing.assert_allclose(features.view_weights_, exact.view_weights_, atol=1e-8)
    np.testing.assert_array_equal(features.predict(X), exact.predict(X))


def test_sparse_rows_and_rows_of_any_scale():
    X, mask, _ = wide_blobs()
    X = [np.maximum(x - np.median(x, axis=0), 0) for x in X]
    dense = EEIMVC(3, kernel="linear", approximation="features", random_state=0).fit(as_views(X, mask))
    views = as_views([sparse.csr_array(x) for x in X], mask)
    of_sparse = EEIMVC(3, kernel="linear", approximation="features", random_state=0).fit(views)
    np.testing.assert_allclose(of_sparse.trace_.objective, dense.trace_.objective, rtol=1e-9)
    gaussian = EEIMVC(3, approximation="features", random_state=0).fit(views)
    np.testing.assert_array_equal(gaussian.predict(views), gaussian.predict(as_views(X, mask)))
    for a in ("exact", "features"):
        tiny = EEIMVC(3, kernel="linear", approximation=a, random_state=0).fit(as_views([1e-9 * x for x in X], mask))
        np.testing.assert_allclose(tiny.trace_.objective, dense.trace_.objective, rtol=1e-8)


@pytest.mark.parametrize("method", [EEIMVC, EERIMVC])
def test_gaussian_features_find_and_predict_blobs(method):
    X, mask, y = wide_blobs(300)
    views = as_views(X, mask)
    model = method(3, approximation="features", n_landmarks=60, rank=20, random_state=0).fit(views)
    assert adjusted_rand_index(y, model.labels_) == 1
    np.testing.assert_array_equal(model.predict(views), model.labels_)
    for v in range(3):
        assert adjusted_rand_index(y, model.predict({v: X[v]})) > 0.95


def test_blocks_of_another_size_give_the_same():
    X, mask, _ = wide_blobs()
    views = as_views(X, mask)
    options = {"approximation": "features", "n_landmarks": 40, "random_state": 0}
    one, many = (EERIMVC(3, **options).fit(v) for v in (views, replace(views, chunk=7)))
    np.testing.assert_allclose(one.trace_.objective, many.trace_.objective, rtol=1e-6)
    np.testing.assert_array_equal(one.labels_, many.labels_)


def test_going_on_is_bit_equal():
    X, mask, _ = wide_blobs()
    options = {"approximation": "features", "n_landmarks": 40, "random_state": 0, "tol": None}
    whole = EERIMVC(3, max_iter=6, **options).fit(as_views(X, mask))
    first = EERIMVC(3, max_iter=2, **options).fit(as_views(X, mask))
    rest = EERIMVC(3, max_iter=6, **options).fit(as_views(X, mask), start=first.state_)
    assert rest.trace_.objective == whole.trace_.objective
    np.testing.assert_array_equal(rest.embedding_, whole.embedding_)


def test_which_route_is_taken(monkeypatch):
    X, mask, _ = wide_blobs(90)
    views = as_views(X, mask)
    monkeypatch.setattr("conspectus.methods.kernels.estimator.EXACT_ROWS", int(mask.sum(axis=0).max()))
    assert EEIMVC(3)._exact(views)
    monkeypatch.setattr("conspectus.methods.kernels.estimator.EXACT_ROWS", int(mask.sum(axis=0).max()) - 1)
    assert not EEIMVC(3)._exact(views)
    assert EEIMVC(3, approximation="exact")._exact(views)
    with pytest.raises(InputError, match="kernels that are given have no features"):
        EEIMVC(2, kernel="precomputed", approximation="features").fit(as_views([np.eye(4)], square=True))


@pytest.mark.parametrize("kernel", ["gaussian", "linear", "cosine", "polynomial"])
def test_arrays_of_another_library(kernel):
    xp = pytest.importorskip("array_api_strict")
    X, mask, _ = wide_blobs(90)
    options = {"kernel": kernel, "approximation": "features", "n_landmarks": 40, "random_state": 0}
    ours = EERIMVC(3, **options).fit(as_views(X, mask))
    theirs = EERIMVC(3, **options).fit(as_views([xp.asarray(x) for x in X], mask))
    np.testing.assert_allclose(theirs.trace_.objective, ours.trace_.objective, rtol=1e-6)
    np.testing.assert_array_equal(theirs.labels_, ours.labels_)
    np.testing.assert_array_equal(theirs.predict([xp.asarray(x) for x in X]), ours.predict(X))
