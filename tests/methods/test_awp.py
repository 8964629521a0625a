"""AWP: the released code's numbers, a dense transcription, and what must hold of labels and turns."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from conspectus import AWP, Filled, as_views
from conspectus.loop import run, strict
from conspectus.methods.graphs.awp import identity_start, pivot_start, spectral_embedding, steps
from conspectus.metrics import adjusted_rand_index
from conspectus.numerics.rows import unit_rows

from .golden import golden
from .test_apmc import blobs


def embeddings(views, k=3):
    return [spectral_embedding(unit_rows(views.data(v)), k, 15) for v in range(views.n_views)]


def test_equal_to_the_released_code():
    stored = golden("anchors")
    F = [stored[f"awp_F{v}"] for v in range(3)]
    complete = as_views([np.ones((60, 1))] * 3)
    found = list(islice(steps(complete, F, identity_start(F)), 20))
    labels = stored["oct_awp_labels"]
    np.testing.assert_array_equal(found[-1][1].y, labels - labels.min())
    np.testing.assert_allclose(found[-1][1].p, stored["oct_awp_p"], rtol=1e-12)
    np.testing.assert_allclose([np.linalg.norm(s.p) for _, s in found], stored["oct_awp_obj"], rtol=1e-12)
    assert found[-1][0] == pytest.approx(stored["oct_awp_p"].sum())


def test_naive_transcription_with_views_missing():
    X, mask, _ = blobs(30, seed=1)
    views = as_views(X, mask)
    F, k, n = embeddings(views), 3, 30
    start = pivot_start(views, F)  # from the identity clusters are empty, and LAPACK decides
    R, p = list(start.R), np.ones(3)
    for objective, state in islice(steps(views, F, start), 5):
        total = np.zeros((n, k))
        for v in range(3):
            for row, i in enumerate(np.flatnonzero(mask[:, v])):
                total[i] += np.sqrt(mask[:, v].sum() / n) / p[v] * (F[v][row] @ R[v])
        y = total.argmax(axis=1)
        Y = np.eye(k)[y]
        for v in range(3):
            U, _, W = np.linalg.svd(F[v].T @ Y[mask[:, v]])
            R[v] = U @ W
            p[v] = np.linalg.norm(Y[mask[:, v]] - F[v] @ R[v])
        np.testing.assert_array_equal(state.y, y)
        np.testing.assert_allclose(state.p, p)
        assert objective == pytest.approx(sum(np.sqrt(mask[:, v].sum() / n) * p[v] for v in range(3)))


@pytest.mark.parametrize("seed", range(5))
def test_objective_falls_and_turns_are_orthogonal(seed):
    X, mask, _ = blobs(80, seed=seed)
    views = as_views(X, mask)
    F = embeddings(views, 4)
    for start in (identity_start(F), pivot_start(views, F)):
        with strict():
            state, trace = run(steps(views, F, start), max_iter=30, tol=1e-9, direction="down")
        assert trace.reason == "converged"
        for turn in state.R:
            np.testing.assert_allclose(turn.T @ turn, np.eye(4), atol=1e-10)


def test_turning_an_embedding_changes_no_label():
    X, mask, _ = blobs(60, seed=2)
    views = as_views(X, mask)
    F = embeddings(views)
    rng = np.random.default_rng(0)
    Q = [np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in F]
    start = pivot_start(views, F)
    turned = start._replace(R=tuple(q.T @ turn for q, turn in zip(Q, start.R)))
    one, other = (
        list(islice(steps(views, f, s), 5))[-1] for f, s in ((F, start), ([f @ q for f, q in zip(F, Q)], turned))
    )
    assert one[0] == pytest.approx(other[0])
    np.testing.assert_array_equal(one[1].y, other[1].y)
    again = pivot_start(views, [f @ q for f, q in zip(F, Q)])
    labels = [
        list(islice(steps(views, f, s), 5))[-1][1].y for f, s in ((F, start), ([f @ q for f, q in zip(F, Q)], again))
    ]
    assert adjusted_rand_index(*labels) == 1  # the start is found again, whatever LAPACK returns


def test_blobs_are_found_and_orders_do_not_matter():
    X, mask, y = blobs(120)
    model = AWP(3).fit(as_views(X, mask))
    assert adjusted_rand_index(y, model.labels_) == 1
    assert adjusted_rand_index(y, model.predict(X)) == 1
    assert model.view_weights_.sum() == pytest.approx(1)
    order = np.random.default_rng(0).permutation(120)
    assert adjusted_rand_index(y[order], AWP(3).fit_predict(as_views([x[order] for x in X], mask[order]))) == 1
    assert adjusted_rand_index(y, AWP(3).fit_predict(as_views(X[::-1], mask[:, ::-1]))) == 1
    assert len(set(Filled(AWP(3, init="identity"), fill="mean").fit_predict(as_views(X, mask)))) <= 3


def test_fewer_rows_than_clusters_in_a_view():
    X, mask, _ = blobs(40)
    mask[:, 1] = False
    mask[:, 0] |= ~mask[:, 2]
    mask[[3, 5], 1] = True
    model = AWP(5).fit(as_views(X, mask))
    assert np.isfinite(model.embedding_).all()


def test_going_on_is_bit_equal():
    X, mask, _ = blobs(90, k=5, seed=4)
    views = as_views([x + np.random.default_rng(0).normal(size=x.shape) * 6 for x in X], mask)
    whole = AWP(5, init="identity").fit(views)
    first = AWP(5, init="identity", max_iter=2, tol=None).fit(views)
    rest = AWP(5, init="identity").fit(views, start=first.state_)
    assert rest.trace_.objective == whole.trace_.objective
    assert rest.n_iter_ > 2
    np.testing.assert_array_equal(rest.labels_, whole.labels_)
