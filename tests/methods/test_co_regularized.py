"""Co-regularised spectral clustering: the authors' numbers, optimal blocks, invariances, going on.

Every key of the reference file that begins with ``coreg`` is compared here.
"""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from conspectus import CentroidSC, InputError, PairwiseSC, as_views
from conspectus.fill import FillViews
from conspectus.loop import run, strict
from conspectus.methods.graphs.co_regularized import (
    agreement,
    alone,
    centroid_steps,
    common_directions,
    drawn,
    pairwise_steps,
)
from conspectus.metrics import adjusted_rand_index
from conspectus.numerics.affinity import median_gaussian_graph
from conspectus.numerics.laplacian import normalised_graph

from .golden import golden
from .test_apmc import blobs

BOTH = pytest.mark.parametrize("method", [CentroidSC, PairwiseSC])


def stored():
    """The file, and its three views filled with means."""
    arrays = golden("factors")
    views = as_views([arrays[f"X{v}"] for v in range(3)])
    return arrays, FillViews("mean").fit_transform(views)


def stored_laplacians():
    return [normalised_graph(median_gaussian_graph(stored()[1].data(v))[0]) for v in range(3)]


def same_span(U, P, atol=1e-12):
    np.testing.assert_allclose(U @ U.T, P, atol=atol)


def test_widths_and_first_embeddings_of_the_released_code():
    arrays, whole = stored()
    widths = [median_gaussian_graph(whole.data(v))[1] for v in range(3)]
    np.testing.assert_allclose(widths, arrays["coreg_sigma"], rtol=1e-12)
    U, _ = alone(stored_laplacians(), 4)
    for v in range(3):
        same_span(U[v], arrays[f"coreg_U0_v{v}"] @ arrays[f"coreg_U0_v{v}"].T)


def test_pairwise_equals_the_released_code():
    arrays, L = golden("factors"), stored_laplacians()
    eigsum = arrays["coreg_pair_eigsum"]
    np.testing.assert_allclose(alone(L, 4)[1], eigsum[:, 0], rtol=1e-12)
    for n_iter, (_, state) in enumerate(islice(pairwise_steps(L, 4, 0.5), 5), 1):
        np.testing.assert_allclose(state.taken, eigsum[:, n_iter], rtol=1e-12)
        for v in range(3):
            if n_iter in (1, 5):
                same_span(state.U[v], arrays[f"coreg_pair_UUt_v{v}_it{n_iter}"])


def test_centroid_equals_the_released_code():
    arrays, L = golden("factors"), stored_laplacians()
    for n_iter, (_, state) in enumerate(islice(centroid_steps(L, 4, 0.5), 5), 1):
        np.testing.assert_allclose(state.taken, arrays["coreg_cent_eigsum"][:, n_iter - 1], rtol=1e-12)
        if n_iter in (1, 5):
            same_span(state.centroid, arrays[f"coreg_cent_UsUst_it{n_iter}"])
    for v in range(3):
        same_span(state.U[v], arrays[f"coreg_cent_UUt_v{v}_it5"])


def laplacians(n=40, seed=0):
    rng = np.random.default_rng(seed)
    return [normalised_graph(median_gaussian_graph(rng.normal(size=(n, d)))[0]) for d in (3, 5, 4)]


def top(A, k):
    return np.linalg.eigh(A)[1][:, ::-1][:, :k]


def test_naive_transcription():
    L, k, lam = laplacians(), 3, 0.3
    U = [top(A, k) for A in L]
    for _ in range(4):
        for v in (1, 2, 0):
            U[v] = top(L[v] + lam * sum(U[u] @ U[u].T for u in range(3) if u != v), k)
    objective = sum(np.trace(u.T @ A @ u) for u, A in zip(U, L))
    objective += lam * sum(np.linalg.norm(U[a].T @ U[b]) ** 2 for a, b in ((0, 1), (0, 2), (1, 2)))
    found, state = list(islice(pairwise_steps(L, k, lam), 4))[-1]
    assert found == pytest.approx(objective, rel=1e-10)
    for v in range(3):
        same_span(state.U[v], U[v] @ U[v].T, 1e-8)
    U = [top(A, k) for A in L]
    for _ in range(4):
        centroid = top(sum(u @ u.T for u in U), k)
        U = [top(A + lam * centroid @ centroid.T, k) for A in L]
    objective = sum(np.trace(u.T @ A @ u) + lam * np.linalg.norm(u.T @ centroid) ** 2 for u, A in zip(U, L))
    found, state = list(islice(centroid_steps(L, k, lam), 4))[-1]
    assert found == pytest.approx(objective, rel=1e-10)
    same_span(state.centroid, centroid @ centroid.T, 1e-8)


