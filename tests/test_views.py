"""The door and `Views`: what comes in, what is refused and how, and that blocks and subsets change nothing."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from conspectus import FIMVCVIA, DataWarning, InputError, InputTypeError, Views, as_views
from conspectus.views.findings import findings

from .broken import BROKEN, NAN, A, B, put, table


@pytest.mark.parametrize("broken", BROKEN, ids=lambda b: b.name)
def test_errors_name_the_view_the_sample_and_the_remedy(broken):
    with pytest.raises((InputError, InputTypeError)) as caught:
        as_views(broken.make(), **broken.options)
    message = str(caught.value)
    assert "\n" not in message
    for words in broken.says:
        assert words in message, message


@pytest.mark.parametrize(
    "broken", [b for b in BROKEN if not b.options and "option" not in b.name], ids=lambda b: b.name
)
def test_fit_gives_the_same_errors(broken):
    with pytest.raises((InputError, InputTypeError, ValueError)):
        FIMVCVIA(2).fit(broken.make())


@pytest.mark.parametrize(
    ("X", "n_clusters", "says"),
    [
        ([A, B], 7, ("n_clusters=7", "6 samples")),
        ([A, None], 2, ("view 1", "no rows", "leave the view out")),
        ([A, np.full((6, 2), NAN)], 2, ("view 1", "no rows")),
    ],
)
def test_what_only_fit_refuses(X, n_clusters, says):
    with pytest.raises(InputError) as caught:
        FIMVCVIA(n_clusters).fit(X)
    assert all(words in str(caught.value) for words in says)


def test_fewer_than_one_cluster():
    with pytest.raises(ValueError, match=r"n_clusters.*\[1, inf\)"):
        FIMVCVIA(0).fit([A, B])


@pytest.mark.parametrize(
    ("new", "says"),
    [
        ({"a": A[:, :1]}, ("'a'", "1 columns", "fitted on 2")),
        ({"c": A}, ("'c'", "'a', 'b'")),
        ([A], ("'view0'", "'a', 'b'")),
        ({"a": table(A, "uvwxyz", "xz"), "b": None}, ("'a'", "lacks", "'y'")),
        ({"a": table(B, "uvwxyz", "xyz"), "b": None}, ("'a'", "unknown", "'z'")),
    ],
)
def test_predict_refuses_other_columns_and_views(new, says):
    frames = {"a": table(A, "abcdef", "xy"), "b": table(B, "abcdef", "pqr")}
    model = FIMVCVIA(2, random_state=0).fit(frames)
    with pytest.raises(InputError) as caught:
        model.predict(new)
    assert all(words in str(caught.value) for words in says), caught.value


def test_columns_of_frames_are_matched_by_name():
    frames = {"a": table(A, "abcdef", "xy"), "b": table(B, "abcdef", "pqr")}
    model = FIMVCVIA(2, random_state=0).fit(frames)
    turned = {"b": frames["b"][["r", "p", "q"]], "a": frames["a"][["y", "x"]]}
    np.testing.assert_array_equal(model.predict(turned), model.labels_)


def test_a_sample_that_no_view_has_seen_is_predicted_as_minus_one():
    model = FIMVCVIA(2, random_state=0).fit([A, B])
    with pytest.warns(DataWarning, match="1 samples are seen in no view"):
        labels = model.predict([put(A, NAN, 2), put(B, NAN, 2)])
    assert labels[2] == -1
    assert (np.delete(labels, 2) >= 0).all()


# --- containers


def rows_of(views: Views) -> list[np.ndarray]:
    """All views as arrays with NaN rows."""
    return [views.scatter(v, views.data(v), np.full((len(views.missing(v)), views.widths[v]), NAN)) for v in range(2)]


FRAMES = {
    "pandas": lambda X, ids: pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]).assign(key=ids),
    "polars": lambda X, ids: pl.DataFrame({f"c{j}": X[:, j] for j in range(X.shape[1])} | {"key": ids}),
    "pyarrow": lambda X, ids: pa.table({f"c{j}": X[:, j] for j in range(X.shape[1])} | {"key": ids}),
}


@pytest.mark.parametrize("library", FRAMES)
def test_frames_are_joined_by_a_key_in_order_of_first_appearance(library):
    first, second = FRAMES[library](A[:4], list("dbac")), FRAMES[library](B[:3], list("xba"))
    views = as_views({"gene": first, "image": second}, on="key")
    assert views.ids.tolist() == ["d", "b", "a", "c", "x"]
    assert views.names == ("gene", "image")
    assert views.columns[1] == ("c0", "c1", "c2")
    np.testing.assert_array_equal(views.where, [[0, -1], [1, 1], [2, 2], [3, -1], [-1, 0]])
    model = FIMVCVIA(2, random_state=0).fit(views)
    frame = model.to_frame()
    assert type(frame).__module__.split(".")[0] == library
    assert list(frame["id"].to_pylist() if library == "pyarrow" else frame["id"]) == views.ids.tolist()


def test_pandas_frames_are_joined_by_their_index():
    views = as_views([table(A, "abcdef"), table(A[:3], "fax")])
    assert views.ids.tolist() == list("abcdefx")
    np.testing.assert_array_equal(views.observed(1), [0, 5, 6])
    np.testing.assert_array_equal(views.data(1), A[[1, 0, 2]])


def test_frames_of_equal_length_without_ids_are_taken_row_by_row():
    views = as_views([pd.DataFrame(A), pd.DataFrame(B)])
    np.testing.assert_array_equal(views.where, np.stack([np.arange(6)] * 2, axis=1))


def test_nullable_and_boolean_columns():
    frame = pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": [True, False, True]})
    views = as_views([frame, pd.DataFrame(A[:3])], partial="drop-row")
    np.testing.assert_array_equal(views.observed(0), [0, 2])
    np.testing.assert_array_equal(views.data(0), [[1, 1], [3, 1]])


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.bool_, np.float32, np.float64, object])
def test_types_of_entries(kind):
    X = (A * 20).astype(kind)
    found = as_views([X, B]).data(0)
    assert found.dtype == (np.float32 if kind is np.float32 else np.float64)
    np.testing.assert_array_equal(found, X.astype(float))
    np.testing.assert_array_equal(found - 255, X.astype(float) - 255)  # uint8 would wrap around


def test_sparse_views_stay_sparse():
    S = sparse.coo_matrix(B * (B % 2))
    views = as_views([A, S], mask=np.array([[1, 1]] * 5 + [[1, 0]]))
    assert sparse.issparse(views.data(1))
    np.testing.assert_array_equal(views.data(1).toarray(), S.toarray()[:5])
    keyed = as_views([sparse.csr_array(A), sparse.csr_matrix(B[:2])], ids=[list("abcdef"), ["f", "z"]])
    assert keyed.ids.tolist() == list("abcdefz")


def test_memory_maps_are_read_block_by_block(tmp_path):
    for name, X in (("a", A), ("b", B)):
        np.save(tmp_path / f"{name}.npy", X)
    mapped = [np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in "ab"]
    views = as_views(mapped)
    assert all(isinstance(source, np.memmap) for source in views.sources)
    np.testing.assert_array_equal(
        FIMVCVIA(2, random_state=0).fit_predict(views), FIMVCVIA(2, random_state=0).fit_predict([A, B])
    )


@pytest.mark.parametrize(
    ("X", "n_views"),
    [
        (A, 1),
        (A.tolist(), 1),
        ([A.tolist(), B.tolist()], 2),
        ((A, None), 2),
        ({0: A, 1: B}, 2),
        (sparse.csr_matrix(A), 1),
        (sparse.dok_array(A), 1),
        (pd.DataFrame(A), 1),
        ([A], 1),
    ],
)
def test_what_counts_as_many_views(X, n_views):
    assert as_views(X).n_views == n_views


def test_array_api_arrays_stay_what_they_are():
    import array_api_strict as xp

    views = as_views([xp.asarray(A), xp.asarray(put(B, NAN, 4))])
    assert type(views.data(1)).__module__.startswith("array_api_strict")
    np.testing.assert_array_equal(views.missing(1), [4])


def test_partly_nan_rows():
    X = put(A, NAN, 2, 1)
    with_mean = as_views([X, B], partial="mean")
    assert with_mean.data(0)[2, 1] == np.delete(A[:, 1], 2).mean()
    assert np.isnan(X[2, 1])  # the input is never modified
    np.testing.assert_array_equal(as_views([X, B], partial="drop-row").missing(0), [2])


def test_zero_rows_that_stand_for_absent_samples():
    rng = np.random.default_rng(0)
    wide, narrow = rng.normal(size=(6, 10)), rng.normal(size=(6, 3))
    wide[[1, 4]] = 0
    narrow[[2, 4]] = 0
    views = as_views([wide, narrow], zero_rows="unseen")
    np.testing.assert_array_equal(views.missing(0), [1])  # sample 4 is zero everywhere, and keeps its rows
    np.testing.assert_array_equal(views.missing(1), [])  # fewer than 10 columns
    assert as_views([wide, narrow]).seen.all()


def test_kernels_are_indexed_by_samples_on_both_axes():
    K = [A @ A.T, B @ B.T]
    K[0][2], K[0][:, 2] = NAN, NAN
    views = as_views(K, square=True)
    seen = [0, 1, 3, 4, 5]
    np.testing.assert_array_equal(views.observed(0), seen)
    np.testing.assert_array_equal(views.data(0), (A @ A.T)[np.ix_(seen, seen)])
    np.testing.assert_array_equal(views[[3, 1]].data(1), (B @ B.T)[np.ix_([3, 1], [3, 1])])
    np.testing.assert_array_equal(views[np.ix_([2, 5], [1, 2, 3])].data(0), (A @ A.T)[np.ix_([5], [1, 3])])


# --- Views


@st.composite
def incomplete(draw):
    """Two or three views of a few samples, with a random presence."""
    n, V = draw(st.integers(1, 30)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    seen = rng.random((n, V)) < 0.6
    seen[np.arange(n), rng.integers(0, V, n)] = True
    return [rng.normal(size=(n, d)) for d in range(1, V + 1)], seen


@given(incomplete(), st.integers(0, 2**32 - 1))
def test_the_table_is_the_indicator_matrix(data, seed):
    X, seen = data
    views = as_views(X, mask=seen)
    H = np.random.default_rng(seed).normal(size=(len(seen), 4))
    for v in range(views.n_views):
        S = np.eye(len(seen))[:, views.observed(v)]  # S_v of the papers
        np.testing.assert_array_equal(views.gather(v, H), S.T @ H)
        np.testing.assert_array_equal(views.scatter(v, views.data(v)), S @ views.data(v))
        np.testing.assert_array_equal(views.data(v), X[v][seen[:, v]])
        sparse_scatter = views.scatter(v, sparse.csr_array(views.data(v)))
        np.testing.assert_array_equal(sparse_scatter.toarray(), S @ views.data(v))
    weights = np.arange(1.0, 1 + views.n_views)
    mean = views.average([views.gather(v, H) * (v + 1) for v in range(views.n_views)], weights)
    expected = ((seen * weights) @ weights)[:, None] * H / (seen @ weights)[:, None]
    np.testing.assert_allclose(mean, expected)


def row_sums(block, shift=0.0):
    return sum(block.scatter(v, block.data(v).sum(axis=1)) for v in range(block.n_views)) + shift


def moments(block, weight):
    return {"n": len(block), "sum": [weight[block.observed(v)] @ block.data(v) for v in range(block.n_views)]}


@given(incomplete(), st.integers(1, 9))
def test_blocks_change_nothing(data, chunk):
    from dataclasses import replace

    X, seen = data
    views = as_views(X, mask=seen)
    cut = replace(views, chunk=chunk)
    np.testing.assert_allclose(cut.map(row_sums, shift=1.0), views.map(row_sums, shift=1.0))
    weight = np.arange(float(len(views)))
    one, many = views.reduce(moments, weight), cut.reduce(moments, weight)
    assert one["n"] == many["n"] == len(views)
    for a, b in zip(one["sum"], many["sum"]):
        np.testing.assert_allclose(a, b, atol=1e-12)
    for v in range(views.n_views):
        if seen[:, v].any():
            facts, whole = cut.statistics(v), X[v][seen[:, v]]
            np.testing.assert_allclose(facts.mean, whole.mean(axis=0), atol=1e-12)
            np.testing.assert_allclose(facts.sd, whole.std(axis=0), atol=1e-12)
            np.testing.assert_array_equal([facts.low, facts.high], [whole.min(axis=0), whole.max(axis=0)])


@given(incomplete(), st.data())
def test_a_subset_is_what_the_subset_of_the_data_gives(data, draw):
    X, seen = data
    key = np.array(draw.draw(st.lists(st.integers(0, len(seen) - 1), min_size=1, max_size=8)))
    subset = as_views(X, mask=seen)[key]
    for v in range(len(X)):
        np.testing.assert_array_equal(subset.data(v), X[v][key][seen[key, v]])
    np.testing.assert_array_equal(subset.ids, key)


def test_views_are_no_array_and_no_sequence():
    views = as_views([A, B])
    with pytest.raises(TypeError, match=r"views\.data"):
        np.asarray(views)
    with pytest.raises(TypeError):
        iter(views)
    assert len(views) == 6
    assert views.shape == (6, 5)
    assert views[2:4, ...].ids.tolist() == [2, 3]
    assert views[views.seen[:, 0]].shape == (6, 5)


def test_statistics_of_sparse_views_equal_those_of_dense_ones():
    X = np.round(np.random.default_rng(0).random((30, 7)) * 3) * (np.arange(7) > 1)
    dense, thin = (as_views([x]).statistics(0) for x in (X, sparse.csr_array(X)))
    for name in ("mean", "sd", "low", "high", "nonzero"):
        np.testing.assert_allclose(getattr(dense, name), getattr(thin, name), atol=1e-12)
    assert dense.whole
    assert thin.whole
    assert dense.zero_rows == thin.zero_rows == (X == 0).all(axis=1).sum()


def test_summary_says_who_misses_what():
    text = as_views({"gene": put(A, NAN, [0, 1]), "image": put(B, NAN, 5)}).summary()
    assert "6 samples, 2 views; 3 samples (50 %) miss a view, 3 of 12 entries (25 %) are missing" in text
    assert "●○  gene  1" in text
    assert "○●  image  2" in text


# --- findings


def counts() -> np.ndarray:
    X = np.ones((30, 4))
    X[:, 1] = np.arange(30) + 1
    X[0] = 100_000
    return X


@pytest.mark.parametrize(
    ("X", "says"),
    [
        ([A, np.ones((6, 2))], ["view 1.*every column is constant"]),
        ([A, np.column_stack([B, np.ones(6)])], ["view 1.*constant columns \\(3\\)"]),
        ([A, put(B, 0, [0, 1])], ["view 1.*2 of 6 rows are all zero.*zero_rows='unseen'"]),
        ([counts(), counts() + A.sum()], ["view 0.*prepare='log1p'"]),
        ([put(A, NAN, [0, 1, 2, 3]), put(B, NAN, [4, 5])], ["view 1.*shares no sample with 'view0'"]),
    ],
)
def test_fit_warns_once_a_view_and_names_the_remedy(X, says):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        FIMVCVIA(2, random_state=0).fit(X)
    texts = [str(w.message) for w in caught if issubclass(w.category, DataWarning)]
    for pattern in says:
        assert any(re.search(pattern, text) for text in texts), texts
    assert len(texts) == len({text.split(":")[0] for text in texts})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        as_views(X)  # the door itself does not warn


def test_clean_data_have_no_findings():
    assert findings(as_views([A, B + 1])) == []
