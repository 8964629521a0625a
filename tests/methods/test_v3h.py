"""V3H: the released code's numbers with both signs, optimal blocks, the guard, and the refusal."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from conspectus import V3H, InputError, as_views
from conspectus.loop import run
from conspectus.methods.graphs.v3h import Fixed, Weights, first_embedding, first_state, steps, unit_features
from conspectus.metrics import adjusted_rand_index

from .golden import golden
from .test_apmc import blobs


@pytest.mark.parametrize(("key", "sign"), [("fixed", 1.0), ("literal", -1.0)])
def test_equal_to_the_released_code(key, sign):
    stored = golden("anchors")
    mask = stored["mask"].astype(bool)
    fixed = [Fixed.of(stored[f"v3h_X{v}"].T, mask[:, v]) for v in range(3)]
    start = first_state(fixed, [stored[f"v3h_F0_{v}"] for v in range(3)])
    found = list(islice(steps(fixed, start, Weights(), sign), 30))
    for count in (1, 5, 30):
        H = found[count - 1][1].H
        np.testing.assert_allclose(H @ H.T, stored[f"oct_v3h_{key}_{count}_HHt"], atol=1e-11)
        objective = [f for f, _ in found[:count]]
        np.testing.assert_allclose(objective, stored[f"oct_v3h_{key}_{count}_obj"], rtol=1e-9)
    assert found[-1][0] > found[0][0]  # it does not converge: known, and said in the documentation
    best = int(np.argmin([f for f, _ in found]))
    np.testing.assert_array_equal(found[-1][1].best, found[best][1].H)


def test_first_embeddings_equal_the_released_code():
    stored = golden("anchors")
    for v in range(3):
        F = first_embedding(stored[f"v3h_Z0_{v}"], stored["mask"][:, v].astype(float), 4, components=False)
        np.testing.assert_allclose(F @ F.T, stored[f"v3h_F0_{v}"] @ stored[f"v3h_F0_{v}"].T, atol=1e-10)


def test_components_of_the_graph_are_kept():
    Z = np.kron(np.eye(3), np.ones((6, 6)) - np.eye(6))  # three clusters that no edge connects
    w = np.ones(18)
    w[[2, 9]] = 0
    F = first_embedding(Z, w, 3, components=True)
    np.testing.assert_allclose(F.T @ F, np.eye(3), atol=1e-12)
    np.testing.assert_array_equal(F[w == 0], 0)
    whole = first_embedding(Z, np.ones(18), 3, components=True)
    np.testing.assert_allclose(whole @ whole.T, np.kron(np.eye(3), np.full((6, 6), 1 / 6)), atol=1e-12)
    without = first_embedding(Z, np.ones(18), 3, components=False)
    np.testing.assert_allclose(without.T @ whole, 0, atol=1e-12)


def test_features_have_unit_length_and_unseen_samples_are_zero():
    X, mask, _ = blobs(30)
    for v in range(3):
        features = unit_features(as_views(X, mask), v)
        np.testing.assert_allclose((features**2).sum(axis=1), 1)
        np.testing.assert_array_equal(features[:, ~mask[:, v]], 0)


def test_coefficients_solve_their_equation_with_the_least_norm():
    rng = np.random.default_rng(0)
    seen = rng.random(12) < 0.7
    view, G = Fixed.of(rng.normal(size=(5, 12)), seen), rng.normal(size=(12, 12))
    Z = view.solve(G)
    operator = np.kron(view.X.T @ view.X, np.eye(12)) + np.kron(np.eye(12), np.diag(view.w))
    best = np.linalg.pinv(operator, rcond=1e-9) @ G.ravel()
    np.testing.assert_allclose(Z.ravel(), best, atol=1e-8)


def test_what_holds_after_an_iteration():
    X, mask, _ = blobs(40)
    fixed = [Fixed.of(unit_features(as_views(X, mask), v), mask[:, v]) for v in range(3)]
    rng = np.random.default_rng(0)
    F = [np.linalg.qr(rng.normal(size=(40, 3)))[0] for _ in range(3)]
    for _, state in islice(steps(fixed, first_state(fixed, F), Weights()), 4):
        np.testing.assert_allclose(state.H.T @ state.H, np.eye(3), atol=1e-10)
        for part in state.parts:
            np.testing.assert_allclose(part.F.T @ part.F, np.eye(3), atol=1e-10)
            np.testing.assert_allclose(part.N.sum(axis=1), 1)
            assert part.N.min() >= 0
            np.testing.assert_array_equal(np.diag(part.N), 0)
        assert np.linalg.matrix_rank(state.M) < 40


def test_numbers_that_overflow_end_the_iteration():
    X, mask, _ = blobs(30)
    fixed = [Fixed.of(x.T * 1e50, mask[:, v]) for v, x in enumerate(X)]
    F = [np.linalg.qr(np.random.default_rng(0).normal(size=(30, 3)))[0]] * 3
    state, trace = run(steps(fixed, first_state(fixed, F), Weights(), -1.0), max_iter=200, tol=None)
    assert trace.reason == "finished"
    assert np.isfinite(state.H).all()


@pytest.mark.parametrize("variant", ["corrected", "official"])
def test_blobs_and_resuming(variant):
    X, mask, y = blobs(60)
    views = as_views(X, mask)
    whole = V3H(3, variant=variant, max_iter=8, random_state=0).fit(views)
    first = V3H(3, variant=variant, max_iter=3, random_state=0).fit(views)
    rest = V3H(3, variant=variant, max_iter=8, random_state=0).fit(views, start=first.state_)
    assert rest.trace_.objective == whole.trace_.objective
    np.testing.assert_array_equal(rest.labels_, whole.labels_)
    if variant == "corrected":
        assert adjusted_rand_index(y, V3H(3, random_state=0).fit_predict(views)) > 0.9


def test_many_samples_are_refused_with_the_bytes():
    with pytest.raises(InputError, match=r"2,001 samples need .* GiB .*at most 2,000.*SOMEAS"):
        V3H(3).fit([np.random.default_rng(0).normal(size=(2001, 3))] * 2)
