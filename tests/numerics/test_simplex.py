"""The projection on the simplex: its variational inequality, and enumeration of all supports."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from conspectus.errors import InputError
from conspectus.numerics import namespace, project_simplex, simplex_qp, to_numpy

ROWS = arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 7)), elements=st.floats(-3, 3))
LATTICE = ROWS.map(lambda F: np.round(F, 3))  # distances to two faces that differ do so by far more than rounding


def by_enumeration(f):
    """The nearest of the projections on the faces."""
    best = None
    for size in range(1, len(f) + 1):
        for support in map(list, combinations(range(len(f)), size)):
            z = np.zeros(len(f))
            z[support] = f[support] + (1 - f[support].sum()) / size
            if z.min() >= 0 and (best is None or np.sum((z - f) ** 2) < np.sum((best - f) ** 2)):
                best = z
    return best


@pytest.mark.deep
@given(ROWS, st.floats(-8, 8))
def test_optimality(F, magnitude):
    """<f - z, e_j - z> <= 0 for all corners e_j: z is the nearest point of the simplex."""
    F = F * 10.0**magnitude
    Z = project_simplex(F)
    np.testing.assert_allclose(Z.sum(axis=1), 1, atol=1e-13)
    assert Z.min() >= 0
    R = F - Z
    assert (R - np.sum(R * Z, axis=1, keepdims=True)).max() <= 1e-14 * max(1, np.abs(F).max()) * F.shape[1]


@pytest.mark.deep
@given(LATTICE)
def test_equals_enumeration_of_the_supports(F):
    np.testing.assert_allclose(project_simplex(F), [by_enumeration(f) for f in F], atol=1e-13)


@pytest.mark.deep
@given(ROWS)
def test_keeps_the_order_and_what_is_projected_already(F):
    Z = project_simplex(F)
    assert (np.diff(np.take_along_axis(Z, np.argsort(F, axis=1), axis=1), axis=1) >= 0).all()
    np.testing.assert_allclose(project_simplex(Z), Z, atol=1e-14)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_has_no_projection_raises(bad):
    F = np.zeros((3, 4))
    F[1, 2] = bad
    with pytest.raises(InputError, match="NaN or inf"):
        project_simplex(F)
    with pytest.raises(InputError, match="NaN or inf"):
        project_simplex(np.full((1, 3), -np.inf))


def test_minus_infinity_forbids_an_entry():
    F = np.array([[0.2, -np.inf, 0.4]])
    np.testing.assert_allclose(project_simplex(F), [[0.4, 0, 0.6]])


def test_any_array_library_gives_the_same(library):
    F = np.random.default_rng(0).standard_normal((20, 6))
    Z = project_simplex(library.asarray(F))
    assert namespace(Z) is namespace(library.asarray(F))
    np.testing.assert_allclose(to_numpy(Z), project_simplex(F), atol=1e-15)


def test_compiled_code_gives_the_same(monkeypatch):
    pytest.importorskip("numba")
    F = np.random.default_rng(0).standard_normal((200, 9)) * np.logspace(-8, 8, 200)[:, None]
    F[3, 2] = -np.inf
    monkeypatch.setenv("CONSPECTUS_NUMBA", "0")
    plain, single = project_simplex(F), project_simplex(F.astype(np.float32))
    monkeypatch.setenv("CONSPECTUS_NUMBA", "1")
    np.testing.assert_allclose(project_simplex(F), plain, rtol=0, atol=1e-12)
    compiled = project_simplex(F.astype(np.float32))
    assert compiled.dtype == single.dtype == np.float32
    np.testing.assert_allclose(compiled, single, atol=1e-6)


def test_no_rows():
    assert project_simplex(np.empty((0, 3))).shape == (0, 3)


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 12), rank=st.integers(1, 12))
def test_quadratic_programs_meet_their_optimality_conditions(seed, k, rank):
    rng = np.random.default_rng(seed)
    B, f = rng.standard_normal((rank, k)), 3 * rng.standard_normal(k)
    g = simplex_qp(B.T @ B, f)
    assert g.min() >= 0
    assert g.sum() == pytest.approx(1)
    # At the minimum the gradient is the same on the support, and no smaller elsewhere.
    gradient = B.T @ (B @ g) + f
    assert gradient.min() >= gradient @ g - 1e-7 * (1 + np.abs(gradient).max())


def test_quadratic_programs_with_known_solutions():
    np.testing.assert_allclose(simplex_qp(np.eye(4), np.zeros(4)), 1 / 4)
    np.testing.assert_allclose(simplex_qp(np.zeros((3, 3)), np.array([2.0, 1, 3])), [0, 1, 0])
    a = np.array([1.0, 2, 4])
    np.testing.assert_allclose(simplex_qp(2 * np.diag(a), np.zeros(3)), (1 / a) / (1 / a).sum())
    F = np.random.default_rng(0).standard_normal((1, 7))
    np.testing.assert_allclose(simplex_qp(np.eye(7), -F[0]), project_simplex(F)[0], atol=1e-12)
