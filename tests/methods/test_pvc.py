"""PVC: exact blocks, an objective that never rises, prediction by the same least squares, and its refusals."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import nnls

from conspectus import PVC, InputError, as_views, missing
from conspectus.loop import run, strict
from conspectus.methods.factors import pvc
from conspectus.metrics import adjusted_rand_index

from .factor_problems import parts


def pair(n=90, ratio=0.5, seed=0):
    X, _, y = parts(n, dims=(8, 12), seed=seed)
    return X, missing.partial_examples(n, 2, ratio, seed=seed), y


def begun(views, k=3, seed=0):
    return pvc.random_state(views, k, np.random.RandomState(seed))


def naive(X, mask, P, U, lam):
    k = P.shape[1]
    total = sum(((x - P @ u.T)[m] ** 2).sum() for x, u, m in zip(X, U, mask.T))
    return total + lam / k * float((mask @ [x.shape[1] for x in X]) @ P.sum(axis=1))


def test_objective_falls_and_is_that_of_the_formula():
    X, mask, _ = pair()
    views = as_views(X, mask)
    with strict():
        state, trace = run(pvc.steps(views, 0.05, lambda: begun(views)), max_iter=30, tol=None, direction="down")
    assert trace.objective[-1] == pytest.approx(naive(X, mask, state.P, state.U, 0.05), rel=1e-10)
    assert min(state.P.min(), *(U.min() for U in state.U)) >= 0


def test_each_block_is_at_its_best():
    """The complete rows come last: no gradient may point down in them."""
    X, mask, _ = pair()
    views = as_views(X, mask)
    state = list(islice(pvc.steps(views, 0.05, lambda: begun(views)), 4))[-1][1]
    rows = mask.all(axis=1)
    gradient = 2 * sum((state.P @ U.T - x)[rows] @ U for x, U in zip(X, state.U)) + 0.05 * 20 / 3
    assert gradient.min() > -1e-8
    assert np.abs(gradient * state.P[rows]).max() < 1e-8


def test_classes_are_found_and_predicted():
    X, mask, y = pair()
    model = PVC(3, random_state=0).fit(as_views(X, mask))
    assert adjusted_rand_index(y, model.labels_) > 0.9
    assert np.mean(model.predict(as_views(X, mask)) == model.labels_) == 1
    for v in range(2):
        assert adjusted_rand_index(y, model.predict({v: X[v]})) > 0.9


def test_the_map_is_the_block_of_the_method():
    X, mask, _ = pair(40)
    model = PVC(3, lam=0.05, random_state=0).fit(as_views(X, mask))
    H, l = model._rule.map(as_views(X, mask)), 0.05 / 3
    for i in (0, 5, 11, 30):
        seen = np.flatnonzero(mask[i])
        U = np.concatenate([model.bases_[v] for v in seen])
        # |x - U z|^2 + c 1'z: a right-hand side that is moved along the columns
        target = np.concatenate([X[v][i] for v in seen]) - np.linalg.pinv(U).T @ np.full(3, l * len(U) / 2)
        z = nnls(U, target)[0]
        np.testing.assert_allclose(H[i], z / np.linalg.norm(z), atol=1e-8)


def test_going_on_is_bit_equal():
    views = as_views(*pair()[:2])
    whole, first = (PVC(3, random_state=0, tol=None, max_iter=m).fit(views) for m in (8, 3))
    rest = PVC(3, random_state=0, tol=None, max_iter=8).fit(views, start=first.state_)
    assert rest.trace_.objective == whole.trace_.objective
    np.testing.assert_array_equal(rest.embedding_, whole.embedding_)


def test_permuted_rows_give_permuted_coefficients():
    X, mask, _ = pair(50)
    order = np.random.default_rng(0).permutation(50)
    views, other = as_views(X, mask), as_views([x[order] for x in X], mask[order])
    start = begun(views)
    moved = pvc.State(start.P[order], start.U)
    one, two = (list(islice(pvc.steps(v, 0.01, lambda s=s: s), 5))[-1][1] for v, s in ((views, start), (other, moved)))
    np.testing.assert_allclose(two.P, one.P[order], atol=1e-8)


def test_one_view_side_empty_and_sparse():
    X, mask, y = pair()
    mask[:, 1] = True  # no sample in the first view only
    kept = missing.remove([sparse.csr_array(x) for x in X], mask)
    model = PVC(3, prepare=None, random_state=0).fit(kept)
    np.testing.assert_allclose(model.trace_.objective, PVC(3, random_state=0).fit(as_views(X, mask)).trace_.objective)
    assert adjusted_rand_index(y, PVC(3, random_state=0).fit_predict(X[0])) > 0.9


def test_fewer_complete_samples_than_parts():
    X, mask, _ = pair()
    mask[:] = True
    mask[2:45, 0] = mask[45:, 1] = False
    model = PVC(3, random_state=0).fit(as_views(X, mask))
    assert len(np.unique(model.labels_)) == 3
    assert np.linalg.matrix_rank(model.coefficients_) == 3


def test_what_it_cannot_do_is_said():
    X, mask, _ = parts(40)
    with pytest.raises(InputError, match=r"at most 2 views.*there are 3: use GPMVC, DAIMC or AnchorConsensus"):
        PVC(3).fit(as_views(X, mask))
    apart = np.zeros((40, 2), dtype=bool)
    apart[:20, 0] = apart[20:, 1] = True
    with pytest.raises(InputError, match="needs samples that several views have seen"):
        PVC(3).fit(as_views(X[:2], apart))
    with pytest.raises(InputError, match="lower lam"):
        PVC(3, lam=100.0).fit(as_views(*pair()[:2]))
