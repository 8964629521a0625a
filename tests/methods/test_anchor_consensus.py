"""AnchorConsensus: reference arrays of every step, a dense transcription, what must hold of its graphs, its edges."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.utils.extmath import randomized_svd

from conspectus import AnchorConsensus, InputError, PrepareViews, as_views, missing
from conspectus.datasets import load_mfeat
from conspectus.errors import DataWarning
from conspectus.methods.anchors.anchor_consensus import estimator, parts, rows, spectra
from conspectus.methods.anchors.anchor_consensus.coordinates import Coordinates
from conspectus.metrics import adjusted_rand_index, clustering_accuracy
from conspectus.numerics import codes_from_distances, kmeans

from .golden import golden

SETTINGS = ["2_5", "2_12", "4_5", "4_12"]


def blobs(n=300, k=3, dims=(5, 20, 60), seed=0, share=0.3):
    """Separated clusters in several views, some rows unseen, and their classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    X = [rng.normal(size=(k, d))[y] * 8 + rng.normal(size=(n, d)) for d in dims]
    return X, missing.random_subsets(n, len(dims), share, seed=seed), y


def fitted(views, k, centres=None, settings=rows.FULL, l=1000, prepare="auto", seed=0):
    """Run the method step by step: all that it makes on the way."""
    prepared = PrepareViews(prepare).fit(views).transform(views)
    made, original = SimpleNamespace(views=prepared), estimator.consensus_anchors
    estimator.consensus_anchors = original if centres is None else lambda *_: centres
    try:
        made.map, made.Y = estimator.fit_map(prepared, k, settings, l, np.random.RandomState(seed))
    finally:
        estimator.consensus_anchors = original
    made.X = made.map.coordinates(prepared)
    made.codes = made.map.anchors.codes(made.X, prepared)
    made.first = estimator.embed(made.codes, made.map.first.R)
    made.Y0 = made.map.first(made.codes)
    made.fills = made.map.local.fills(made.Y0, prepared.seen)
    made.rows = parts.Rows(prepared, made.X, made.codes, made.fills)
    return made


def local_codes(made):
    """T of each setting."""
    W, map_ = rows.near(made.Y0, made.map.local.centres), made.map
    total = made.views.reduce(rows.sums, W, *made.codes, coordinates=map_.coordinates)
    return rows.local_means(total, map_.local.centres, map_.anchors.offsets)[2]


def filled_graphs(made):
    """A of each setting, as the operators that the method uses."""
    return [parts.filled_graph(Z, made.fills, T, 3) for Z, T in zip(made.codes, local_codes(made))]


def same_up_to_rotation(E, F, atol=1e-8):
    np.testing.assert_allclose(E @ E.T, F @ F.T, atol=atol)


def unit(A):
    length = np.linalg.norm(A, axis=1, keepdims=True)
    return A / np.where(length > 0, length, 1)


# --- reference arrays


@cache
def reference():
    """The method on the reference data, with the stored consensus anchors turned into our coordinates of stage 1."""
    stored = golden("default")
    views = as_views([stored[f"X{v}"] for v in range(3)])
    Y0 = fitted(views, 4).Y0
    R = np.linalg.lstsq(Y0, stored["Y0"], rcond=None)[0]
    np.testing.assert_allclose(R @ R.T, np.eye(7), atol=1e-4)
    return stored, fitted(views, 4, centres=stored["centres"] @ R.T)


def test_reference_what_is_seen():
    stored, made = reference()
    np.testing.assert_array_equal(made.views.seen, stored["observed"])


@pytest.mark.parametrize("v", range(3))
@pytest.mark.parametrize(("i", "t"), [(0, 2), (1, 4)])
def test_reference_coordinates(v, i, t):
    stored, made = reference()
    same_up_to_rotation(made.X[v][i], stored[f"P{v}_{t}"], atol=1e-12)


def test_reference_codes():
    stored, made = reference()
    l = len(made.map.anchors.rows[0][0])
    expected = sparse.csr_array(tuple(stored[f"Z0_2_5_{part}"] for part in ("data", "indices", "indptr")), (l, l))
    Z = made.codes[0][:, :l][made.views.observed(0)]
    np.testing.assert_allclose(Z.toarray(), expected.toarray(), atol=1e-12)


