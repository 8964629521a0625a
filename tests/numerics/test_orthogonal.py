"""The polar factor: an orthonormal frame and a symmetric nonnegative rest, which is what makes it optimal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conspectus.numerics import namespace, polar, to_numpy

SEEDS = st.integers(0, 2**32 - 1)


def frame(rng, n, k):
    return np.linalg.qr(rng.standard_normal((n, k)))[0]


@pytest.mark.deep
@given(SEEDS, st.integers(1, 12), st.integers(1, 6), st.floats(-14, 0), st.integers(-300, 300))
def test_optimality(seed, n, k, conditioning, magnitude):
    """P is a frame, and P'M is symmetric and nonnegative: necessary and sufficient for the largest tr(P'M)."""
    rng = np.random.default_rng(seed)
    r = min(n, k)
    s = np.logspace(0, conditioning, r)
    M = (frame(rng, n, r) * s) @ frame(rng, k, r).T
    P = polar(M * 10.0**magnitude)
    H, eye = (P.T @ M, P.T @ P) if n >= k else (M @ P.T, P @ P.T)
    np.testing.assert_allclose(eye, np.eye(r), atol=1e-12)
    np.testing.assert_allclose(H, H.T, atol=1e-10)
    assert np.linalg.eigvalsh((H + H.T) / 2).min() >= -1e-10
    assert np.trace(H) == pytest.approx(s.sum(), rel=1e-12)


@pytest.mark.deep
@given(SEEDS)
def test_no_other_frame_agrees_better(seed):
    rng = np.random.default_rng(seed)
    M, Q = rng.standard_normal((7, 3)), frame(rng, 7, 3)
    assert np.sum(polar(M) * M) >= np.sum(Q * M) - 1e-12


@given(SEEDS)
def test_equals_the_singular_value_decomposition(seed):
    M = np.random.default_rng(seed).standard_normal((9, 4))
    U, _, Vt = np.linalg.svd(M, full_matrices=False)
    np.testing.assert_allclose(polar(M), U @ Vt, atol=1e-11)
    np.testing.assert_allclose(polar(M.T), (U @ Vt).T, atol=1e-11)


@pytest.mark.deep
@given(SEEDS, st.integers(0, 3))
def test_a_rank_deficient_matrix_follows_the_previous_value(seed, rank):
    """Optimal to rounding, and equivariant under rotations of the samples, which LAPACK's completion is not."""
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((8, rank)) @ rng.standard_normal((rank, 4))
    previous, rotation = frame(rng, 8, 4), frame(rng, 8, 8)
    P = polar(M, previous)
    assert np.sum(P * M) == pytest.approx(np.linalg.svd(M, compute_uv=False).sum(), rel=1e-12, abs=1e-14)
    np.testing.assert_allclose(P.T @ P, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(polar(rotation @ M, rotation @ previous), rotation @ P, atol=1e-5)


def test_the_previous_value_does_not_touch_a_matrix_of_full_rank():
    rng = np.random.default_rng(0)
    M = rng.standard_normal((8, 3))
    np.testing.assert_array_equal(polar(M, frame(rng, 8, 3)), polar(M))


def test_a_matrix_of_zeros():
    previous = frame(np.random.default_rng(0), 5, 2)
    np.testing.assert_allclose(polar(np.zeros((5, 2)), previous), previous, atol=1e-12)
    np.testing.assert_array_equal(polar(np.zeros((5, 2))), np.eye(5, 2))
    assert polar(np.zeros((5, 0))).shape == (5, 0)


def test_any_array_library_gives_the_same(library):
    rng = np.random.default_rng(0)
    for M in (rng.standard_normal((9, 3)), rng.standard_normal((2, 5)), np.outer(np.arange(1.0, 6), [1.0, 2])):
        previous = frame(rng, 9, 9)[: M.shape[0], : M.shape[1]]
        P = polar(library.asarray(M), library.asarray(previous))
        assert namespace(P) is namespace(library.asarray(M))
        np.testing.assert_allclose(to_numpy(P), polar(M, previous), atol=1e-6)


def test_single_precision_is_kept_and_computed_precisely():
    M = np.random.default_rng(0).standard_normal((50, 4)).astype(np.float32)
    assert polar(M).dtype == np.float32
    np.testing.assert_allclose(polar(M), polar(M.astype(float)), atol=1e-7)
