"""LF-IMVC: the released code's numbers, optimal blocks, prediction by the same formula as training."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from conspectus import LFIMVC, as_views
from conspectus.loop import run, strict
from conspectus.methods.kernels.ee_imvc import align, identity
from conspectus.methods.kernels.lf_imvc import steps
from conspectus.metrics import adjusted_rand_index
from conspectus.numerics.rows import unit_rows

from .kernel_inputs import partitions, same_span, stored
from .test_apmc import blobs
from .test_kernel_features import wide_blobs

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize(("key", "lam"), [("lf1", 0.125), ("lf2", 1.0), ("lf3", 8.0)])
def test_equal_to_the_released_code(key, lam):
    arrays, _, _ = stored()
    Hs = list(arrays["HP0"])
    objective = arrays[f"oct_{key}_obj"].ravel()
    with strict():
        state, trace = run(steps(Hs, identity(Hs), lam), max_iter=200, tol=1e-4, min_iter=3, direction="up")
    assert trace.n_iter == len(objective)
    np.testing.assert_allclose(trace.objective, objective, rtol=1e-13)
    np.testing.assert_allclose(unit_rows(state.H), arrays[f"oct_{key}_H"], atol=1e-12)


def test_blocks_are_optimal():
    Hs, _ = partitions()
    lam = 0.5
    found = list(islice(steps(Hs, align(Hs), lam), 4))
    before, after = found[-2][1], found[-1][1]
    T = sum(h @ w for h, w in zip(before.Hs, before.W))
    assert np.sum(after.H * T) == pytest.approx(np.linalg.norm(T, "nuc"))
    for p in range(3):
        Q = before.Hs[p].T @ after.H
        assert np.sum(after.W[p] * Q) == pytest.approx(np.linalg.norm(Q, "nuc"))
        target = after.H @ after.W[p].T + lam * Hs[p]
        assert np.sum(after.Hs[p] * target) == pytest.approx(np.linalg.norm(target, "nuc"))
        np.testing.assert_allclose(after.Hs[p].T @ after.Hs[p], np.eye(3), atol=1e-12)


def test_training_rows_are_predicted_as_they_were_embedded():
    X, mask, y = blobs(120)
    views = as_views(X, mask)
    model = LFIMVC(3, tol=1e-14, max_iter=3000, random_state=0).fit(views)
    assert adjusted_rand_index(y, model.labels_) == 1
    np.testing.assert_array_equal(model.predict(views), model.labels_)
    np.testing.assert_allclose(model._rule.map(views), model.embedding_, atol=1e-4)
    for v in range(3):
        assert adjusted_rand_index(y, model.predict({v: X[v]})) > 0.8


def test_features_are_exact_for_linear_kernels():
    X, mask, _ = wide_blobs()
    options = {"kernel": "linear", "tol": None, "max_iter": 10, "random_state": 0}
    exact, features = (LFIMVC(3, approximation=a, **options).fit(as_views(X, mask)) for a in ("exact", "features"))
    np.testing.assert_allclose(features.trace_.objective, exact.trace_.objective, rtol=1e-8)
    same_span(features.embedding_, exact.embedding_, 1e-8)


@pytest.mark.parametrize("stop_at", [1, 3])
def test_going_on_is_bit_equal(stop_at):
    X, mask, _ = blobs(80)
    views = as_views(X, mask)
    whole, first = (LFIMVC(3, max_iter=t, tol=None, random_state=0).fit(views) for t in (7, stop_at))
    rest = LFIMVC(3, max_iter=7, tol=None, random_state=0).fit(views, start=first.state_)
    assert rest.trace_.objective == whole.trace_.objective
    np.testing.assert_array_equal(rest.embedding_, whole.embedding_)
