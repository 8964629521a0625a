"""IMG: the released code's numbers, a naive transcription, optimal blocks, the graph, going on.

Every key of the reference file that begins with ``img`` is compared here. The released steps differ in two places,
which the generator takes as arguments: U_v is fitted to the complete samples alone, and A is cut, not projected.
"""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from conspectus import IMG, DataWarning, InputError, as_views, missing
from conspectus.methods.graphs.img import Data, State, first, laplacian, neighbours, normalised_cut, steps
from conspectus.metrics import adjusted_rand_index
from conspectus.numerics.rows import unit_rows

from .golden import golden
from .test_apmc import blobs

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

WEIGHTS = (0.1, 0.3, 0.1)


def stored():
    arrays = golden("factors")
    views = as_views([arrays["SB0"], arrays["SB1"]]).each([unit_rows] * 2)
    assert (views.seen == arrays["M2"].astype(bool)).all()
    return arrays, Data.of(views), views


def cut(D):
    """The released code's step: ((1 + sum d_j) / n - d_j)_+, which no column's sum is 1 after."""
    return np.maximum((1 + D.sum(axis=0)) / len(D) - D, 0)


def released(n_iter):
    arrays, data, views = stored()
    La = arrays["start_La"]
    start = first(arrays["start_P"], 0.3 * (La + La.T))
    complete = views.seen.all(axis=1)
    # A generator that goes on asks whether P and Q agree already: at the start they do.
    iterates = steps(data, WEIGHTS, start.P, start, tol=-1.0, graph=cut, fitted=np.stack([complete] * 2))
    return next(islice(iterates, n_iter - 1, None))[1]


@pytest.mark.parametrize("n_iter", [1, 5, 20])
def test_equal_to_the_released_code(n_iter):
    arrays, state = golden("factors"), released(n_iter)
    for found, key in ((state.U[0], "U1"), (state.U[1], "U2"), (state.P, "P"), (state.A, "A")):
        stored_value = arrays[f"img_official_{key}_it{n_iter}"]
        np.testing.assert_allclose(found, stored_value, atol=1e-11 * np.abs(stored_value).max())


def test_cuts_equal_the_released_code():
    E = normalised_cut(golden("factors")["img_official_A_it20"], 4)
    np.testing.assert_allclose(E @ E.T, golden("factors")["img_ncut_EEt"], atol=1e-11)


