"""APMC: the released code's numbers, a naive transcription, and what must hold of anchor graphs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from conspectus import APMC, InputError, as_views, missing
from conspectus.datasets import load_mfeat
from conspectus.methods.anchors.apmc import pair_weights, valid_pairs
from conspectus.metrics import adjusted_rand_index, clustering_accuracy, nmi

from .golden import anchor_views, golden

PAIRS = [(0, 1), (0, 2), (1, 2)]


def blobs(n=120, k=3, dims=(5, 8, 6), seed=0, share=0.4):
    """Separated clusters in several views, some rows unseen, and their classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    X = [rng.normal(size=(k, d))[y] * 8 + rng.normal(size=(n, d)) for d in dims]
    return X, missing.random_subsets(n, len(dims), 1 - share, seed=seed), y


def dense_codes(X, U, m):
    """Equation (1) as printed, with 4 mean D for sigma^2."""
    D = cdist(X, U, "sqeuclidean")
    Z = np.zeros_like(D)
    for i, row in enumerate(D):
        near = np.argsort(row, kind="stable")[: min(m, len(row))]
        Z[i, near] = np.exp(-row[near] / (4 * D.mean()))
    return Z / Z.sum(axis=1, keepdims=True)


def dense_pair(X, mask, a, b, m):
    """Z and S of one pair, and the samples that it covers."""
    rows = np.flatnonzero(mask[:, a] | mask[:, b])
    common = np.flatnonzero(mask[:, a] & mask[:, b])
    Z = np.zeros((len(mask), len(common)))
    for v in (a, b):
        seen = np.flatnonzero(mask[:, v])
        Z[seen] += dense_codes(X[v][seen], X[v][common], m)
    Z = Z[rows] / mask[rows][:, [a, b]].sum(axis=1, keepdims=True)
    lam = Z.sum(axis=0)
    Z, lam = Z[:, lam > 0], lam[lam > 0]
    return rows, Z, Z / lam @ Z.T


def dense_similarity(X, mask, m):
    """S of all views, as the paper writes it."""
    S, T = np.zeros((len(mask), len(mask))), np.zeros((len(mask), len(mask)))
    for a, b in combinations(range(mask.shape[1]), 2):
        rows, _, S_q = dense_pair(X, mask, a, b, m)
        S[np.ix_(rows, rows)] += S_q
        T[np.ix_(rows, rows)] += 1
    return S / np.maximum(T, 1)


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def same_up_to_rotation(F, G):
    np.testing.assert_allclose(F @ F.T, G @ G.T, atol=1e-8)


@pytest.mark.parametrize("pair", PAIRS)
def test_two_views_equal_the_released_code(pair):
    stored, name = golden("anchors"), f"oct_apmc_{pair[0]}{pair[1]}"
    views, rows = anchor_views(pair)
    model = APMC(4, n_neighbors=5, n_anchors="all", random_state=0).fit(views)
    graph, prepared = model._rule.map.graph, model.preparation_.transform(views)
    Z = graph.codes(prepared).toarray()
    order = np.searchsorted(rows, stored[f"{name}_rows"])  # the original sorts the samples: both, only a, only b
    np.testing.assert_allclose(Z[order], stored[f"{name}_Z"], atol=1e-14)
    np.testing.assert_array_equal(rows[views.complete], stored[f"{name}_anchors"])
    S = Z / Z.sum(axis=0) @ Z.T
    np.testing.assert_allclose(S[np.ix_(order, order)], stored[f"{name}_S"], atol=1e-14)
    np.testing.assert_allclose(model.eigenvalues_, stored[f"{name}_theta"], atol=1e-12)
    F = Z @ model._rule.map.R
    np.testing.assert_allclose((F @ F.T)[np.ix_(order, order)], stored[f"{name}_FFt"], atol=1e-10)


def test_three_views_equal_the_released_code():
    views, _ = anchor_views()
    X = [unit(golden("anchors")[f"X{v}"]) for v in range(3)]
    S = dense_similarity(X, views.seen, 5)
    np.testing.assert_allclose(S, golden("anchors")["oct_apmc3_S"], atol=1e-14)
    model = APMC(4, n_neighbors=5, n_anchors="all", random_state=0).fit(views)
    L = np.diag(S.sum(axis=1)) - S
    values, F = np.linalg.eigh(L)
    np.testing.assert_allclose(model.eigenvalues_, values[:4], atol=1e-10)
    same_up_to_rotation(model.embedding_, unit(F[:, :4]))