@pytest.mark.parametrize("s", range(4))
def test_reference_graphs(s):
    stored, made = reference()
    A, B, _ = made.map.parts
    first = estimator.averaged(made.codes[s], made.views.seen)
    joint = B.codes(made.X, made.views)[s]
    for name, graph in (("first", first), ("filled", filled_graphs(made)[s]), ("joint", joint)):
        np.testing.assert_allclose(spectra.walk(graph, 4)[1], stored[f"sigma_{name}_{SETTINGS[s]}"], atol=1e-9)
    for name, E in (("first", made.first), ("filled", A(made.rows)), ("joint", B(made.rows))):
        same_up_to_rotation(E[s], stored[f"E_{name}_{SETTINGS[s]}"], atol=1e-4)


def test_reference_consensus_and_labels():
    stored, made = reference()
    same_up_to_rotation(made.Y0, stored["Y0"], atol=1e-5)
    same_up_to_rotation(made.map.parts[2](made.rows)[0] / 2, stored["E_global"], atol=1e-5)
    same_up_to_rotation(made.Y, stored["Y"], atol=1e-5)
    labels = kmeans(made.Y, 4, n_init=20, seed=0)[0]
    assert adjusted_rand_index(stored["labels"], labels) == 1
    assert adjusted_rand_index(stored["y"], labels) == adjusted_rand_index(stored["y"], stored["labels"])


def test_reference_prediction_from_one_view():
    stored, made = reference()
    new = as_views([stored[f"N{v}"] for v in range(3)])
    assert (new.seen.sum(axis=1) == 1).all()
    old = PrepareViews("auto").fit(as_views([stored[f"X{v}"] for v in range(3)]))
    R = np.linalg.lstsq(made.Y, stored["Y"], rcond=None)[0]
    Y = made.map(old.transform(new)) @ R
    np.testing.assert_allclose(Y, stored["predict_one_view_embedding"], atol=1e-5)
    centres = np.stack([stored["Y"][stored["labels"] == c].mean(axis=0) for c in range(4)])
    np.testing.assert_array_equal(cdist(Y, centres).argmin(axis=1), stored["predict_one_view_labels"])


def test_all_reference_arrays_are_used():
    source = Path(__file__).read_text()
    names = {"P": "P{v}_{t}", "X": "X{v}", "N": "N{v}", "Z": "Z0_2_5_{part}", "sigma": "sigma_{name}", "E": "E_"}
    for key in golden("default"):
        stem = key.split("_")[0].rstrip("0123456789")
        assert f'"{key}"' in source or names.get(stem, "?") in source or key == "about", key


# --- a dense transcription


