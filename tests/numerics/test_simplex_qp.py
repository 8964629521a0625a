"""Quadratic programs on the simplex: optimality by the gap, enumeration, SLSQP, compiled equals NumPy, edges."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array

from conspectus.numerics import simplex_qp_rows


def problem(n, l, d, seed):
    """Rows to be written as combinations of anchors."""
    rng = np.random.default_rng(seed)
    A, X = rng.normal(size=(l, d)), rng.normal(size=(n, d))
    return A @ A.T, X @ A.T


def value(H, b, z):
    return z @ H @ z / 2 - b @ z


@pytest.fixture(params=["0", "1"], autouse=True)
def compiled(request, monkeypatch):
    if request.param == "1":
        pytest.importorskip("numba")
    monkeypatch.setenv("CONSPECTUS_NUMBA", request.param)


@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(1, 8))
def test_feasible_and_optimal(seed, l, d):
    H, B = problem(7, l, d, seed)
    Z, gap = simplex_qp_rows(H, B)
    Z = Z.toarray()
    assert Z.min() >= 0
    np.testing.assert_allclose(Z.sum(axis=1), 1, atol=1e-9)
    G = Z @ H - B
    np.testing.assert_allclose(gap, (Z * G).sum(axis=1) - G.min(axis=1), atol=1e-12 * max(1, np.abs(H).max()))
    assert gap.max() <= 2e-9 * np.diag(H).max()
    vertices = np.diag(H) / 2 - B
    assert (np.array([value(H, b, z) for b, z in zip(B, Z)]) <= vertices.min(axis=1) + 1e-12).all()


def by_enumeration(H, b):
    """The least of all stationary points on all supports that are feasible."""
    l, best = len(b), (np.inf, None)
    for m in range(1, l + 1):
        for S in map(list, combinations(range(l), m)):
            K = np.block([[H[np.ix_(S, S)], np.ones((m, 1))], [np.ones((1, m)), np.zeros((1, 1))]])
            x = np.linalg.lstsq(K, np.append(b[S], 1), rcond=None)[0][:m]
            if x.min() >= -1e-12:
                z = np.zeros(l)
                z[S] = x
                best = min(best, (value(H, b, z), S), key=lambda pair: pair[0])
    return best[0]


def test_equal_to_enumeration_and_to_slsqp():
    for seed in range(10):
        H, B = problem(3, 5, 3, seed)
        Z = simplex_qp_rows(H, B)[0].toarray()
        for b, z in zip(B, Z):
            assert value(H, b, z) == pytest.approx(by_enumeration(H, b), abs=1e-9)
    H, B = problem(2, 30, 12, 0)
    sum_to_one = {"type": "eq", "fun": lambda z: z.sum() - 1}
    for b, z in zip(B, simplex_qp_rows(H, B)[0].toarray()):
        options = {"ftol": 1e-15, "maxiter": 500}
        found = minimize(
            lambda z, b=b: value(H, b, z),
            np.full(30, 1 / 30),
            jac=lambda z, b=b: H @ z - b,
            bounds=[(0, 1)] * 30,
            constraints=[sum_to_one],
            method="SLSQP",
            options=options,
        )
        assert value(H, b, z) == pytest.approx(found.fun, abs=1e-9)


def test_a_forbidden_coordinate_stays_zero():
    H, _ = problem(8, 8, 5, 1)
    Z = simplex_qp_rows(H, H, forbidden=np.arange(8))[0].toarray()
    np.testing.assert_array_equal(np.diag(Z), 0)
    free = simplex_qp_rows(H, H)[0].toarray()
    np.testing.assert_allclose(free, np.eye(8), atol=1e-8)  # each row is its own best code
    for i in range(8):
        others = np.delete(np.arange(8), i)
        best = simplex_qp_rows(H[np.ix_(others, others)], H[i : i + 1, others])[0].toarray()[0]
        np.testing.assert_allclose(Z[i, others], best, atol=1e-7)


def test_any_start_gives_the_same():
    H, B = problem(20, 15, 20, 2)
    Z = simplex_qp_rows(H, B)[0].toarray()
    start = np.random.default_rng(0).dirichlet(np.ones(15) * 0.3, size=20)
    np.testing.assert_allclose(simplex_qp_rows(H, B, start=csr_array(start))[0].toarray(), Z, atol=1e-6)
    again, gap = simplex_qp_rows(H, B, start=csr_array(Z))
    np.testing.assert_allclose(again.toarray(), Z, atol=1e-8)


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_scale_and_ties(scale):
    A = np.array([[0.0, 0], [1, 0], [0, 1], [1, 0], [1, 1]])  # one anchor twice
    X = np.array([[0.3, 0.2], [2.0, 2.0], [1.0, 0.0]])
    Z, gap = simplex_qp_rows(A @ A.T * scale, X @ A.T * scale)
    np.testing.assert_allclose(Z @ A, [[0.3, 0.2], [1, 1], [1, 0]], atol=1e-6)
    assert gap.max() <= 1e-9 * scale * 2


def test_one_coordinate_and_no_rows():
    Z, gap = simplex_qp_rows(np.ones((1, 1)), np.zeros((3, 1)))
    np.testing.assert_array_equal(Z.toarray(), np.ones((3, 1)))
    assert simplex_qp_rows(np.eye(3), np.zeros((0, 3)))[0].shape == (0, 3)
    assert not simplex_qp_rows(np.zeros((3, 3)), np.zeros((2, 3)))[1].any()


def test_compiled_equals_numpy(monkeypatch):
    pytest.importorskip("numba")
    H, B = problem(300, 60, 25, 3)
    found = []
    for switch in ("0", "1"):
        monkeypatch.setenv("CONSPECTUS_NUMBA", switch)
        found.append(simplex_qp_rows(H, B, forbidden=np.arange(300) % 60))
    np.testing.assert_allclose(found[0][0].toarray(), found[1][0].toarray(), atol=1e-9)
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-9)