@pytest.mark.parametrize("n_views", [2, 3, 4])
def test_naive_transcription_on_30_samples(n_views):
    X, mask, _ = blobs(30, dims=(5, 8, 6, 4)[:n_views], seed=3)
    model = APMC(3, n_neighbors=4, prepare=None, random_state=0).fit(as_views(X, mask))
    if n_views == 2:
        rows, Z, S = dense_pair(X, mask, 0, 1, 4)
        values, F = np.linalg.eigh(S)
        F = F[:, ::-1][:, :3]
    else:
        S = dense_similarity(X, mask, 4)
        F = np.linalg.eigh(np.diag(S.sum(axis=1)) - S)[1][:, :3]
    same_up_to_rotation(model.embedding_, unit(F))


def test_what_holds_of_the_graph_of_two_views():
    X, mask, _ = blobs(80, dims=(5, 8), seed=1)
    views = as_views(X, mask)
    model = APMC(3, n_neighbors=4, random_state=0).fit(views)
    Z = model._rule.map.graph.codes(model.preparation_.transform(views)).toarray()
    assert (Z >= 0).all()
    assert ((Z > 0).sum(axis=1) <= 8).all()
    np.testing.assert_allclose(Z.sum(axis=1), 1)
    lam = Z.sum(axis=0)
    S = (Z[:, lam > 0] / lam[lam > 0]) @ Z[:, lam > 0].T
    np.testing.assert_allclose(S.sum(axis=1), 1)
    values = np.linalg.eigvalsh(S)
    assert values.min() > -1e-12
    assert model.eigenvalues_[0] == pytest.approx(1)


def test_degrees_and_pair_counts_of_many_views():
    X, mask, _ = blobs(60, dims=(5, 8, 6, 4), seed=2)
    views = as_views(X, mask)
    graphs = APMC(3, random_state=0).fit(views)._rule.map.graphs
    patterns = views.patterns[0]
    W = pair_weights(patterns, patterns, graphs)

    def choose_2(x):
        return x * (x - 1) // 2

    for g, h in np.ndindex(W.shape):
        sizes = patterns[g].sum(), patterns[h].sum(), (patterns[g] | patterns[h]).sum()
        T = choose_2(4) - choose_2(4 - sizes[0]) - choose_2(4 - sizes[1]) + choose_2(4 - sizes[2])
        assert W[g, h] == pytest.approx(1 / T if T else 0)
    S = dense_similarity([unit(x) for x in X], mask, 12)
    assert (S.sum(axis=1) >= 1 - 1e-12).all()


@pytest.mark.parametrize("n_views", [1, 2, 3])
def test_blobs_are_found_and_predicted_from_any_views(n_views):
    X, mask, y = blobs(150, dims=(5, 8, 6)[:n_views], share=0.0 if n_views == 1 else 0.5)
    model = APMC(3, random_state=0).fit(as_views(X, mask))
    assert adjusted_rand_index(y, model.labels_) == 1
    np.testing.assert_array_equal(model.predict(as_views(X, mask)), model.labels_)
    for v in range(n_views):
        alone = [x if u == v else None for u, x in enumerate(X)]
        assert adjusted_rand_index(y, model.predict(alone)) == 1


def test_order_of_samples_and_views_and_scale_of_a_view_do_not_matter():
    X, mask, y = blobs(100)
    labels = APMC(3, prepare=None, random_state=0).fit_predict(as_views(X, mask))
    order = np.random.default_rng(0).permutation(100)
    moved = APMC(3, prepare=None, random_state=0).fit_predict(as_views([x[order] for x in X], mask[order]))
    assert adjusted_rand_index(labels[order], moved) == 1
    turned = APMC(3, prepare=None, random_state=0).fit_predict(as_views(X[::-1], mask[:, ::-1]))
    assert adjusted_rand_index(labels, turned) == 1
    other = [X[0] * 1e3, X[1] + 5, X[2]]
    np.testing.assert_array_equal(APMC(3, prepare=None, random_state=0).fit_predict(as_views(other, mask)), labels)