def dense_coordinates(X, k, t):
    """Step 1 after the preparation of dense views."""
    n, d = X.shape
    sizes = [max(1, min(max(10, u * k), d, n // 2)) for u in (2, 4)]
    A = X - X.mean(axis=0)
    _, sigma, Vt = randomized_svd(A, max(sizes), n_iter=4, n_oversamples=10, random_state=0)
    C = (A @ Vt.T * np.maximum(sigma / sigma[0], 1e-9) ** -0.75)[:, : sizes[t]]
    C = unit(C) if d >= 10 else C
    return C / np.sqrt((C**2).sum(axis=1).mean())


def dense_codes(D, s):
    """Step 3, row by row."""
    Z = np.zeros_like(D)
    s = max(1, min(s, D.shape[1] - 1))
    for i, row in enumerate(D):
        order = np.argsort(row, kind="stable")
        w = row[order[s]] - row[order[:s]]
        Z[i, order[:s]] = w / w.sum() if w.sum() > 0 else 1 / s
    return Z


def dense_embedding(B, k):
    """Step 4."""
    c = B.sum(axis=0)
    scaled = B[:, c > 1e-12] / np.sqrt(c[c > 1e-12])
    U, sigma, _ = np.linalg.svd(scaled, full_matrices=False)
    r = max(k + 3, int((sigma[: 2 * k + 3] >= 0.98).sum()))
    return unit(U[:, :r] * sigma[:r] ** 8)


def dense_consensus(Es, k):
    """Step 5."""
    A = np.hstack(Es)
    return unit(A @ np.linalg.eigh(A.T @ A)[1][:, ::-1][:, : k + 3])


def transcription(X, mask, k, centres):
    """Steps 1 to 11 as they are written, with dense matrices and loops; all samples are anchors."""
    n, V = mask.shape
    seen = [np.flatnonzero(mask[:, v]) for v in range(V)]
    coordinates = [[dense_coordinates(X[v][seen[v]], k, t) for v in range(V)] for t in range(2)]
    settings = [(t, s) for t in range(2) for s in (5, 12)]
    Z = {(t, s): [dense_codes(cdist(C, C, "sqeuclidean"), s) for C in coordinates[t]] for t, s in settings}

    def first_graph(setting):
        B = np.zeros((n, sum(map(len, seen))))
        at = np.cumsum([0, *map(len, seen)])
        for v in range(V):
            B[seen[v], at[v] : at[v + 1]] = Z[setting][v]
        return B / mask.sum(axis=1, keepdims=True)

    Y0 = dense_consensus([dense_embedding(first_graph(setting), k) for setting in settings], k)
    centres = centres(Y0)
    W = dense_codes(cdist(Y0, centres, "sqeuclidean"), 3)
    R, fill = [], []
    for v in range(V):
        h = W[seen[v]].sum(axis=0)
        good = np.flatnonzero(h > 1e-9)
        R_v = np.zeros((len(centres), len(seen[v])))
        R_v[good] = W[seen[v]][:, good].T / h[good, None]
        W_v = np.zeros((n, len(centres)))
        gaps = np.flatnonzero(~mask[:, v])
        W_v[np.ix_(gaps, good)] = dense_codes(cdist(Y0[gaps], centres[good], "sqeuclidean"), 3)
        R.append(R_v)
        fill.append(W_v)

    def completed(v, A):
        """The rows of view v: seen ones, and local means."""
        whole = fill[v] @ (R[v] @ A)
        whole[seen[v]] = A
        return whole

    def joint(setting):
        total = np.zeros((n, n))
        for v, C in enumerate(coordinates[setting[0]]):
            lengths = (C**2).sum(axis=1)
            D = lengths[:, None] + completed(v, lengths) - 2 * C @ completed(v, C).T
            total[seen[v]] += np.maximum(D, 0) / D.mean()
        return dense_codes(total / mask.sum(axis=1, keepdims=True), setting[1])

    A = [np.hstack([completed(v, Z[setting][v]) for v in range(V)]) / V for setting in settings]
    B = [joint(setting) for setting in settings]
    F = []
    for v, C in enumerate(coordinates[1]):
        U, sigma, _ = np.linalg.svd(C - C.mean(axis=0), full_matrices=False)
        F.append(completed(v, U[:, : min(k, int((sigma > 1e-6 * sigma[0]).sum()))]))
    U, sigma, _ = np.linalg.svd(np.hstack(F), full_matrices=False)
    G = unit(U[:, : min(k + 3, int((sigma > 1e-6 * sigma[0]).sum()))])
    E_A, E_B = ([dense_embedding(graph, k) for graph in graphs] for graphs in (A, B))
    return SimpleNamespace(Y0=Y0, A=A, E_A=E_A, E_B=E_B, G=G, Y=dense_consensus([*E_A, *E_B, 2 * G], k))


def test_dense_transcription_on_60_samples():
    rng = np.random.default_rng(5)
    y = np.arange(60) % 4
    X = [rng.normal(size=(4, d))[y] * 2 + rng.normal(size=(60, d)) for d in (6, 12, 15)]
    mask = missing.random_subsets(60, 3, 0.5, seed=5)
    made = fitted(as_views(X, mask), 4, prepare=None)
    # Singular vectors are known up to a rotation: ours are turned into those of the transcription.
    turn = {}

    def centres(Y0):
        turn["R"] = np.linalg.lstsq(made.Y0, Y0, rcond=None)[0]
        return made.map.local.centres @ turn["R"]

    dense = transcription(X, mask, 4, centres)
    same_up_to_rotation(made.Y0, dense.Y0, atol=1e-10)
    filled, joint, whole = made.map.parts
    for graph, A in zip(filled_graphs(made), dense.A):
        np.testing.assert_allclose(graph.dot(np.eye(A.shape[1])), A, atol=1e-10)
    for ours, theirs in zip(filled(made.rows), dense.E_A):
        same_up_to_rotation(ours, theirs, atol=1e-10)
    for ours, theirs in zip(joint(made.rows), dense.E_B):
        same_up_to_rotation(ours, theirs, atol=1e-9)
    same_up_to_rotation(whole(made.rows)[0] / 2, dense.G, atol=1e-10)
    same_up_to_rotation(made.Y, dense.Y, atol=1e-9)


# --- what must hold


@cache
def on_blobs():
    X, mask, _ = blobs(120, dims=(5, 20, 30), share=0.5)
    return fitted(as_views(X, mask), 3)


def test_codes_and_fills():
    made = on_blobs()
    for Z, s in zip(made.codes, (5, 12, 5, 12)):
        for v, (a, b) in enumerate(zip(made.map.anchors.offsets, made.map.anchors.offsets[1:])):
            block = Z[:, a:b].toarray()
            assert (block >= 0).all()
            assert ((block > 0).sum(axis=1) <= s).all()
            np.testing.assert_allclose(block.sum(axis=1), made.views.seen[:, v], atol=1e-12)
    for v, W in enumerate(parts.split_columns(made.fills, 3)):
        np.testing.assert_allclose(W.sum(axis=1), ~made.views.seen[:, v], atol=1e-12)
        assert not W.toarray()[:, ~made.map.local.good[v]].any()


def test_filled_graphs_as_operators_are_the_dense_ones():
    made = on_blobs()
    W = [W_v.toarray() for W_v in parts.split_columns(made.fills, 3)]
    offsets, m = made.map.anchors.offsets, len(made.map.local.centres)
    for graph, Z, T in zip(filled_graphs(made), made.codes, local_codes(made)):
        T_v = [T.toarray()[v * m : (v + 1) * m, a:b] for v, (a, b) in enumerate(pairwise(offsets))]
        expected = (Z.toarray() + np.hstack([W_v @ t for W_v, t in zip(W, T_v)])) / 3
        dense = graph.dot(np.eye(graph.shape[1]))
        np.testing.assert_allclose(dense, expected, atol=1e-12)
        np.testing.assert_allclose(graph.tdot(np.eye(graph.shape[0])).T, expected, atol=1e-12)
        np.testing.assert_allclose(graph.gram(np.eye(graph.shape[1])), expected.T @ expected, atol=1e-12)
        for a, b in pairwise(offsets):
            np.testing.assert_allclose(dense[:, a:b].sum(axis=1), 1 / 3, atol=1e-12)


def test_spectra_of_the_graphs():
    made = on_blobs()
    joint = made.map.parts[1].codes(made.X, made.views)
    first = [estimator.averaged(Z, made.views.seen) for Z in made.codes]
    for graph in [*first, *filled_graphs(made), *joint]:
        R, sigma = spectra.walk(graph, 3)
        n, l = graph.shape
        dense = graph.dot(np.eye(l)) if hasattr(graph, "dot") else graph
        np.testing.assert_allclose(np.asarray(dense.sum(axis=1)).ravel(), 1)
        assert sigma[0] == pytest.approx(1)
        assert ((sigma >= 0) & (sigma <= 1)).all()
        U = (dense @ R)[:, sigma > 1 - 1e-9]  # the constant is in their span
        np.testing.assert_allclose(U @ np.linalg.lstsq(U, np.ones(n), rcond=None)[0], 1, atol=1e-6)


def test_complete_views_need_no_fills():
    X, _, _ = blobs(80, dims=(5, 12))
    made = fitted(as_views(X), 3)
    first = [estimator.averaged(Z, made.views.seen).toarray() for Z in made.codes]
    graphs = [parts.filled_graph(Z, made.fills, T, 2) for Z, T in zip(made.codes, local_codes(made))]
    for graph, plain in zip(graphs, first):
        np.testing.assert_allclose(graph.dot(np.eye(plain.shape[1])), plain, atol=1e-12)
    for E, F in zip(made.map.parts[0](made.rows), made.first):
        same_up_to_rotation(E, F, atol=1e-6)


@pytest.mark.parametrize("c", [2, 5, 9, 12])
def test_a_graph_of_c_parts_has_the_singular_value_1_c_times(c):
    rng = np.random.default_rng(c)
    blocks = [codes_from_distances(rng.random((30, 12)), [4])[0] for _ in range(c)]
    B = sparse.csr_array(sparse.block_diag(blocks, format="csr"))
    wanted = min(c, 2 * 3 + 3)
    # The same graph as a chain, whose components nobody looks up.
    hidden = parts.filled_graph(B, sparse.csr_array((30 * c, 1)), sparse.csr_array((1, 12 * c)), 1)
    for graph in (B, hidden):
        sigma = spectra.walk(graph, 3)[1]
        assert (sigma > 1 - 1e-9).sum() == wanted
        assert len(sigma) >= wanted


def test_rows_of_the_embedding_are_unit():
    np.testing.assert_allclose(np.linalg.norm(on_blobs().Y, axis=1), 1)
    np.testing.assert_allclose(np.linalg.norm(on_blobs().map(on_blobs().views), axis=1), 1)


def test_one_part_left_out_is_one_line():
    X, mask, y = blobs(150)
    views = as_views(X, mask)
    for kept in ((parts.Filled,), (parts.Joint,), (parts.Global,), (parts.Filled, parts.Joint)):
        Y = estimator.fit_map(views, 3, rows.FULL, 1000, np.random.RandomState(0), kept)[1]
        assert adjusted_rand_index(y, kmeans(Y, 3, n_init=20)[0]) == 1


# --- the estimator


@pytest.mark.parametrize("effort", ["full", "fast"])
def test_blobs_are_found_and_predicted_from_each_view(effort):
    X, mask, y = blobs()
    model = AnchorConsensus(3, effort=effort, random_state=0).fit(as_views(X, mask))
    assert adjusted_rand_index(y, model.labels_) == 1
    np.testing.assert_array_equal(model.predict(as_views(X, mask)), model.labels_)
    for v in range(3):
        alone = [x if u == v else None for u, x in enumerate(X)]
        assert adjusted_rand_index(y, model.predict(alone)) == 1


def test_fewer_anchors_than_rows():
    X, mask, y = blobs()
    model = AnchorConsensus(3, n_anchors=40, random_state=0).fit(as_views(X, mask))
    assert [len(sized[0]) for sized in model._rule.map.anchors.rows] == [40, 40, 40]
    assert adjusted_rand_index(y, model.labels_) == 1
    np.testing.assert_array_equal(model.predict(as_views(X, mask)), model.labels_)


@pytest.mark.parametrize("seed", range(3))
def test_order_of_samples_and_views_and_units_do_not_matter(seed):
    X, mask, _ = blobs(seed=seed)
    labels = AnchorConsensus(3, random_state=0).fit_predict(as_views(X, mask))
    order = np.random.default_rng(seed).permutation(len(mask))
    others = {
        "samples": ([x[order] for x in X], mask[order], labels[order]),
        "views": (X[::-1], mask[:, ::-1], labels),
        "scale": ([7 * x for x in X], mask, labels),
        "origin": ([x + 3 for x in X], mask, labels),
        "single": ([x.astype(np.float32) for x in X], mask, labels),
    }
    for name, (Z, seen, expected) in others.items():
        found = AnchorConsensus(3, random_state=0).fit_predict(as_views(Z, seen))
        assert adjusted_rand_index(expected, found) == 1, name


def test_blocks_of_another_size_give_the_same():
    X, mask, _ = blobs(250)
    views = as_views(X, mask)
    whole = AnchorConsensus(3, random_state=0).fit(views)
    cut = AnchorConsensus(3, random_state=0).fit(replace(views, chunk=64))
    np.testing.assert_array_equal(whole.labels_, cut.labels_)
    same_up_to_rotation(whole.embedding_, cut.embedding_, atol=1e-5)
    np.testing.assert_array_equal(cut.predict(views), cut.labels_)


def test_wide_views_take_passes_instead_of_their_gram_matrix():
    X, mask, y = blobs(150, dims=(600, 20))
    views = as_views(X, mask)
    model = AnchorConsensus(3, random_state=0).fit(views)
    assert adjusted_rand_index(y, model.labels_) == 1
    own = PrepareViews("auto").fit(views).transform(views)
    A = own.only([0]).rows(own.observed(0)).data(0)
    A = A - A.mean(axis=0)
    C = Coordinates.fit(own, [40]).views[0]
    exact = np.linalg.svd(A, full_matrices=False)[2][:2]  # three clusters: the gap is behind two directions
    inside = np.linalg.lstsq(C.V, exact.T, rcond=None)[0]
    np.testing.assert_allclose(C.V @ inside, exact.T, atol=1e-3)


@pytest.mark.filterwarnings("ignore:.*constant columns:conspectus.errors.DataWarning")
def test_sparse_counts_are_what_dense_ones_are():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    words = rng.poisson(rng.gamma(0.04, 3, size=(3, 200))[y])
    X = [words.astype(float), rng.normal(size=(3, 8))[y] * 8 + rng.normal(size=(120, 8))]
    mask = missing.random_subsets(120, 2, 0.3, seed=0)
    dense = AnchorConsensus(3, random_state=0).fit(as_views(X, mask))
    thin = AnchorConsensus(3, random_state=0).fit(as_views([sparse.csr_array(X[0]), X[1]], mask))
    assert "sparse text" in dense.preparation_.notes_["view0"]
    np.testing.assert_array_equal(dense.labels_, thin.labels_)
    same_up_to_rotation(dense.embedding_, thin.embedding_, atol=1e-5)
    assert adjusted_rand_index(y, dense.labels_) == 1


def test_zero_rows_are_read_as_unseen_and_counted():
    X, mask, y = blobs(150, dims=(12, 20, 5))
    blank = [np.where(mask[:, [v]], x, 0.0) for v, x in enumerate(X)]
    blank[2] = X[2]  # five columns: zeros there would be data
    mask[:, 2] = True
    model = AnchorConsensus(3, random_state=0).fit(blank)
    expected = AnchorConsensus(3, random_state=0).fit(as_views(X, mask))
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.views_seen_, mask)
    assert model.zero_rows_ == {f"view{v}": int((~mask[:, v]).sum()) for v in range(3)}
    np.testing.assert_array_equal(model.predict(blank), model.labels_)
    with pytest.warns(DataWarning, match="rows are all zero"):
        kept = AnchorConsensus(3, zero_rows="keep", random_state=0).fit(blank)
    assert kept.views_seen_.all()
    assert kept.zero_rows_ == dict.fromkeys(("view0", "view1", "view2"), 0)


def test_confidence_falls_between_clusters():
    X, mask, y = blobs(200, dims=(5, 12))
    model = AnchorConsensus(3, random_state=0).fit(as_views(X, mask))
    middle = [(x[y == 0].mean(axis=0) + x[y == 1].mean(axis=0))[None] / 2 for x in X]
    assert model.confidence(middle)[0] < np.median(model.confidence())


# --- edges


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 13, 30])
def test_few_samples(n):
    rng = np.random.default_rng(n)
    X, mask = [rng.normal(size=(n, d)) for d in (1, 4, 12)], missing.random_subsets(n, 3, 0.4, seed=1)
    mask[:2] = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        for k in sorted({1, 2, n - 1, n}):
            model = AnchorConsensus(k, random_state=0).fit(as_views(X, mask))
            assert set(model.labels_) <= set(range(k))
            assert np.isfinite(model.embedding_).all()
            np.testing.assert_array_equal(model.predict(as_views(X, mask)), model.labels_)