@pytest.mark.parametrize("steps", [pairwise_steps, centroid_steps])
@pytest.mark.parametrize("lam", [0.01, 1.0, 30.0])
def test_objectives_rise_and_frames_are_orthonormal(steps, lam):
    L = laplacians(seed=1)
    with strict():
        state, _ = run(steps(L, 3, lam), max_iter=30, tol=None, direction="up")
    for U in state.U:
        np.testing.assert_allclose(U.T @ U, np.eye(3), atol=1e-10)
    rng = np.random.default_rng(0)
    others = [state.centroid] if steps is centroid_steps else list(state.U[1:])
    A = drawn(L[0], others, lam)
    best = np.trace(state.U[0].T @ (A @ state.U[0]))
    for _ in range(20):
        Q = np.linalg.qr(rng.standard_normal((40, 3)))[0]
        assert np.trace(Q.T @ (A @ Q)) <= best


def test_without_weight_views_are_alone_and_equal_views_stay_equal():
    L = laplacians(seed=2)
    own = alone(L, 3)[0]
    for steps in (pairwise_steps, centroid_steps):
        _, state = list(islice(steps(L, 3, 0.0), 3))[-1]
        for U, V in zip(state.U, own):
            same_span(U, V @ V.T, 1e-8)
        _, state = list(islice(steps([L[0]] * 3, 3, 0.5), 3))[-1]
        for U in state.U:
            same_span(U, own[0] @ own[0].T, 1e-8)
    same_span(common_directions(own, 3), top(sum(U @ U.T for U in own), 3) @ top(sum(U @ U.T for U in own), 3).T, 1e-8)
    assert agreement(own[0], own[0]) == pytest.approx(3)


def test_similarities_are_those_of_the_median_distance():
    X = np.random.default_rng(0).normal(size=(30, 4))
    K, s = median_gaussian_graph(X)
    D = cdist(X, X)
    assert s == pytest.approx(np.median(D))
    np.testing.assert_allclose(K, np.exp(-(D**2) / (2 * s**2)), atol=1e-12)
    half = np.vstack([np.zeros((25, 4)), X[:5]])  # most pairs are equal rows: the median of all is 0
    K, s = median_gaussian_graph(half)
    assert s > 0
    assert 0 < K[0, 26] < 1
    np.testing.assert_array_equal(median_gaussian_graph(np.ones((4, 2)))[0], 1)
    for scale in (1e-300, 1e200):
        np.testing.assert_allclose(median_gaussian_graph(X * scale)[0], median_gaussian_graph(X)[0], atol=1e-12)


@BOTH
@pytest.mark.parametrize("stop_at", [1, 3])
def test_going_on_is_bit_equal(method, stop_at):
    X, mask, _ = blobs(80)
    views, options = as_views(X, mask), {"lam": 0.2, "tol": None, "max_iter": 6, "random_state": 0}
    whole = method(3, **options).fit(views)
    first = method(3, **{**options, "max_iter": stop_at}).fit(views)
    rest = method(3, **options).fit(views, start=first.state_)
    assert rest.trace_.objective == whole.trace_.objective
    np.testing.assert_array_equal(rest.labels_, whole.labels_)
    np.testing.assert_array_equal(rest.embedding_, whole.embedding_)


@BOTH
def test_order_of_samples_and_views_and_scale_of_a_view_do_not_matter(method):
    X, mask, y = blobs(90)
    labels = method(3, random_state=0).fit_predict(as_views(X, mask))
    assert adjusted_rand_index(y, labels) > 0.9
    order = np.random.default_rng(0).permutation(90)
    moved = method(3, random_state=0).fit_predict(as_views([x[order] for x in X], mask[order]))
    assert adjusted_rand_index(labels[order], moved) == 1
    turned = method(3, random_state=0).fit_predict(as_views(X[::-1], mask[:, ::-1]))
    assert adjusted_rand_index(labels, turned) == 1
    scaled = method(3, random_state=0).fit_predict(as_views([X[0] * 1e3, X[1] + 5, X[2]], mask))
    assert adjusted_rand_index(labels, scaled) == 1


@BOTH
@pytest.mark.parametrize("fill", ["mean", "knn", FillViews("knn", n_neighbors=2), "alm_mc"])
def test_any_filling(method, fill):
    X, mask, y = blobs(90)
    model = method(3, fill=fill, random_state=0).fit(as_views(X, mask))
    assert adjusted_rand_index(y, model.labels_) > 0.9
    assert model.predict({0: X[0]}).shape == (90,)


@BOTH
def test_refuses_with_the_bytes(method):
    X, mask, _ = blobs(60)
    with pytest.raises(InputError, match=r"samples by samples: 60 samples need 0\.0 GiB \(it takes at most 50\)"):
        method(3, max_samples=50).fit(as_views(X, mask))
