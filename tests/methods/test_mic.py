"""MIC: the objective of the formula that never rises, weights, limits that are other methods."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from conspectus import MIC, InputError, as_views
from conspectus.loop import run, strict
from conspectus.methods.factors import mic, multi_nmf
from conspectus.methods.factors.one_view import Pull, normalised, objective
from conspectus.methods.factors.scale import scales
from conspectus.metrics import adjusted_rand_index

from .factor_problems import parts


def problem_of(X, mask, alpha=0.1, beta=1e-4, missing_weight=None):
    views = as_views(X, mask)
    made = multi_nmf.filled_parts(views, scales(views))
    return made, [mic.Weighted.of(part, alpha, beta, missing_weight) for part in made]


def begun(weighted, k=3, seed=0):
    rng = np.random.default_rng(seed)
    found = [normalised(rng.random((w.X.shape[1], k)) + 0.1, rng.random((w.X.shape[0], k)) / 99) for w in weighted]
    V, U = zip(*found)
    return mic.State(U, V, mic.consensus(weighted, U))


@pytest.mark.parametrize(("alpha", "beta"), [(0.01, 1e-7), (0.1, 1e-4), (1.0, 1.0)])
def test_objective_never_rises_and_is_that_of_the_formula(alpha, beta):
    X, mask, _ = parts(60)
    made, weighted = problem_of(X, mask, alpha, beta)
    with strict():
        state, trace = run(mic.steps(weighted, lambda: begun(weighted), 1), max_iter=100, tol=None, direction="down")
    value, c = 0.0, scales(as_views(X, mask))
    for v in range(3):
        seen, U, V = mask[:, v], state.U[v], state.V[v]
        w = np.where(seen, 1, seen.mean())[:, None]
        formed = np.where(seen[:, None], X[v], X[v][seen].mean(axis=0)) * c[v]
        value += ((w * (formed - U @ V.T)) ** 2).sum() + alpha * ((w * (U - state.Us)) ** 2).sum()
        value += beta * np.linalg.norm(U, axis=1).sum()
        np.testing.assert_allclose(V.sum(axis=0), 1)
        assert min(U.min(), V.min()) >= 0
    assert trace.objective[-1] == pytest.approx(value, rel=1e-9)


def test_the_official_steps_may_rise():
    """Why they are not the default."""
    X, mask, _ = parts(60)
    _, weighted = problem_of(X, mask, 0.01, 0.01)
    costs = [f for f, _ in islice(mic.steps(weighted, lambda: begun(weighted), 1, corrected=False), 150)]
    assert max(np.diff(costs)) > 1e-8


def test_on_complete_data_without_rows_it_is_the_objective_of_multi_nmf():
    X, _, _ = parts(40)
    made, weighted = problem_of(X, np.ones((40, 3), dtype=bool), 0.1, 0.0)
    value, state = next(mic.steps(weighted, lambda: begun(weighted), 3))
    pull = Pull(state.Us, np.full((40, 1), 0.1))
    assert value == pytest.approx(sum(objective(p, V, U, pull) for p, U, V in zip(made, state.U, state.V)), rel=1e-9)


def test_rows_without_weight_do_not_count():
    X, mask, _ = parts(40)
    made, weighted = problem_of(X, mask, missing_weight=0.0)
    other = [mic.Weighted(type(w.X)(w.X.X, w.X.seen), w.w2, w.alpha, w.beta) for w in weighted]
    for w in other:
        w.X.__dict__["mean"] = w.X.mean * 7
    start = begun(weighted)
    one, two = (list(islice(mic.steps(w, lambda: start, 3), 3))[-1] for w in (weighted, other))
    assert one[0] == pytest.approx(two[0], rel=1e-12)
    for v in range(3):
        np.testing.assert_allclose(one[1].V[v], two[1].V[v], rtol=1e-10)


@pytest.mark.filterwarnings("ignore::conspectus.errors.DataWarning")
def test_zero_rows_stay_finite():
    X, mask, _ = parts(40)
    X[0][3], mask[3] = 0, [True, False, False]
    for variant in ("corrected", "official"):
        model = MIC(3, beta=0.1, variant=variant, random_state=0, max_iter=5).fit(as_views(X, mask))
        assert np.isfinite(model.consensus_).all()


@pytest.mark.parametrize("variant", ["corrected", "official"])
def test_classes_are_found_and_gone_on_with(variant):
    X, mask, y = parts(120, share=0.1)
    views = as_views(X, mask)
    options = {"random_state": 0, "tol": None, "variant": variant}
    model = MIC(3, max_iter=6, **options).fit(views)
    assert adjusted_rand_index(y, model.labels_) > 0.8
    assert np.mean(model.predict(views) == model.labels_) > 0.9
    first = MIC(3, max_iter=2, **options).fit(views)
    rest = MIC(3, max_iter=6, **options).fit(views, start=first.state_)
    assert rest.trace_.objective == model.trace_.objective
    np.testing.assert_array_equal(rest.embedding_, model.embedding_)


def test_alpha_must_be_positive():
    with pytest.raises(InputError, match="alpha must be positive"):
        MIC(3, alpha=0.1 * np.arange(3)).fit(as_views(*parts(40)[:2]))