def test_one_cluster():
    X, mask, _ = blobs(50)
    model = AnchorConsensus(1, random_state=0).fit(as_views(X, mask))
    assert set(model.labels_) == {0}
    assert (model.confidence() == 1).all()


def test_one_complete_view():
    X, _, y = blobs(100, dims=(6, 2))
    assert adjusted_rand_index(y, AnchorConsensus(3, random_state=0).fit_predict(X[0])) == 1


def test_odd_views():
    X, mask, y = blobs(150, dims=(6, 12, 12, 1))
    mask[:, :2] = True
    X[1][:, 3] = 4.0  # a constant column
    X[3][:] = 2.5  # a constant view
    mask[:, 2] = np.arange(150) == 7  # one row
    with pytest.warns(DataWarning, match="constant"):
        model = AnchorConsensus(3, random_state=0).fit(as_views(X, mask))
    assert np.isfinite(model.embedding_).all()
    assert adjusted_rand_index(y, model.labels_) == 1
    np.testing.assert_array_equal(model.predict(as_views(X, mask)), model.labels_)


def test_an_outlier_and_many_copies():
    X, mask, y = blobs(150, dims=(6, 12))
    mask[0] = True
    far = [x.copy() for x in X]
    far[1][0] = 1e9
    labels = AnchorConsensus(3, random_state=0).fit_predict(as_views(far, mask))
    assert adjusted_rand_index(y[1:], labels[1:]) > 0.5
    copies = [np.repeat(x[:6], 25, axis=0) for x in X]
    model = AnchorConsensus(3, random_state=0).fit(as_views(copies, np.repeat(mask[:6], 25, axis=0)))
    assert np.isfinite(model.embedding_).all()
    np.testing.assert_array_equal(model.predict(copies), model.predict([x[:6] for x in X]).repeat(25))