def test_content_of_unseen_rows_is_never_read():
    X, mask, _ = blobs(100)
    labels = APMC(3, random_state=0).fit_predict(as_views(X, mask))
    for junk in (np.nan, np.inf, 1e300):
        other = [np.where(mask[:, [v]], x, junk) for v, x in enumerate(X)]
        np.testing.assert_array_equal(APMC(3, random_state=0).fit_predict(as_views(other, mask)), labels)


def test_precomputed_distances_give_what_rows_give():
    X, mask, _ = blobs(90, dims=(5, 8))
    D = [cdist(x, x, "sqeuclidean") for x in X]
    rows = APMC(3, prepare=None, random_state=0).fit(as_views(X, mask))
    distances = APMC(3, metric="precomputed", random_state=0).fit(as_views(D, mask, square=True))
    same_up_to_rotation(distances.embedding_, rows.embedding_)
    new = [x[:20] + 0.01 for x in X]
    crossed = [cdist(n, x, "sqeuclidean") for n, x in zip(new, X)]
    for v in range(2):  # entries of training samples that the view has not seen are never read
        crossed[v][:, ~mask[:, v]] = np.nan
    np.testing.assert_array_equal(distances.predict(crossed), rows.predict(new))


def test_chi_squared_distances():
    rng = np.random.default_rng(0)
    H = [rng.dirichlet(np.ones(6), size=40) for _ in range(2)]
    chi2 = [((h[:, None] - h) ** 2 / (h[:, None] + h)).sum(axis=2) for h in H]
    direct = APMC(3, metric="chi2", prepare=None, random_state=0).fit(H)
    given = APMC(3, metric="precomputed", random_state=0).fit(chi2)
    same_up_to_rotation(direct.embedding_, given.embedding_)


def test_fewer_anchors_are_paired_centroids():
    X, mask, y = blobs(200, dims=(5, 8))
    model = APMC(3, n_anchors=20, random_state=0).fit(as_views(X, mask))
    assert model.n_anchors_ == [20]
    assert adjusted_rand_index(y, model.labels_) == 1


@pytest.mark.filterwarnings("ignore::conspectus.errors.DataWarning")
def test_views_that_nothing_connects_are_refused_by_name():
    X, mask, _ = blobs(40, dims=(5, 8, 4, 6))
    mask[:20], mask[20:] = (True, True, False, False), (False, False, True, True)
    with pytest.raises(InputError, match=r"'a', 'b' share none with 'c', 'd'.*EEIMVC"):
        APMC(3).fit(as_views(X, mask, names=list("abcd")))
    mask = mask[:, [0, 2]]
    with pytest.raises(InputError, match=r"samples that several views have seen.*EEIMVC"):
        APMC(3).fit(as_views(X[:2], mask))


def test_pairs_without_common_samples_are_dropped():
    X, mask, y = blobs(90)
    mask[:45], mask[45:] = (True, True, False), (False, True, True)
    views = as_views(X, mask)
    assert valid_pairs(views) == [(0, 1), (1, 2)]
    assert adjusted_rand_index(y, APMC(3, random_state=0).fit_predict(views)) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prepare", "m", "rate", "acc", "information"),
    [
        ("minmax", 8, 0.1, 79.9, 80.0),
        ("minmax", 8, 0.5, 79.0, 76.7),
        ("minmax", 8, 0.9, 79.4, 66.9),
        ("minmax+l2", 12, 0.5, 77.5, 74.0),
        ("minmax+l2", 12, 0.9, 77.4, 64.1),
    ],
)
def test_digits_score_as_an_independent_implementation_did(prepare, m, rate, acc, information):
    digits = load_mfeat()
    X = [digits.X["fou"], digits.X["fac"]]
    scores = []
    for seed in range(5):
        views = as_views(X, missing.paired(2000, 2, rate, seed))
        model = APMC(10, n_neighbors=m, n_anchors="all", prepare=prepare, random_state=seed).fit(views)
        scores.append((100 * clustering_accuracy(digits.y, model.labels_), 100 * nmi(digits.y, model.labels_)))
    np.testing.assert_allclose(np.mean(scores, axis=0), (acc, information), atol=0.5)
