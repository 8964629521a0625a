"""NEMO: a naive transcription, the pairs that no view saw together, the number of clusters, the bytes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from conspectus import NEMO, InputError, as_views, missing
from conspectus.datasets import load_mfeat
from conspectus.methods.graphs import nemo
from conspectus.methods.graphs.nemo import average_graph, clusters_by_eigengap, complete_graph, neighbours_of
from conspectus.metrics import adjusted_rand_index, clustering_accuracy, nmi
from conspectus.numerics.affinity import scaled_exponential_graph
from conspectus.numerics.laplacian import laplacian_vectors, normalised_graph

from .golden import FOLDER
from .test_apmc import blobs


def similarity(X, K):
    """SNF's similarity with squared distances, cut and scaled as NEMO does."""
    n = len(X)
    D = cdist(X, X, "sqeuclidean")
    T = [np.sort(np.delete(D[i], i))[:K].mean() for i in range(n)]
    W = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            s = 0.5 * ((T[i] + T[j]) / 3 + D[i, j] / 3)
            W[i, j] = np.exp(-(D[i, j] ** 2) / (2 * s**2)) / np.sqrt(2 * np.pi * s**2)
    G = np.zeros((n, n))
    for i in range(n):
        largest = np.argsort(-W[i], kind="stable")[:K]
        G[i, largest] = W[i, largest] / W[i, largest].sum()
    return G


def dense_nemo(X, mask, K):
    """S with its constant, pair by pair."""
    n = len(mask)
    S, counts = np.zeros((n, n)), np.zeros((n, n))
    for x, m, k in zip(X, mask.T, K):
        seen = np.flatnonzero(m)
        G = similarity(x[seen], k)
        S[np.ix_(seen, seen)] += G + G.T
        counts[np.ix_(seen, seen)] += 1
    shared = counts > 0
    S[shared] /= counts[shared]
    below = np.tril(np.ones((n, n), dtype=bool), -1)
    S[~shared] = S[below & shared].mean()
    return S


def dense(operator):
    return operator.toarray() if sparse.issparse(operator) else operator @ np.eye(operator.shape[0])


@pytest.mark.parametrize("X", [np.random.default_rng(0).normal(size=(40, 5)), np.random.default_rng(1).random((25, 3))])
@pytest.mark.parametrize("K", [1, 4, 12])
def test_similarities_of_a_view(X, K):
    G = scaled_exponential_graph(X, K)
    np.testing.assert_allclose(G.toarray(), similarity(X, K), atol=1e-12)
    np.testing.assert_allclose(G.sum(axis=1), 1)
    assert G.nnz == K * len(X)
    for scale in (1e-300, 1e-3, 1e200):
        np.testing.assert_allclose(scaled_exponential_graph(X * scale, K).toarray(), G.toarray(), atol=1e-9)
    np.testing.assert_allclose(scaled_exponential_graph(sparse.csr_array(X), K).toarray(), G.toarray(), atol=1e-9)


def test_equal_rows_share_their_similarity():
    X = np.repeat(np.eye(3), 4, axis=0)
    np.testing.assert_allclose(scaled_exponential_graph(X, 4).toarray(), np.kron(np.eye(3), np.full((4, 4), 0.25)))
    np.testing.assert_allclose(scaled_exponential_graph(np.zeros((5, 2)), 5).toarray(), 0.2)
    np.testing.assert_allclose(scaled_exponential_graph(np.ones((1, 2)), 1).toarray(), 1)


@pytest.mark.parametrize("protocol", ["random_subsets", "paired"])
@pytest.mark.parametrize("n_neighbors", ["auto", 4])
def test_naive_transcription(protocol, n_neighbors):
    dims = (5, 8, 6) if protocol == "random_subsets" else (5, 8)
    X, mask, _ = blobs(60, dims=dims, share=0.6)
    if protocol == "paired":
        mask = missing.paired(60, 2, 0.6, seed=0)
    views = as_views(X, mask)
    K = neighbours_of(views, n_neighbors)
    assert [round(m.sum() / 6) if n_neighbors == "auto" else 4 for m in mask.T] == K
    S = dense_nemo(X, mask, K)
    assert (mask.astype(int) @ mask.T == 0).any()  # there are strangers
    np.testing.assert_allclose(dense(complete_graph(average_graph(views, K), views)), S, atol=1e-12)
    d = S.sum(axis=1)
    values, F = np.linalg.eigh(np.eye(60) - S / np.sqrt(np.outer(d, d)))
    found = laplacian_vectors(complete_graph(average_graph(views, K), views), 3)
    np.testing.assert_allclose(found[0], values[:3], atol=1e-9)
    np.testing.assert_allclose(found[1] @ found[1].T, F[:, :3] @ F[:, :3].T, atol=1e-7)
    model = NEMO(3, n_neighbors=n_neighbors, random_state=0).fit(views)
    U = F[:, :3] / np.linalg.norm(F[:, :3], axis=1, keepdims=True)
    np.testing.assert_allclose(model.embedding_ @ model.embedding_.T, U @ U.T, atol=1e-6)


