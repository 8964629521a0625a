"""SC[A] and SC[C]: a naive transcription, what holds of them, and that one view is plain spectral clustering."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import SpectralClustering

from conspectus import AverageSC, ConcatSC, InputError, as_views
from conspectus.metrics import adjusted_rand_index

from .test_apmc import blobs


def mean_filled(X, mask):
    return [np.where(m[:, None], x, x[m].mean(axis=0)) for x, m in zip(X, mask.T)]


def similarity(X):
    D = cdist(X, X)
    return np.exp(-(D**2) / (2 * np.median(D) ** 2))


def embedding(K, k):
    d = K.sum(axis=1)
    values, F = np.linalg.eigh(K / np.sqrt(np.outer(d, d)))
    F = F[:, ::-1][:, :k]
    return 1 - values[::-1][:k], F / np.linalg.norm(F, axis=1, keepdims=True)


def test_naive_transcription():
    X, mask, _ = blobs(60)
    whole = mean_filled(X, mask)
    for name, method, K in (
        ("A", AverageSC, np.mean([similarity(x) for x in whole], axis=0)),
        ("C", ConcatSC, similarity(np.hstack(whole))),
    ):
        model = method(3, prepare=None, random_state=0).fit(as_views(X, mask))
        values, F = embedding(K, 3)
        np.testing.assert_allclose(model.embedding_ @ model.embedding_.T, F @ F.T, atol=1e-8, err_msg=name)
    np.testing.assert_allclose(AverageSC(3, prepare=None).fit(as_views(X, mask)).eigenvalues_[0], 0, atol=1e-12)


def test_one_view_is_spectral_clustering():
    X, _, y = blobs(90, dims=(5,), share=0.0)
    model = AverageSC(3, prepare=None, random_state=0).fit(X)
    other = SpectralClustering(3, affinity="precomputed", random_state=0).fit_predict(similarity(X[0]))
    assert adjusted_rand_index(model.labels_, other) == adjusted_rand_index(model.labels_, y) == 1


def test_disconnected_blocks_are_clusters():
    X = np.repeat(np.eye(4), 10, axis=0) * 1e3
    X += np.random.default_rng(0).normal(size=X.shape) * 1e-3
    model = AverageSC(4, prepare=None, random_state=0).fit([X, X[:, :3]])
    assert adjusted_rand_index(np.repeat(np.arange(4), 10), model.labels_) == 1


@pytest.mark.parametrize("method", [AverageSC, ConcatSC])
@pytest.mark.parametrize("fill", ["mean", "knn", "alm_mc"])
def test_order_and_filling(method, fill):
    X, mask, y = blobs(90, share=0.2)
    labels = method(3, fill=fill, random_state=0).fit_predict(as_views(X, mask))
    assert adjusted_rand_index(y, labels) > 0.8
    order = np.random.default_rng(0).permutation(90)
    moved = method(3, fill=fill, random_state=0).fit_predict(as_views([x[order] for x in X], mask[order]))
    assert adjusted_rand_index(labels[order], moved) == 1


def test_refuses_with_the_bytes():
    X, mask, _ = blobs(60)
    with pytest.raises(InputError, match=r"60 samples need 0\.0 GiB \(it takes at most 50\)"):
        AverageSC(3, max_samples=50).fit(as_views(X, mask))
