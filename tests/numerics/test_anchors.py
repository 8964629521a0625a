"""Anchor codes: a transcription row by row, the reference of the released code, precision, blocks, ties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from conspectus.numerics import (
    anchor_codes,
    chi2_distances,
    codes_from_distances,
    nearest_anchors,
    squared_distances,
    unit_rows,
)

SEEDS = st.integers(0, 2**32 - 1)


def naive(D, size, weights, scale):
    """Row by row, as the text says it."""
    n, l = D.shape
    Z = np.zeros((n, l))
    for i in range(n):
        order = sorted(range(l), key=lambda j: (D[i, j], j))
        m = min(size, l) if weights == "gaussian" else max(1, min(size, l - 1))
        near = order[:m]
        if weights == "gaussian":
            w = [np.exp(-(D[i, j] - D[i, order[0]]) / scale) if scale else 1 for j in near]
        else:
            w = [D[i, order[m]] - D[i, j] for j in near] if l > 1 else [1]
        w = w if sum(w) else [1] * m
        Z[i, near] = np.array(w) / sum(w)
    return Z


@given(SEEDS, st.integers(1, 12), st.lists(st.integers(1, 15), min_size=1, max_size=3))
def test_codes_are_what_the_text_says(seed, l, sizes):
    rng = np.random.default_rng(seed)
    X, A = rng.standard_normal((9, 4)), rng.standard_normal((l, 4))
    D = squared_distances(X, A)
    for weights, scale in (("gaussian", 0.7), ("gaussian", 0.0), ("linear", None)):
        for Z, size in zip(anchor_codes(X, A, sizes, weights=weights, scale=scale), sizes):
            np.testing.assert_allclose(Z.toarray(), naive(D, size, weights, scale), atol=1e-12)
            assert Z.has_canonical_format
        for Z, W in zip(
            codes_from_distances(D, sizes, weights=weights, scale=scale),
            anchor_codes(csr_array(X), A, sizes, weights=weights, scale=scale),
        ):
            np.testing.assert_allclose(Z.toarray(), W.toarray(), atol=1e-12)


@pytest.mark.deep
@given(SEEDS, st.sampled_from(["gaussian", "linear"]), st.sampled_from(["sqeuclidean", "chi2"]))
def test_rows_are_weights_on_few_anchors(seed, weights, metric):
    rng = np.random.default_rng(seed)
    X = rng.poisson(2, (30, 5)).astype(float)
    for Z, m in zip(anchor_codes(X, X[:20], [3, 7], weights=weights, metric=metric), (3, 7)):
        np.testing.assert_allclose(Z.sum(axis=1), 1, atol=1e-14)
        assert Z.data.min() >= 0
        assert (np.diff(Z.indptr) <= m).all()


@given(SEEDS)
def test_the_default_scale_makes_units_irrelevant(seed):
    rng = np.random.default_rng(seed)
    X, A = rng.standard_normal((12, 3)), rng.standard_normal((6, 3))
    (Z,), (W,) = anchor_codes(X, A, [4]), anchor_codes(1000 * X, 1000 * A, [4])
    np.testing.assert_allclose(Z.toarray(), W.toarray(), atol=1e-10)
    D = squared_distances(X, A)
    np.testing.assert_allclose(Z.toarray(), naive(D, 4, "gaussian", 4 * D.mean()), atol=1e-12)
    C, B = abs(X), abs(A)
    expected = naive(chi2_distances(C, B), 4, "gaussian", 4 * chi2_distances(C, B).mean())
    np.testing.assert_allclose(anchor_codes(C, B, [4], metric="chi2")[0].toarray(), expected, atol=1e-12)
    np.testing.assert_allclose(codes_from_distances(D, [4], weights="gaussian")[0].toarray(), Z.toarray(), atol=1e-12)


def test_ties_go_to_the_smaller_index():
    D = np.array([[2.0, 1, 1, 1, 1, 0], [3, 3, 3, 3, 3, 3]])
    (Z,) = codes_from_distances(D, [3], weights="gaussian", scale=0)
    np.testing.assert_allclose(Z.toarray(), np.array([[0, 1, 1, 0, 0, 1], [1, 1, 1, 0, 0, 0]]) / 3)


def test_row_blocks_do_not_show():
    rng = np.random.default_rng(0)
    X, A = rng.standard_normal((1300, 4)), rng.standard_normal((60, 4))
    (Z,) = anchor_codes(X, A, [5], weights="linear")
    np.testing.assert_allclose(Z.toarray(), naive(squared_distances(X, A), 5, "linear", None), atol=1e-12)


def test_single_precision_finds_the_neighbours_of_double_precision():
    """Distances that float32 cannot tell apart: far from the origin, close together."""
    rng = np.random.default_rng(0)
    X = (100 + 1e-2 * rng.standard_normal((200, 5))).astype(np.float32)
    A = X[:80]
    D, I = nearest_anchors(X, A, 1)
    np.testing.assert_array_equal(I[:80, 0], np.arange(80))
    exact = ((X[:, None, :].astype(float) - A[None].astype(float)) ** 2).sum(axis=2)
    np.testing.assert_allclose(D[:80], 0)
    (Z,) = anchor_codes(X - 100, A - 100, [6], weights="linear")
    assert Z.dtype == np.float32
    np.testing.assert_allclose(Z.toarray(), naive(exact, 6, "linear", None), atol=2e-6)


def test_any_array_library_gives_the_same(library):
    rng = np.random.default_rng(0)
    X, A = rng.standard_normal((40, 3)), rng.standard_normal((15, 3))
    for dtype in (np.float64, np.float32):
        ours = anchor_codes(library.asarray(X.astype(dtype)), library.asarray(A.astype(dtype)), [3, 20])
        for Z, W in zip(ours, anchor_codes(X.astype(dtype), A.astype(dtype), [3, 20])):
            np.testing.assert_allclose(Z.toarray(), W.toarray(), atol=1e-6 if dtype == np.float32 else 1e-13)


def test_the_references_codes_are_reproduced(golden_default, golden_anchors):
    P = golden_default["P0_2"]
    expected = csr_array(
        tuple(golden_default[f"Z0_2_5_{part}"] for part in ("data", "indices", "indptr")), 2 * P.shape[:1]
    )
    np.testing.assert_allclose(anchor_codes(P, P, [5], weights="linear")[0].toarray(), expected.toarray(), atol=1e-13)
    observed = golden_anchors["mask"]
    for a, b in ((0, 1), (0, 2), (1, 2)):
        rows, anchors = (golden_anchors[f"oct_apmc_{a}{b}_{part}"] for part in ("rows", "anchors"))
        Z = np.zeros((len(rows), len(anchors)))
        for v in (a, b):
            X, seen = unit_rows(golden_anchors[f"X{v}"]), observed[rows, v]
            Z[seen] += anchor_codes(X[rows[seen]], X[anchors], [5])[0].toarray()
        Z /= observed[rows][:, [a, b]].sum(axis=1, keepdims=True)
        np.testing.assert_allclose(Z, golden_anchors[f"oct_apmc_{a}{b}_Z"], atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("l", "m"), [(1, 1), (31, 5), (32, 32), (150, 12), (150, 100)])
def test_compiled_selection_gives_the_same(monkeypatch, dtype, l, m):
    pytest.importorskip("numba")
    rng = np.random.default_rng(0)
    X, A = rng.standard_normal((70, 4)).astype(dtype), rng.standard_normal((l, 4)).astype(dtype)
    D = np.round(squared_distances(X, A), 1)  # with many ties
    monkeypatch.setenv("CONSPECTUS_NUMBA", "0")
    plain, tied = nearest_anchors(X, A, m), nearest_anchors(D, None, m, metric="precomputed")
    monkeypatch.setenv("CONSPECTUS_NUMBA", "1")
    for ours, theirs in zip(nearest_anchors(X, A, m), plain):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)
    for ours, theirs in zip(nearest_anchors(D, None, m, metric="precomputed"), tied):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("weights", ["gaussian", "linear"])
def test_equal_rows_share_their_weight_equally(weights):
    (Z,) = anchor_codes(np.ones((4, 2)), np.ones((3, 2)), [2], weights=weights)
    np.testing.assert_allclose(Z.toarray(), [[0.5, 0.5, 0]] * 4)
    (one,) = anchor_codes(np.ones((4, 2)), np.ones((1, 2)), [2], weights=weights)
    np.testing.assert_allclose(one.toarray(), 1)


def test_no_rows():
    (Z,) = anchor_codes(np.empty((0, 2)), np.ones((3, 2)), [2], scale=1.0)
    assert Z.shape == (0, 3)
