"""Singular triplets, eigenvectors, directions: residuals, multiplicities, and LAPACK on the dense matrix."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import block_diag, csr_array, eye_array
from scipy.sparse.linalg import aslinearoperator

from conspectus.numerics import (
    anchor_codes,
    directions_from_gram,
    leading_directions,
    right_triplets,
    stochastic_svd,
    top_eigenvectors,
)
from conspectus.numerics.lanczos import Search, leading_pairs
from conspectus.numerics.operators import ChainedGraph, SparseGraph

SEEDS = st.integers(0, 2**32 - 1)


class Operator:
    """A graph that is known by its products only."""

    def __init__(self, B):
        self.B, self.shape = csr_array(B), B.shape

    def dot(self, x):
        return self.B @ x

    def tdot(self, y):
        return self.B.T @ y


def graph(rng, n, l, m=5, d=3):
    X = rng.standard_normal((n, d))
    return anchor_codes(X, X[:l], [m], weights="linear")[0]


def scaled(B):
    B = B.toarray()
    c = B.sum(axis=0)
    return B * np.where(c > 1e-12, 1 / np.sqrt(np.where(c > 1e-12, c, 1)), 0)


def check_triplets(B, U, sigma, V):
    S, eye = scaled(B), np.eye(len(sigma))
    np.testing.assert_allclose(U.T @ U, eye, atol=1e-9)
    np.testing.assert_allclose(V.T @ V, eye, atol=1e-9)
    np.testing.assert_allclose(S @ V, U * sigma, atol=1e-12)
    np.testing.assert_allclose(S.T @ U, V * sigma, atol=1e-6)
    assert (np.diff(sigma) <= 1e-12).all()
    assert sigma[0] == pytest.approx(1, abs=1e-10)


@settings(max_examples=15)
@given(SEEDS, st.sampled_from([(150, 120), (40, 30), (40, 400), (300, 20)]), st.booleans())
def test_triplets_are_those_of_the_dense_matrix(seed, shape, implicit):
    rng = np.random.default_rng(seed)
    n, l = shape
    X = rng.standard_normal((n, 3))
    B = anchor_codes(X, rng.standard_normal((l, 3)), [5], weights="linear")[0]
    U, sigma, V, c = stochastic_svd(Operator(B) if implicit else B, 7)
    check_triplets(B, U, sigma, V)
    np.testing.assert_allclose(sigma, np.linalg.svd(scaled(B), compute_uv=False)[: len(sigma)], atol=1e-10)
    np.testing.assert_allclose(c, B.sum(axis=0), atol=1e-12)
    ones, kept = np.ones(n) / np.sqrt(n), U[:, sigma > 1 - 1e-9]
    if kept.shape[1] < 7:  # all components are there: the constant lies in the span of their vectors
        np.testing.assert_allclose(kept @ (kept.T @ ones), ones, atol=1e-6)


@pytest.mark.parametrize("wrap", [csr_array, Operator, aslinearoperator])
@pytest.mark.parametrize(("parts", "k"), [(14, 14), (14, 20), (3, 9), (30, 12)])
def test_a_graph_of_c_components_has_the_singular_value_one_c_times(wrap, parts, k):
    rng = np.random.default_rng(parts)
    B = block_diag([graph(rng, 30, 15) for _ in range(parts)], format="csr")[rng.permutation(30 * parts)]
    U, sigma, V, _ = stochastic_svd(wrap(B), k)
    assert len(sigma) == k
    check_triplets(B, U, sigma, V)
    np.testing.assert_allclose(sigma, np.linalg.svd(scaled(B), compute_uv=False)[:k], atol=1e-9)
    assert np.count_nonzero(sigma > 1 - 1e-9) == min(parts, k)


def test_a_chain_of_matrices_is_its_product():
    rng = np.random.default_rng(0)
    C, E = graph(rng, 150, 130), graph(rng, 130, 90).toarray()
    chained, product = ChainedGraph(C, E), csr_array(C @ E)
    x, y = rng.standard_normal((90, 3)), rng.standard_normal((150, 3))
    np.testing.assert_allclose(chained.dot(x), product @ x, atol=1e-12)
    np.testing.assert_allclose(chained.tdot(y), product.T @ y, atol=1e-12)
    np.testing.assert_allclose(chained.gram(x), product.T @ (product @ x), atol=1e-12)
    U, sigma, V, _ = stochastic_svd(chained, 6)
    check_triplets(product, U, sigma, V)
    np.testing.assert_allclose(sigma, np.linalg.svd(scaled(product), compute_uv=False)[:6], atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("width", [1, 4, 6])
def test_compiled_passes_give_the_same(monkeypatch, dtype, width):
    pytest.importorskip("numba")
    rng = np.random.default_rng(0)
    B, x = graph(rng, 200, 90).astype(dtype), rng.standard_normal((90, width))
    monkeypatch.setenv("CONSPECTUS_NUMBA", "0")
    plain = SparseGraph(B)
    monkeypatch.setenv("CONSPECTUS_NUMBA", "1")
    compiled = SparseGraph(B)
    assert compiled.compiled
    assert not plain.compiled
    np.testing.assert_allclose(compiled.gram(x), plain.gram(x), atol=1e-12)


def test_components_are_found_through_vanishing_weights():
    """Edges without weight join nothing, and columns without weight belong to nobody."""
    rows, columns = [0, 0, 1, 2, 2, 3], [0, 1, 1, 2, 3, 3]
    B = csr_array(([1.0, 1e-14, 1 - 1e-14, 0.6, 0.4, 1.0], (rows, columns)), (4, 5))
    known = SparseGraph(B).components()
    np.testing.assert_allclose(
        known**2, np.array([[0, 0, 0.3, 0.7, 0], [1, 0, 0, 0, 0], [0, 1, 0, 0, 0]]).T, atol=1e-12
    )


def test_near_keeps_more_than_k_but_no_more_than_the_limit():
    rng = np.random.default_rng(0)
    B = graph(rng, 400, 200, d=1)
    every = np.linalg.svd(scaled(B), compute_uv=False)
    near = (every[7] + every[8]) / 2
    for k, at_most, expected in ((5, 15, 8), (5, 7, 7), (10, 15, 10)):
        _, sigma, _, _ = stochastic_svd(B, k, near=near, at_most=at_most)
        np.testing.assert_allclose(sigma, every[:expected], atol=1e-9)
    assert len(stochastic_svd(B, 5)[1]) == 5


def test_fewer_triplets_than_asked_for_where_the_rank_is_lower():
    B = csr_array(np.full((9, 4), 0.25))
    U, sigma, V, _ = stochastic_svd(B, 3)
    assert U.shape == (9, 1)
    assert V.shape == (4, 1)
    np.testing.assert_allclose(sigma, 1)


def test_new_rows_are_embedded_by_the_returned_map():
    B = graph(np.random.default_rng(1), 200, 150)
    U, sigma, V, c = stochastic_svd(B, 6)
    root = np.sqrt(np.where(c > 1e-12, c, np.inf))
    np.testing.assert_allclose((B.toarray() / root) @ V / sigma, U, atol=1e-12)


def test_the_right_side_alone_is_the_same():
    B = graph(np.random.default_rng(1), 200, 150)
    for ours, theirs in zip(right_triplets(B, 6), stochastic_svd(B, 6)[1:]):
        np.testing.assert_array_equal(ours, theirs)


def test_one_seed_one_answer():
    B = graph(np.random.default_rng(2), 300, 200)
    for a, b in zip(stochastic_svd(B, 6, seed=3), stochastic_svd(B, 6, seed=3)):
        np.testing.assert_array_equal(a, b)


def spectrum(rng, n, values):
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    return (Q * values) @ Q.T


@settings(max_examples=10)
@given(SEEDS, st.sampled_from([20, 330]), st.integers(1, 12), st.sampled_from(["largest", "smallest"]))
def test_eigenvectors_have_small_residuals_and_the_extreme_values(seed, n, k, which):
    rng = np.random.default_rng(seed)
    A = spectrum(rng, n, np.linspace(-1, 1, n) ** 3)
    values, Q = top_eigenvectors(A, k, which=which)
    every = np.linalg.eigvalsh(A)
    np.testing.assert_allclose(values, every[::-1][:k] if which == "largest" else every[:k], atol=1e-9)
    np.testing.assert_allclose(A @ Q, Q * values, atol=1e-7)
    np.testing.assert_allclose(Q.T @ Q, np.eye(k), atol=1e-10)
    assert (Q[np.abs(Q).argmax(axis=0), range(k)] > 0).all()


@pytest.mark.parametrize("copies", [5, 8, 30])
def test_all_copies_of_a_multiple_eigenvalue_are_found(copies):
    values = np.concatenate([np.ones(copies), np.linspace(0.9, 0, 400 - copies)])
    A = spectrum(np.random.default_rng(copies), 400, values)
    found, Q = top_eigenvectors(A, copies + 2)
    np.testing.assert_allclose(found, values[: copies + 2], atol=1e-9)
    np.testing.assert_allclose(A @ Q, Q * found, atol=1e-7)


def test_eigenvectors_of_sparse_matrices_and_operators():
    A = spectrum(np.random.default_rng(0), 300, np.linspace(0, 1, 300) ** 2)
    expected = top_eigenvectors(A, 4)[0]
    np.testing.assert_allclose(top_eigenvectors(csr_array(A), 4)[0], expected, atol=1e-9)
    np.testing.assert_allclose(top_eigenvectors(aslinearoperator(A), 4)[0], expected, atol=1e-9)
    np.testing.assert_allclose(top_eigenvectors(eye_array(400, format="csr"), 12)[0], 1)
    np.testing.assert_allclose(top_eigenvectors(np.zeros((300, 300)), 3)[0], 0, atol=1e-12)


def test_a_spectrum_on_which_lanczos_stalls_is_decomposed_completely():
    values = 1 - np.logspace(-12, 0, 300)
    A = spectrum(np.random.default_rng(0), 300, values)
    np.testing.assert_allclose(top_eigenvectors(A, 6)[0], values[:6], atol=1e-9)


def test_values_crowded_below_the_limit_are_settled_one_by_one():
    values = np.concatenate([[0.99, 0.98, 0.97], 0.959 - np.linspace(0, 0.9, 997) ** 2])
    columns = []

    def apply(x):
        columns.append(x.shape[1])
        return values[:, None] * x

    search = Search(20, lambda found: min(len(found), 20, max(3, int((found >= 0.96).sum()))))
    found = leading_pairs(apply, 1000, search, np.random.default_rng(0))
    np.testing.assert_allclose(found.values, values[:3], atol=1e-10)
    assert max(columns) < 1000  # a dense decomposition takes all columns at once


@settings(max_examples=15)
@given(SEEDS, st.sampled_from([(60, 7), (7, 60), (40, 600), (600, 700)]), st.booleans())
def test_directions_are_the_right_singular_vectors(seed, shape, centre):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape) * 0.8 ** np.arange(shape[1]) + 1
    C = X - X.mean(axis=0) if centre else X
    _, s, Vt = np.linalg.svd(C, full_matrices=False)
    q = 5
    V, sigma = leading_directions(X, q, centre=centre)
    np.testing.assert_allclose(sigma, s[:q], rtol=1e-7)
    np.testing.assert_allclose(np.abs(np.sum(V * Vt[:q].T, axis=0)), 1, atol=1e-6)
    W, tau = leading_directions(csr_array(X), q, centre=centre)
    np.testing.assert_allclose(tau, sigma, rtol=1e-7)
    np.testing.assert_allclose(np.abs(np.sum(V * W, axis=0)), 1, atol=1e-6)


def test_directions_from_gram_matrices_summed_over_blocks():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 6)) @ np.diag([9, 7, 5, 3, 1, 0.0])
    V, sigma = directions_from_gram(X[:50].T @ X[:50] + X[50:].T @ X[50:], 6)
    np.testing.assert_allclose(sigma, np.linalg.svd(X, compute_uv=False), atol=1e-10)
    np.testing.assert_allclose(np.linalg.norm(X @ V, axis=0), sigma, atol=1e-10)


def test_a_vanishing_singular_value_is_told_from_a_small_one():
    rng = np.random.default_rng(0)
    X = np.linalg.qr(rng.standard_normal((50, 4)))[0] * [1, 1e-3, 1e-10, 0]
    np.testing.assert_allclose(leading_directions(X, 4)[1], [1, 1e-3, 1e-10, 0], rtol=1e-3, atol=1e-15)
