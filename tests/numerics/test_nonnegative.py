"""Nonnegative least squares: the conditions of optimality, SciPy's solver, and steps that never go up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import nnls

from conspectus.numerics.nonnegative import multiply, nonnegative_rows, nonnegative_with_sum

ENTRIES = st.floats(-3, 3).map(lambda x: round(x, 2))


def check_optimal(G, B, Z):
    """z >= 0, gradient >= 0, and their product 0."""
    gradient = Z @ G - B
    size = np.abs(Z) @ np.abs(G) + np.abs(B) + 1e-300
    assert Z.min(initial=0) >= 0
    assert (gradient / size).min(initial=0) >= -1e-9
    assert np.abs(np.where(Z > 0, gradient / size, 0)).max(initial=0) <= 1e-9


@given(arrays(np.float64, (7, 4), elements=ENTRIES), arrays(np.float64, (5, 7), elements=ENTRIES))
def test_rows_are_optimal(A, X):
    G, B = A.T @ A, X @ A
    check_optimal(G, B, nonnegative_rows(G, B))


@pytest.mark.parametrize(("k", "n"), [(1, 3), (6, 40), (25, 600)])
def test_rows_are_those_of_scipy(k, n):
    rng = np.random.default_rng(k)
    A, X = rng.random((k + 5, k)), rng.normal(size=(n, k + 5))
    Z = nonnegative_rows(A.T @ A, X @ A)
    np.testing.assert_allclose(Z, [nnls(A, x)[0] for x in X], atol=1e-9)
    np.testing.assert_allclose(nonnegative_rows(A.T @ A, X @ A, start=rng.random((n, k)) - 0.5), Z, atol=1e-9)


def test_dead_and_equal_columns():
    rng = np.random.default_rng(0)
    A = rng.random((9, 4))
    A[:, 1], A[:, 3] = 0, A[:, 2]
    G, B = A.T @ A, rng.normal(size=(30, 9)) @ A
    Z = nonnegative_rows(G, B)
    check_optimal(G, B, Z)
    assert not Z[:, 1].any()
    assert not nonnegative_rows(np.zeros((4, 4)), np.zeros((3, 4))).any()
    assert nonnegative_rows(G, np.zeros((0, 4))).shape == (0, 4)


def test_scale_does_not_matter():
    rng = np.random.default_rng(1)
    A, X = rng.random((9, 4)), rng.normal(size=(20, 9))
    Z = nonnegative_rows(A.T @ A, X @ A)
    for c in (1e-120, 1e120):
        np.testing.assert_allclose(nonnegative_rows(A.T @ A * c, X @ A * c), Z, rtol=1e-10)


@given(arrays(np.float64, st.integers(1, 8), elements=ENTRIES), st.floats(0.01, 5), st.floats(0, 50))
def test_columns_with_a_sum_are_optimal(c, H, h):
    u = nonnegative_with_sum(c, H, h)
    check_optimal(H * np.eye(len(c)) + h, c[None, :], u[None, :])


@given(arrays(np.float64, (6, 3), elements=st.floats(0, 4)), arrays(np.float64, (9, 3), elements=st.floats(0, 4)))
def test_multiplicative_steps_never_raise_the_residual(U, V):
    X = np.random.default_rng(0).random((9, 6))
    stepped = multiply(V, X @ U, V @ U.T @ U)
    assert np.isfinite(stepped).all()
    assert stepped.min() >= 0
    assert np.linalg.norm(X - stepped @ U.T) <= np.linalg.norm(X - V @ U.T) * (1 + 1e-12)
    assert (stepped[V == 0] == 0).all()
