"""The one loop: stopping, history, callbacks, monotonicity, nested runs, and going on from a checkpoint."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from conspectus.loop import Checkpoint, NotMonotoneError, Trace, best_of, run, strict


def halving(start=None, floor=0.0):
    """x <- x / 2 from 1; the objective is x + floor."""
    x = 1.0 if start is None else start
    while True:
        x /= 2
        yield x + floor, x


def two_levels(start=None, inner=5):
    """An outer iteration whose step is a run of its own."""
    x = 8.0 if start is None else start
    while True:
        x, _ = run(halving(x), max_iter=inner, tol=None)
        yield x, x


def test_it_stops_when_the_objective_settles():
    _, trace = run(halving(floor=1.0), max_iter=100, tol=1e-3)
    f = trace.objective
    assert trace.reason == "converged"
    assert abs(f[-1] - f[-2]) <= 1e-3 * f[-2]
    assert all(abs(b - a) > 1e-3 * a for a, b in pairwise(f[:-1]))


def test_a_window_measures_the_change_over_several_iterations():
    _, one = run(halving(floor=1.0), max_iter=100, tol=1e-3)
    _, ten = run(halving(floor=1.0), max_iter=100, tol=1e-3, window=10)
    f = ten.objective
    assert ten.n_iter > one.n_iter
    assert abs(f[-1] - f[-11]) <= 1e-3 * f[-11]


def test_max_iter_warns_once_and_only_where_there_is_a_tolerance():
    with pytest.warns(ConvergenceWarning, match=r"3 iterations.*max_iter.*start=model.state_"):
        _, trace = run(halving(), max_iter=3, tol=1e-9)
    assert (trace.reason, trace.n_iter) == ("max_iter", 3)
    run(halving(), max_iter=3, tol=None)  # warnings are errors here


def test_only_the_outermost_run_warns_calls_back_and_reports():
    seen = []
    state, trace = run(two_levels(), max_iter=3, tol=None, callback=lambda t, f, s: seen.append((t, f, s)))
    assert [t for t, _, _ in seen] == [1, 2, 3]
    assert [f for _, f, _ in seen] == list(trace.objective)
    assert state == seen[-1][2] == 8 / 2**15


def test_a_callback_that_returns_true_stops():
    _, trace = run(halving(), max_iter=100, tol=None, callback=lambda t, f, s: t == 4)
    assert (trace.reason, trace.n_iter) == ("callback", 4)


def test_a_generator_that_ends_ends_the_run():
    state, trace = run(iter([(2.0, "a"), (1.0, "b")]), max_iter=100, tol=None)
    assert (state, trace.objective, trace.reason) == ("b", (2.0, 1.0), "finished")


@pytest.mark.parametrize(
    ("values", "direction"), [([1.0, 2.0], "down"), ([2.0, 1.0], "up"), ([1.0, float("nan")], "up")]
)
def test_strict_refuses_an_objective_that_goes_the_wrong_way(values, direction):
    steps = [(f, None) for f in values]
    run(iter(steps), max_iter=9, tol=None, direction=direction)
    with strict(), pytest.raises(NotMonotoneError):
        run(iter(steps), max_iter=9, tol=None, direction=direction)
    with strict():
        run(iter(steps), max_iter=9, tol=None)


@pytest.mark.deep
@given(st.integers(1, 12), st.integers(1, 12), st.sampled_from([halving, two_levels]))
def test_going_on_gives_the_same_iterates(stop_at, total, steps):
    whole_state, whole = run(steps(), max_iter=total, tol=None)
    state, trace = run(steps(), max_iter=min(stop_at, total), tol=None)
    rest_state, rest = run(steps(state), max_iter=total, tol=None, start=Checkpoint(state, trace))
    assert rest == whole
    assert rest_state == whole_state


def test_going_on_stops_where_an_unbroken_run_stops():
    _, whole = run(halving(floor=1.0), max_iter=100, tol=1e-3)
    for stop_at in range(1, whole.n_iter + 1):
        state, trace = run(halving(floor=1.0), max_iter=stop_at, tol=None)
        _, rest = run(halving(state, floor=1.0), max_iter=100, tol=1e-3, start=Checkpoint(state, trace))
        assert rest == whole


@pytest.mark.parametrize("steps", [halving, two_levels])
def test_an_interrupt_carries_the_checkpoint_of_the_outermost_run(steps):
    def interrupt(t, objective, state):
        if t == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        run(steps(), max_iter=10, tol=None, callback=interrupt)
    checkpoint = caught.value.checkpoint
    assert checkpoint.trace.n_iter == 3
    assert checkpoint.trace.reason == "interrupted"
    _, whole = run(steps(), max_iter=10, tol=None)
    _, rest = run(steps(checkpoint.state), max_iter=10, tol=None, start=checkpoint)
    assert rest == whole


def test_an_interrupt_in_an_inner_run_keeps_the_outer_state():
    def outer():
        yield 2.0, "first"
        run(interrupted(), max_iter=5, tol=None)

    def interrupted():
        yield 1.0, "inner"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        run(outer(), max_iter=5, tol=None)
    assert caught.value.checkpoint.state == "first"


def test_the_best_of_restarts_and_going_on_after_some():
    results = {1: (5.0, "a"), 2: (3.0, "b"), 3: (4.0, "c"), 4: (3.0, "d")}
    asked = []

    def fit_one(seed):
        asked.append(seed)
        return results[seed]

    best, trace = run(best_of(fit_one, [1, 2, 3, 4]), max_iter=4, tol=None)
    assert best == (3.0, "b")  # the first of equals
    assert trace.objective == (5.0, 3.0, 3.0, 3.0)
    first, so_far = run(best_of(fit_one, [1, 2, 3, 4]), max_iter=2, tol=None)
    asked.clear()
    checkpoint = Checkpoint(first, so_far)
    again, whole = run(best_of(fit_one, [1, 2, 3, 4], checkpoint), max_iter=4, tol=None, start=checkpoint)
    assert asked == [3, 4]
    assert (again, whole.objective) == (best, trace.objective)


def test_progress_is_shown_only_when_asked(capsys):
    run(halving(), max_iter=3, tol=None)
    assert capsys.readouterr() == ("", "")
    run(halving(), max_iter=3, tol=None, verbose=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "3/3" in err
    assert "0.125" in err


def test_a_trace_counts_its_iterations():
    assert Trace((3.0, 2.0)).n_iter == 2
