"""ABS2-IMC: the gap as certificate, a naive transcription, the gradient of Adam's loss, and what must hold of codes."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import check_grad, minimize

from conspectus import ABS2IMC, InputError, as_views
from conspectus.loop import run, strict
from conspectus.methods.anchors import abs2_adam
from conspectus.methods.anchors.self_codes import Dictionary, SelfCodes, code_view, sweeps
from conspectus.metrics import adjusted_rand_index
from conspectus.numerics.rows import unit_rows

from .test_apmc import blobs, same_up_to_rotation


def dictionary(seed=0, n=12, dims=(5, 8, 6), lam=0.1, rho=0.0):
    rng = np.random.default_rng(seed)
    return Dictionary(tuple(rng.normal(size=(n, d)) for d in dims), lam, rho, 1e-12)


def naive_loss(d, Z, i):
    """f of the complete sample i, as the formula stands."""
    mean, f = np.mean(Z, axis=0), 0.0
    for A, z in zip(d.A, Z):
        w, C = 1 / A.shape[1], A - A.mean(axis=0)
        f += w * ((z @ A - A[i]) ** 2).sum() + d.lam * w * ((mean @ A - A[i]) ** 2).sum()
        f += d.rho * 2 * w * (C**2).sum() / len(A) / 2 * (z**2).sum()
    return f


@pytest.mark.parametrize("rho", [0.0, 0.3])
def test_codes_of_complete_samples_equal_a_general_solver(rho):
    d = dictionary(rho=rho)
    n, V = 12, 3
    loss, state = list(islice(sweeps(d, d.A, np.arange(n)), 60))[-1]
    assert loss == pytest.approx(sum(naive_loss(d, [Z[[i]].toarray()[0] for Z in state.Z], i) for i in range(n)))
    assert state.gap.max() < 1e-9
    for i in (0, 5):
        others = np.delete(np.arange(n), i)

        def f(x, i=i, others=others):
            Z = np.zeros((V, n))
            Z[:, others] = x.reshape(V, -1)
            return naive_loss(d, Z, i)

        constraints = [
            {"type": "eq", "fun": lambda x, v=v: x[v * (n - 1) : (v + 1) * (n - 1)].sum() - 1} for v in range(V)
        ]
        start = np.full(V * (n - 1), 1 / (n - 1))
        options = {"ftol": 1e-14, "maxiter": 1000}
        found = minimize(f, start, bounds=[(0, 1)] * len(start), constraints=constraints, options=options)
        ours = f(np.concatenate([Z[[i]].toarray()[0, others] for Z in state.Z]))
        assert ours <= found.fun + 1e-10
        assert ours == pytest.approx(found.fun, abs=1e-6)


def test_gap_bounds_what_is_left_to_gain_and_objective_falls():
    d = dictionary(seed=1, n=40)
    with strict():
        state, trace = run(sweeps(d, d.A, np.arange(40)), max_iter=8, tol=None, direction="down")
    best = trace.objective[-1]
    for loss, state in islice(sweeps(d, d.A, np.arange(40)), 8):
        assert -1e-12 <= loss - best <= state.gap.sum() + 1e-12
    assert state.gap.sum() < 1e-6 * best
    for Z in state.Z:
        np.testing.assert_allclose(Z.sum(axis=1), 1, atol=1e-10)
        assert Z.min() >= 0
        np.testing.assert_array_equal(Z.diagonal(), 0)


def test_without_agreement_views_are_independent():
    d = dictionary(lam=0.0)
    _, state = next(iter(sweeps(d, d.A, np.arange(12))))
    for v, Z in enumerate(state.Z):
        alone = code_view(d, v, d.A[v], np.arange(12))
        np.testing.assert_allclose(Z.toarray(), alone.Z.toarray(), atol=1e-7)


def test_moving_a_view_changes_nothing():
    d = dictionary(rho=0.3)
    moved = replace(d, A=tuple(A + 100 * np.arange(1, A.shape[1] + 1) for A in d.A))
    for one, other in zip(next(iter(sweeps(d, d.A, None)))[1].Z, next(iter(sweeps(moved, moved.A, None)))[1].Z):
        np.testing.assert_allclose(one.toarray(), other.toarray(), atol=1e-6)


def test_the_ridge_goes_to_the_published_problem_continuously():
    X = np.random.default_rng(3).normal(size=(20, 5))
    exact, nearly = (code_view(dictionary(rho=rho), 0, X) for rho in (0.0, 1e-7))
    np.testing.assert_allclose(exact.loss, nearly.loss, atol=1e-5)
    assert (exact.loss <= nearly.loss + 1e-12).all()
    ridge = code_view(dictionary(rho=0.3), 0, X)
    assert ridge.Z.nnz > exact.Z.nnz


def test_sparse_rows_give_what_dense_rows_give():
    rng = np.random.default_rng(4)
    A, X = rng.poisson(0.5, size=(15, 30)).astype(float), rng.poisson(0.5, size=(9, 30)).astype(float)
    dense, thin = Dictionary((A,), 0.1, 0.3, 1e-12), Dictionary((sparse.csr_array(A),), 0.1, 0.3, 1e-12)
    for one, other in zip(code_view(dense, 0, X), code_view(thin, 0, sparse.csr_array(X))):
        one, other = (x.toarray() if sparse.issparse(x) else x for x in (one, other))
        np.testing.assert_allclose(one, other, atol=1e-8)


def test_gradient_of_the_official_loss():
    rng = np.random.default_rng(0)
    A, U = [rng.normal(size=(6, d)) for d in (3, 4)], [rng.normal(size=(n, d)) for n, d in ((2, 3), (5, 4))]
    shapes = [(6, 6), (6, 6), (2, 6), (5, 6)]
    cuts = np.cumsum([np.prod(shape) for shape in shapes])[:-1]

    def unpack(x):
        return [part.reshape(shape) for part, shape in zip(np.split(x, cuts), shapes)]

    def loss(x):
        return abs2_adam.gradient(unpack(x), A, U, 0.3)[0]

    def slope(x):
        return np.concatenate([g.ravel() for g in abs2_adam.gradient(unpack(x), A, U, 0.3)[1]])

    assert check_grad(loss, slope, rng.normal(size=sum(map(np.prod, shapes)))) < 1e-6
    S = abs2_adam.softmax(rng.normal(size=(6, 6)), True)
    np.testing.assert_allclose(S.sum(axis=1), 1)
    np.testing.assert_array_equal(np.diag(S), 0)


def test_the_exact_optimum_is_below_what_adam_reaches():
    """The official loss divides the terms of complete and of incomplete rows by their numbers; per view both fall."""
    rng = np.random.default_rng(1)
    A = [rng.normal(size=(40, d)) for d in (5, 8)]
    U = [rng.normal(size=(30, d)) for d in (5, 8)]
    adam, _ = list(islice(abs2_adam.epochs(A, U, 0.1), 201))[-1]
    d = Dictionary(tuple(A), 0.1, 0.0, 1e-12)
    exact = list(islice(sweeps(d, A, np.arange(40)), 10))[-1][0] / 40
    exact += sum(code_view(d, v, U[v]).loss.mean() for v in range(2))
    assert exact < adam < 1.2 * exact


def test_adam_is_what_its_formulas_say():
    rng = np.random.default_rng(2)
    A, U = [rng.normal(size=(5, 3))], [rng.normal(size=(4, 3))]
    states = [state for _, state in islice(abs2_adam.epochs(A, U, 0.1), 3)]
    theta, m, s = [np.zeros((5, 5)), np.zeros((4, 5))], [0.0, 0.0], [0.0, 0.0]
    for t in range(1, 4):
        slope = abs2_adam.gradient(theta, A, U, 0.1)[1]
        for i, g in enumerate(slope):
            m[i], s[i] = 0.9 * m[i] + 0.1 * g, 0.999 * s[i] + 0.001 * g**2
            theta[i] = theta[i] - 0.1 * m[i] / (1 - 0.9**t) / (np.sqrt(s[i] / (1 - 0.999**t)) + 1e-8)
    for ours, own in zip(states[-1].theta, theta):
        np.testing.assert_allclose(ours, own, atol=1e-10)


@pytest.mark.parametrize("options", [{}, {"variant": "official"}, {"n_anchors": 15}])
def test_blobs_are_found_and_predicted_from_any_views(options):
    X, mask, y = blobs(150, share=0.5)
    model = ABS2IMC(3, random_state=0, **options).fit(as_views(X, mask))
    assert adjusted_rand_index(y, model.labels_) == 1
    assert adjusted_rand_index(y, model.predict(as_views(X, mask))) == 1
    for v in range(3):
        assert adjusted_rand_index(y, model.predict({v: X[v]})) == 1
    assert model.codes_.shape == (150, model.n_anchors_)
    np.testing.assert_allclose(model.codes_.sum(axis=1), 1, rtol=1e-5)
    if not options:
        gaps = model.trace_.extra["gap"]
        assert len(gaps) == model.n_iter_
        assert gaps == sorted(gaps, reverse=True)
        assert model.gap_ == gaps[-1] <= 1e-6 * model.trace_.objective[-1]
        assert model.trace_.reason == "converged"


def test_the_embedding_is_the_svd_of_the_scaled_codes():
    X, mask, _ = blobs(60, seed=2)
    model = ABS2IMC(3, random_state=0).fit(as_views(X, mask))
    Z = model.codes_.toarray()
    lam = Z.sum(axis=0)
    U = np.linalg.svd(Z[:, lam > 1e-12] / np.sqrt(lam[lam > 1e-12]), full_matrices=False)[0][:, :3]
    same_up_to_rotation(model.embedding_, unit_rows(U))


@pytest.mark.parametrize("options", [{"tol": 1e-12}, {"variant": "official", "max_iter": 30}])
def test_going_on_is_bit_equal(options):
    X, mask, _ = blobs(80)
    views = as_views(X, mask)
    whole = ABS2IMC(3, random_state=0, **options).fit(views)
    first = ABS2IMC(3, random_state=0, **{**options, "max_iter": 2}).fit(views)
    rest = ABS2IMC(3, random_state=0, **options).fit(views, start=first.state_)
    assert rest.trace_ == whole.trace_
    assert rest.n_iter_ > 2
    np.testing.assert_array_equal(rest.labels_, whole.labels_)
    np.testing.assert_array_equal(rest.embedding_, whole.embedding_)


def test_blocks_of_another_size_and_the_order_of_samples_do_not_matter():
    X, mask, _ = blobs(100)
    views = as_views(X, mask)
    for options in ({}, {"n_anchors": 15}):
        one, many = (ABS2IMC(3, random_state=0, **options).fit(v) for v in (views, replace(views, chunk=7)))
        np.testing.assert_allclose(one.codes_.toarray(), many.codes_.toarray(), atol=1e-6)
        assert adjusted_rand_index(one.labels_, many.labels_) == 1
    order = np.random.default_rng(0).permutation(100)
    labels = ABS2IMC(3, random_state=0).fit_predict(views)
    moved = ABS2IMC(3, random_state=0).fit_predict(as_views([x[order] for x in X], mask[order]))
    assert adjusted_rand_index(labels[order], moved) == 1
    turned = ABS2IMC(3, random_state=0).fit_predict(as_views(X[::-1], mask[:, ::-1]))
    assert adjusted_rand_index(labels, turned) == 1


def test_samples_of_all_views_that_are_no_anchors_agree_over_views():
    X, mask, _ = blobs(60, seed=3)
    views = as_views(X, mask)
    anchors = tuple(views.rows(views.complete[:10]).data(v) for v in range(3))
    d = Dictionary(anchors, 2.0, 0.0, 1e-12)
    coupled, alone = SelfCodes(d, coupled=True).solve(views), SelfCodes(d).solve(views)
    some = np.setdiff1d(np.arange(60), views.complete)
    np.testing.assert_allclose(coupled.Z[some].toarray(), alone.Z[some].toarray(), atol=1e-10)
    assert np.abs(coupled.Z[views.complete] - alone.Z[views.complete]).max() > 1e-3
    assert coupled.gap.sum() < 1e-5 * coupled.loss.sum()


def test_content_of_unseen_rows_is_never_read():
    X, mask, _ = blobs(80)
    labels = ABS2IMC(3, random_state=0).fit_predict(as_views(X, mask))
    for junk in (np.nan, np.inf, 1e300):
        other = [np.where(mask[:, [v]], x, junk) for v, x in enumerate(X)]
        np.testing.assert_array_equal(ABS2IMC(3, random_state=0).fit_predict(as_views(other, mask)), labels)


@pytest.mark.filterwarnings("ignore::conspectus.errors.DataWarning")
def test_too_few_complete_samples_are_refused():
    X, mask, _ = blobs(40, dims=(5, 8))
    mask[:, :] = False
    mask[:20, 0], mask[20:, 1] = True, True
    with pytest.raises(InputError, match=r"none: use AnchorConsensus or EEIMVC"):
        ABS2IMC(3).fit(as_views(X, mask))
    mask[:2] = True
    with pytest.raises(InputError, match=r"there are 2 for 3 clusters: use AnchorConsensus or EEIMVC"):
        ABS2IMC(3).fit(as_views(X, mask))
    with pytest.raises(InputError, match="n_anchors='all'"):
        ABS2IMC(2, variant="official", n_anchors=1).fit(as_views(X, mask))


@pytest.mark.filterwarnings("ignore::conspectus.errors.DataWarning")
def test_one_anchor_is_legal():
    nan = np.full((2, 2), np.nan)
    for variant in ("corrected", "official"):
        model = ABS2IMC(1, variant=variant, random_state=0).fit([np.eye(3), np.vstack([[1.0, 0], nan])])
        np.testing.assert_array_equal(model.labels_, 0)
