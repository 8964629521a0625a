"""Kernels are inner products in feature space; centring and normalisation act there."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conspectus.numerics import (
    centre_kernel,
    cosine_kernel,
    gaussian_kernel,
    linear_kernel,
    normalise_kernel,
    polynomial_kernel,
)

SEEDS = st.integers(0, 2**32 - 1)
KERNELS = [gaussian_kernel, linear_kernel, polynomial_kernel, cosine_kernel]


@pytest.mark.parametrize("kernel", KERNELS)
@given(seed=SEEDS)
def test_kernels_are_symmetric_and_have_no_negative_eigenvalue(kernel, seed):
    X = np.random.default_rng(seed).standard_normal((12, 3))
    K = kernel(X)
    np.testing.assert_allclose(K, K.T, atol=1e-14)
    assert np.linalg.eigvalsh(K).min() >= -1e-10 * abs(K).max()
    np.testing.assert_allclose(kernel(X[:4], X), K[:4], atol=1e-12)


def test_kernels_are_their_definitions():
    X = np.random.default_rng(0).standard_normal((9, 3))
    d = np.array([[np.linalg.norm(x - y) for y in X] for x in X])
    s = np.mean([d[i, j] for i in range(9) for j in range(i + 1, 9)])
    np.testing.assert_allclose(gaussian_kernel(X), np.exp(-(d**2) / (2 * s**2)), atol=1e-12)
    np.testing.assert_allclose(gaussian_kernel(X, width=2.0), np.exp(-(d**2) / 8), atol=1e-12)
    np.testing.assert_allclose(linear_kernel(X), [[x @ y for y in X] for x in X], atol=1e-12)
    np.testing.assert_allclose(polynomial_kernel(X), [[(x @ y + 1) ** 2 for y in X] for x in X], atol=1e-12)
    norm = np.linalg.norm
    np.testing.assert_allclose(cosine_kernel(X), [[x @ y / norm(x) / norm(y) for y in X] for x in X], atol=1e-12)


@pytest.mark.deep
@given(SEEDS)
def test_centring_moves_the_features_to_their_mean(seed):
    rng = np.random.default_rng(seed)
    X, new = rng.standard_normal((8, 3)), rng.standard_normal((4, 3))
    mean = X.mean(axis=0)
    C = centre_kernel(X @ X.T)
    np.testing.assert_allclose(C, (X - mean) @ (X - mean).T, atol=1e-12)
    np.testing.assert_allclose(C.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(centre_kernel(C), C, atol=1e-12)
    np.testing.assert_allclose(centre_kernel(new @ X.T, X @ X.T), (new - mean) @ (X - mean).T, atol=1e-12)


@given(SEEDS)
def test_normalising_makes_features_unit_vectors(seed):
    X = np.random.default_rng(seed).standard_normal((8, 3))
    X[2] = 0
    K = normalise_kernel(X @ X.T)
    np.testing.assert_allclose(K, cosine_kernel(X), atol=1e-12)
    np.testing.assert_allclose(np.diagonal(K), np.arange(8) != 2, atol=1e-12)
    sizes = (X**2).sum(axis=1)
    np.testing.assert_allclose(normalise_kernel(X[:3] @ X.T, sizes[:3], sizes), K[:3], atol=1e-12)


def test_equal_rows_have_a_kernel_of_ones():
    np.testing.assert_array_equal(gaussian_kernel(np.ones((3, 2))), 1)
    np.testing.assert_array_equal(gaussian_kernel(np.eye(2), np.ones((3, 2))), 0)
