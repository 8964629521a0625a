"""Neighbour graphs against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from conspectus.numerics import knn_graph
from conspectus.numerics.graphs import median_pairwise_distance


def brute_force(X, m, weight):
    n = len(X)
    W = np.zeros((n, n))
    for i in range(n):
        others = sorted((j for j in range(n) if j != i), key=lambda j: (((X[i] - X[j]) ** 2).sum(), j))
        for j in others[:m]:
            W[i, j] = W[j, i] = weight(X[i], X[j])
    return W


def cosine(x, y):
    return max(0, x @ y / np.linalg.norm(x) / np.linalg.norm(y))


@given(st.integers(0, 2**32 - 1), st.integers(2, 20), st.integers(1, 6))
def test_graphs_are_those_of_brute_force(seed, n, m):
    X = np.random.default_rng(seed).standard_normal((n, 3))
    t = np.median([np.linalg.norm(X[i] - X[j]) for i in range(n) for j in range(i + 1, n)])
    weights = {
        "binary": lambda x, y: 1,
        "heat": lambda x, y: np.exp(-((x - y) @ (x - y)) / (2 * t**2)),
        "cosine": cosine,
    }
    for name, weight in weights.items():
        W = knn_graph(X, m, name)
        np.testing.assert_allclose(W.toarray(), brute_force(X, m, weight), atol=1e-12)
        np.testing.assert_allclose(knn_graph(csr_array(X), m, name).toarray(), W.toarray(), atol=1e-12)


def test_ties_go_to_the_smaller_index():
    X = np.arange(6.0)[:, None]
    np.testing.assert_array_equal(knn_graph(X, 1).toarray(), brute_force(X, 1, lambda x, y: 1))


def test_row_blocks_do_not_show():
    X = np.random.default_rng(0).standard_normal((530, 2))
    np.testing.assert_array_equal(knn_graph(X, 3).toarray(), brute_force(X, 3, lambda x, y: 1))


def test_one_row_has_no_neighbour():
    assert knn_graph(np.ones((1, 2))).nnz == 0
    assert knn_graph(np.ones((1, 2)), weights="heat").nnz == 0


def test_equal_rows_have_weight_one():
    W = knn_graph(np.ones((4, 2)), 2, "heat")
    assert set(W.data) == {1.0}


def test_the_median_of_a_sample_is_near_the_median_of_all():
    X = np.random.default_rng(0).standard_normal((400, 3))
    assert median_pairwise_distance(X, 200) == pytest.approx(median_pairwise_distance(X), rel=0.1)
