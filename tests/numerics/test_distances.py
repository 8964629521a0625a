"""Distances: the definition, entry by entry; the two nearest, against a complete sort."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from conspectus.numerics import (
    chi2_distances,
    mean_squared_distance,
    namespace,
    nearest,
    squared_distances,
    to_numpy,
)

SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.integers(1, 9)


def definition(X, Y):
    return ((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=2)


@given(SEEDS, SIZES, SIZES, SIZES)
def test_squared_distances_are_their_definition(seed, n, l, d):
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((n, d)), rng.standard_normal((l, d))
    D = squared_distances(X, Y)
    np.testing.assert_allclose(D, definition(X, Y), atol=1e-12)
    np.testing.assert_allclose(squared_distances(csr_array(X), Y), D, atol=1e-12)
    np.testing.assert_allclose(squared_distances(csr_array(X), csr_array(Y)), D, atol=1e-12)
    np.testing.assert_allclose(squared_distances(X, csr_array(Y)), D, atol=1e-12)
    assert squared_distances(X, X).min() >= 0
    assert mean_squared_distance(X, Y) == pytest.approx(D.mean(), rel=1e-10)
    assert mean_squared_distance(csr_array(X), Y) == pytest.approx(D.mean(), rel=1e-10)


def test_row_blocks_do_not_show():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((1100, 4)), rng.standard_normal((7, 4))
    np.testing.assert_allclose(squared_distances(X, Y), definition(X, Y), atol=1e-12)
    labels, d1, d2 = nearest(X, Y)
    np.testing.assert_array_equal(labels, definition(X, Y).argmin(axis=1))
    np.testing.assert_allclose(np.stack([d1, d2]), np.sort(definition(X, Y), axis=1)[:, :2].T, atol=1e-12)


@pytest.mark.deep
@given(SEEDS, SIZES, SIZES)
def test_chi2_distances_are_their_definition(seed, n, d):
    rng = np.random.default_rng(seed)
    X, Y = rng.poisson(1, (n, d)), rng.poisson(1, (5, d))
    expected = [[sum((a - b) ** 2 / (a + b) for a, b in zip(x, y) if a + b) for y in Y] for x in X]
    np.testing.assert_allclose(chi2_distances(X, Y), expected, atol=1e-12)
    np.testing.assert_allclose(chi2_distances(csr_array(X), csr_array(Y)), expected, atol=1e-12)


@pytest.mark.deep
@given(SEEDS, st.integers(1, 12), SIZES)
def test_nearest_equals_a_complete_sort(seed, k, d):
    rng = np.random.default_rng(seed)
    X, C = rng.standard_normal((15, d)), rng.standard_normal((k, d))
    D = definition(X, C)
    for X_ in (X, csr_array(X)):
        labels, d1, d2 = nearest(X_, C)
        np.testing.assert_array_equal(labels, D.argmin(axis=1))
        np.testing.assert_allclose(d1, D.min(axis=1), atol=1e-12)
        np.testing.assert_allclose(d2, np.sort(D, axis=1)[:, 1] if k > 1 else np.inf, atol=1e-12)


def test_of_equally_near_centres_the_first_is_taken():
    labels, d1, d2 = nearest(np.zeros((2, 1)), np.array([[3.0], [1], [-1], [1]]))
    assert labels.tolist() == [1, 1]
    assert d1.tolist() == d2.tolist() == [1, 1]


def test_no_rows():
    labels, d1, d2 = nearest(np.empty((0, 3)), np.ones((2, 3)))
    assert labels.shape == d1.shape == d2.shape == (0,)
    assert squared_distances(np.empty((0, 3)), np.ones((2, 3))).shape == (0, 2)


def test_single_precision_is_kept():
    X = np.random.default_rng(0).standard_normal((6, 3)).astype(np.float32)
    assert squared_distances(X, X).dtype == nearest(X, X)[1].dtype == chi2_distances(abs(X), abs(X)).dtype == "f4"
    assert squared_distances(csr_array(X), X).dtype == "f4"


def test_any_array_library_gives_the_same(library):
    rng = np.random.default_rng(0)
    X, Y = rng.random((20, 3)), rng.random((6, 3))
    A, B = library.asarray(X), library.asarray(Y)
    for f in (squared_distances, chi2_distances):
        assert namespace(f(A, B)) is namespace(A)
        np.testing.assert_allclose(to_numpy(f(A, B)), f(X, Y), atol=1e-13)
    for ours, theirs in zip(nearest(A, B), nearest(X, Y)):
        np.testing.assert_allclose(to_numpy(ours), theirs, atol=1e-13)
    assert mean_squared_distance(A, B) == pytest.approx(mean_squared_distance(X, Y))