def test_laplacian_of_every_kind_of_graph():
    rng = np.random.default_rng(0)
    W = rng.random((12, 12)) * (rng.random((12, 12)) < 0.5)
    W = W + W.T
    W[3] = W[:, 3] = 0
    kinds = [W, sparse.csr_array(W), sparse.linalg.aslinearoperator(W)]
    forms = [dense(normalised_graph(kind)) if kind is not W else normalised_graph(W) for kind in kinds]
    for form in forms:
        np.testing.assert_allclose(form, forms[0], atol=1e-14)
        assert not form[3].any()
    assert np.abs(np.linalg.eigvalsh(forms[0])).max() == pytest.approx(1)


def test_number_of_clusters_by_the_eigengap():
    X, mask, y = blobs(120, k=4)
    model = NEMO("auto", n_neighbors=8, random_state=0).fit(as_views(X, mask))
    assert model.n_clusters_ == 4
    assert adjusted_rand_index(y, model.labels_) == 1
    assert NEMO("auto", max_clusters=3, n_neighbors=8).fit(as_views(X, mask)).n_clusters_ <= 3
    blocks = sparse.csr_array(np.kron(np.eye(5), np.ones((6, 6))))
    assert clusters_by_eigengap(blocks, as_views([np.ones((30, 1))]), 15) == 5
    two = NEMO("auto").fit([np.arange(6.0).reshape(2, 3)])
    assert two.n_clusters_ == 2


def test_order_of_samples_and_views_and_scale_of_a_view_do_not_matter():
    X, mask, y = blobs(100)
    labels = NEMO(3, random_state=0).fit_predict(as_views(X, mask))
    assert adjusted_rand_index(y, labels) == 1
    order = np.random.default_rng(0).permutation(100)
    moved = NEMO(3, random_state=0).fit_predict(as_views([x[order] for x in X], mask[order]))
    assert adjusted_rand_index(labels[order], moved) == 1
    turned = NEMO(3, random_state=0).fit_predict(as_views(X[::-1], mask[:, ::-1]))
    assert adjusted_rand_index(labels, turned) == 1
    other = NEMO(3, random_state=0).fit(as_views([X[0] * 1e3, X[1] + 5, X[2]], mask))
    assert adjusted_rand_index(labels, other.labels_) == 1


def test_says_the_bytes_before_it_needs_them(monkeypatch):
    X, mask, _ = blobs(90)
    views = as_views(X, mask)
    model = NEMO(3, random_state=0).fit(views)
    held = model.graph_.data.nbytes + model.graph_.indices.nbytes
    assert held <= nemo.graph_bytes(views, model.n_neighbors_)
    monkeypatch.setattr(nemo, "MOST_BYTES", held - 1)
    with pytest.raises(InputError, match=r"sixth of the samples.*90 samples need 0.0 GiB; give n_neighbors"):
        NEMO(3).fit(views)
    assert NEMO(3, n_neighbors=5).fit(views).graph_.nnz <= 3 * 2 * 5 * 90


# iMML 0.6.0's NEMO(10, random_state=0) on the digits: views, protocol, ratio (seed 0)
SETTINGS = [
    (("fou", "fac", "kar", "pix", "zer", "mor"), "random_subsets", 0.3),
    (("fou", "fac", "kar", "pix", "zer", "mor"), "random_subsets", 0.6),
    (("fou", "pix"), "paired", 0.3),
    (("fou", "fac"), "paired", 0.5),
    (("fou", "pix", "mor"), "random_subsets", 0.5),
    (("fou", "fac", "kar", "pix", "zer", "mor"), None, 0.0),
]


@pytest.mark.slow
def test_as_good_as_another_implementation_on_digits():
    """Within one point on average; single labels differ, for iMML rounds the spectrum by another rule than k-means."""
    digits = load_mfeat()
    theirs, scores = np.load(FOLDER / "imml_nemo.npz")["labels"], []
    for (names, protocol, ratio), labels in zip(SETTINGS, theirs, strict=True):
        mask = np.ones((2000, len(names)), bool)
        if protocol is not None:
            mask = getattr(missing, protocol)(2000, len(names), ratio, seed=0)
        ours = NEMO(10, random_state=0).fit_predict(missing.remove([digits.X[name] for name in names], mask))
        scores.append([[f(digits.y, found) for f in (clustering_accuracy, nmi)] for found in (ours, labels)])
        assert nmi(ours, labels) > 0.9
    difference = np.subtract(*np.swapaxes(scores, 0, 1))
    assert np.abs(difference.mean(axis=0)).max() < 0.01
    assert np.abs(difference).max() < 0.02