def problem(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = [unit_rows(rng.normal(size=(n, d))) for d in (6, 9)]
    mask = missing.paired(n, 2, 0.5, seed=seed)
    return X, mask, Data.of(as_views(X, mask)), rng.random((n, 3))


def test_naive_transcription():
    X, mask, data, P = problem()
    lam, beta, gamma = 0.1, 0.3, 0.2
    n, k = P.shape
    Q, Lam, mu = P.copy(), np.zeros_like(P), 0.1
    A = neighbours(beta / (4 * gamma) * cdist(P, P, "sqeuclidean"))
    L = laplacian((A + A.T) / 2)
    for found, state in islice(steps(data, (lam, beta, gamma), P), 6):
        U = [np.linalg.inv(P[m].T @ P[m] + lam * np.eye(k)) @ P[m].T @ x[m] for x, m in zip(X, mask.T)]
        P = P.copy()
        for i in range(n):
            seen = np.flatnonzero(mask[i])
            right = 2 * sum(X[v][i] @ U[v].T for v in seen) - Lam[i] + mu * Q[i]
            P[i] = right @ np.linalg.inv(2 * sum(U[v] @ U[v].T for v in seen) + mu * np.eye(k))
        Q = np.linalg.inv(2 * beta * L + mu * np.eye(n)) @ (Lam + mu * P)
        A = np.zeros((n, n))
        for j in range(n):
            d = beta / (4 * gamma) * ((np.delete(Q, j, axis=0) - Q[j]) ** 2).sum(axis=1)
            falling = np.sort(-d)[::-1]
            tau = max((falling[: m + 1].sum() - 1) / (m + 1) for m in range(n - 1))
            A[np.arange(n) != j, j] = np.maximum(-d - tau, 0)
        np.testing.assert_allclose(A.sum(axis=0), 1)
        A = (A + A.T) / 2
        L = np.diag(A.sum(axis=0)) - A
        Lam, mu = Lam + mu * (P - Q), mu * 1.1
        value = sum(np.sum((x[m] - P[m] @ u) ** 2) + lam * np.sum(u**2) for x, m, u in zip(X, mask.T, U))
        value += beta * np.trace(P.T @ L @ P) + gamma * np.sum(A**2)
        assert found == pytest.approx(value, rel=1e-9)
        np.testing.assert_allclose(state.P, P, atol=1e-9)
        np.testing.assert_allclose(state.A, A, atol=1e-9)


def test_blocks_are_optimal():
    _, _, data, P0 = problem(seed=1)
    lam, beta, gamma = WEIGHTS
    before, after = (s for _, s in islice(steps(data, WEIGHTS, P0), 4, 6))
    for x, seen, U in zip(data.X, data.seen.T, after.U):
        P = before.P[seen]
        np.testing.assert_allclose(P.T @ (P @ U - x) + lam * U, 0, atol=1e-9)
    gradient = before.Lam + before.mu * (after.P - before.Q)
    for x, seen, U in zip(data.X, data.seen.T, after.U):
        gradient[seen] += 2 * (after.P[seen] @ U - x) @ U.T
    np.testing.assert_allclose(gradient, 0, atol=1e-9)
    pull = before.smoothness @ after.Q - before.Lam + before.mu * (after.Q - after.P)
    np.testing.assert_allclose(pull, 0, atol=1e-9)


def test_a_sample_is_not_its_own_neighbour():
    rng = np.random.default_rng(0)
    Q = rng.normal(size=(30, 3))
    D = ((Q[:, None] - Q) ** 2).sum(axis=2)
    A = neighbours(D)
    assert A.min() >= 0
    np.testing.assert_allclose(A.sum(axis=1), 1)
    assert not np.diagonal(A).any()
    # The projection's condition: d_ij + a_ij is one number where a_ij > 0, and no less elsewhere.
    for i in range(30):
        level = (D[i] + A[i])[A[i] > 0]
        assert np.ptp(level) < 1e-12
        others = np.delete(D[i], i)
        assert (others >= level.min() - 1e-9)[np.delete(A[i], i) == 0].all()
    assert not neighbours(np.zeros((1, 1))).any()


def test_copies_meet_and_the_graph_stays_a_graph():
    _, _, data, P = problem(seed=2)
    gaps = []
    for _, state in islice(steps(data, WEIGHTS, P), 200):
        gaps.append(np.abs(state.P - state.Q).max())
        assert state.A.min() >= 0
        np.testing.assert_array_equal(state.A, state.A.T)
        assert state.A.sum() == pytest.approx(len(P))
    assert gaps[-1] < 1e-6 < gaps[0]
    assert isinstance(state, State)


@pytest.mark.parametrize("stop_at", [1, 7])
def test_going_on_is_bit_equal(stop_at):
    X, mask, _ = blobs(60, dims=(5, 8))
    views = as_views(X, mask)
    whole = IMG(3, random_state=0, max_iter=20).fit(views)
    first = IMG(3, random_state=0, max_iter=stop_at).fit(views)
    rest = IMG(3, random_state=0, max_iter=20).fit(views, start=first.state_)
    assert rest.trace_.objective == whole.trace_.objective
    np.testing.assert_array_equal(rest.labels_, whole.labels_)
    np.testing.assert_array_equal(rest.embedding_, whole.embedding_)


def test_ends_when_the_copies_agree():
    X, mask, y = blobs(60, dims=(5, 8))
    model = IMG(3, random_state=0, tol=1e-2).fit(as_views(X, mask))
    assert model.trace_.reason == "finished"
    assert np.abs(model.state_.state.P - model.state_.state.Q).max() <= 1e-2
    assert adjusted_rand_index(y, model.labels_) == 1
    again = IMG(3, random_state=0, tol=1e-2).fit(as_views(X, mask), start=model.state_)
    assert again.n_iter_ == model.n_iter_


def test_order_of_views_does_not_matter_and_one_view_is_enough():
    X, mask, y = blobs(60, dims=(5, 8))
    labels = IMG(3, random_state=0).fit_predict(as_views(X, mask))
    turned = IMG(3, random_state=0).fit(as_views(X[::-1], mask[:, ::-1]))
    assert adjusted_rand_index(labels, turned.labels_) == 1
    assert adjusted_rand_index(y, IMG(3, random_state=0).fit_predict([X[0]])) == 1


def test_views_without_common_samples_are_legal():
    X, mask, y = blobs(60, dims=(5, 8))
    mask[:30], mask[30:] = (True, False), (False, True)
    with pytest.warns(DataWarning, match="shares no sample"):
        model = IMG(3, random_state=0).fit([np.where(mask[:, [v]], x, np.nan) for v, x in enumerate(X)])
    assert np.isfinite(model.embedding_).all()


def test_refusals():
    X, mask, _ = blobs(60)
    with pytest.raises(InputError, match=r"IMG takes at most 2 views.*there are 3: use NEMO, APMC or EEIMVC"):
        IMG(3).fit(as_views(X, mask))
    with pytest.raises(InputError, match=r"60 samples need 0\.0 GiB \(it takes at most 50\)"):
        IMG(3, max_samples=50).fit(as_views(X[:2], np.ones((60, 2), bool)))
    assert IMG.requires.bytes(6000, 2) > 8 * 6000**2