@pytest.mark.parametrize("k", [0, 51])
def test_more_clusters_than_samples_or_none_are_refused(k):
    X, mask, _ = blobs(50)
    with pytest.raises(ValueError, match="n_clusters"):
        AnchorConsensus(k).fit(as_views(X, mask))


def test_samples_and_views_without_rows_are_refused():
    X, mask, _ = blobs(50)
    lost = mask.copy()
    lost[3] = False
    with pytest.raises(InputError, match="seen in no view"):
        AnchorConsensus(3).fit(as_views(X, lost))
    with pytest.raises(InputError, match="has no rows"):
        AnchorConsensus(3).fit([*X, None])


def two_sides(shared, n=200, k=3):
    """Two views, each of which alone has seen half of the samples; `shared` samples are in both."""
    X, _, y = blobs(n, k=k, dims=(6, 8))
    mask = np.zeros((n, 2), dtype=bool)
    mask[: (n + shared) // 2, 0] = mask[(n - shared) // 2 :, 1] = True
    return as_views(X, mask, names=["gene", "image"]), y


def test_few_shared_samples_are_told():
    for shared, told in ((0, "shares no sample"), (10, "'gene' and 'image' share only 10 samples.*EEIMVC"), (12, None)):
        views, y = two_sides(shared)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            labels = AnchorConsensus(3, random_state=0).fit_predict(views)
        texts = [str(w.message) for w in caught]
        assert len(texts) == (told is not None)
        if told:
            with pytest.warns(DataWarning, match=told):
                AnchorConsensus(3, random_state=0).fit(views)
        if shared:
            assert adjusted_rand_index(y, labels) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "expected"), [(4, 0.965), (5, 0.97)])
def test_digits_with_half_of_the_samples_incomplete(seed, expected):
    digits = load_mfeat()
    X = list(digits.X.values())
    rng = np.random.default_rng(1000 + seed)
    mask = np.ones((2000, 6), dtype=bool)
    for i in rng.permutation(2000)[:1000]:
        drawn = rng.random(6) < 0.5
        while not 0 < drawn.sum() < 6:
            drawn = rng.random(6) < 0.5
        mask[i] = drawn
    views = as_views(X, mask)
    model = AnchorConsensus(10, random_state=seed).fit(views)
    assert clustering_accuracy(digits.y, model.labels_) > expected
    np.testing.assert_array_equal(model.predict(views), model.labels_)
    assert clustering_accuracy(digits.y, model.predict([None, X[1], None, None, None, None])) > 0.9
