"""Preparation: each step against its definition, fitted on seen rows only, repeated on new ones, in blocks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from conspectus import FIMVCVIA, FillViews, InputError, PrepareViews, as_views

RNG = np.random.default_rng(0)
X = RNG.gamma(2.0, size=(40, 12)) * np.arange(1, 13)
TEXT = sparse.random_array((40, 60), density=0.08, rng=np.random.default_rng(1), format="csr")
SEEN = np.arange(40) % 4 > 0


def prepared(prepare, data=X, seen=SEEN):
    views = as_views([data, np.ones((40, 1))], mask=np.column_stack([seen, np.ones(40, bool)]))
    wanted = [prepare, None]
    return PrepareViews(wanted).fit(views).transform(views).data(0)


ROWS = X[SEEN]
EXPECTED = {
    "l2": ROWS / np.linalg.norm(ROWS, axis=1, keepdims=True),
    "sum": ROWS / ROWS.sum(),
    "minmax": MinMaxScaler().fit_transform(ROWS),
    "clip": ROWS,
    "centre": ROWS - ROWS.mean(axis=0),
    "standard": StandardScaler().fit_transform(ROWS),
    "log1p": np.log1p(ROWS),
    "tfidf": TfidfTransformer().fit_transform(ROWS).toarray(),
    "nonnegative": ROWS,
    None: ROWS,
}


@pytest.mark.parametrize("prepare", EXPECTED)
def test_steps_are_their_definitions(prepare):
    found = prepared(prepare)
    np.testing.assert_allclose(found.toarray() if sparse.issparse(found) else found, EXPECTED[prepare], atol=1e-12)


def test_a_chain_fits_each_step_on_what_the_one_before_made():
    centred = ROWS - ROWS.mean(axis=0)
    np.testing.assert_allclose(
        prepared("centre+l2"), centred / np.linalg.norm(centred, axis=1, keepdims=True), atol=1e-12
    )
    scaled = MinMaxScaler().fit_transform(np.log1p(ROWS))
    np.testing.assert_allclose(prepared("log1p+minmax"), scaled, atol=1e-12)


def test_any_transformer_of_scikit_learn():
    found, expected = prepared(PCA(3)), PCA(3).fit_transform(ROWS)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-10)


def test_unseen_rows_play_no_part():
    other = X.copy()
    other[~SEEN] = 1e6
    np.testing.assert_array_equal(prepared("auto", other), prepared("auto"))


def test_new_rows_get_the_training_rows_statistics():
    views = as_views([X[:20]])
    fitted = PrepareViews("standard").fit(views)
    expected = StandardScaler().fit(X[:20]).transform(X[20:])
    np.testing.assert_allclose(fitted.transform([X[20:]]).data(0), expected, atol=1e-12)


@pytest.mark.parametrize("prepare", ["minmax", "standard", "auto", "centre+l2"])
def test_blocks_change_nothing(prepare):
    views = as_views([X])
    one, cut = (PrepareViews(prepare).fit(v).transform(v).data(0) for v in (views, replace(views, chunk=7)))
    np.testing.assert_allclose(one, cut, atol=1e-12)


def test_sparse_text_stays_sparse_and_equals_its_dense_twin():
    for prepare in ("l2", "auto", "nonnegative", "clip", "tfidf"):
        thin, dense = (PrepareViews(prepare).fit_transform([t]).data(0) for t in (TEXT, TEXT.toarray()))
        assert sparse.issparse(thin)
        np.testing.assert_allclose(thin.toarray(), dense.toarray() if sparse.issparse(dense) else dense, atol=1e-12)


def test_auto_on_text_is_square_root_rarity_and_unit_rows():
    counts = sparse.csr_array(np.ceil(TEXT.toarray() * 5))
    kept = counts.toarray()
    kept = kept[:, kept.std(axis=0) > 0]
    weighted = np.sqrt(kept) * np.log(1 + 40 / (kept > 0).sum(axis=0))
    length = np.linalg.norm(weighted, axis=1, keepdims=True)
    expected = weighted / np.where(length > 0, length, 1)
    model = PrepareViews("auto").fit([counts])
    np.testing.assert_allclose(model.transform([counts]).data(0).toarray(), expected, atol=1e-12)
    assert "sparse text" in model.notes_["view0"]


def test_auto_on_measurements():
    mixed = X * 10.0 ** (np.arange(12) - 6)
    scaled = (mixed - mixed.mean(axis=0)) / mixed.std(axis=0)
    unit = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    np.testing.assert_allclose(
        PrepareViews("auto").fit_transform([mixed]).data(0), unit - unit.mean(axis=0), atol=1e-10
    )
    few = X[:, :4]
    np.testing.assert_allclose(PrepareViews("auto").fit_transform([few]).data(0), few - few.mean(axis=0), atol=1e-12)


def test_constant_columns():
    with_constant = np.column_stack([X, np.full(40, 7.0)])
    np.testing.assert_allclose(
        PrepareViews("auto").fit_transform([with_constant]).data(0), PrepareViews("auto").fit_transform([X]).data(0)
    )
    np.testing.assert_array_equal(PrepareViews("auto").fit_transform([np.ones((5, 3))]).data(0), np.zeros((5, 1)))
    for prepare in ("minmax", "standard"):
        np.testing.assert_array_equal(PrepareViews(prepare).fit_transform([np.ones((5, 3))]).data(0), np.zeros((5, 3)))


def test_nonnegative_says_what_it_did():
    model = PrepareViews("nonnegative").fit({"a": X, "b": X - 20, "c": TEXT})
    assert "as it is" in model.notes_["a"]
    assert "[0, 1]" in model.notes_["b"]
    assert "unit length" in model.notes_["c"]
    assert model.transform({"a": X, "b": X - 20, "c": TEXT}).statistics(1).low.min() == 0


@pytest.mark.parametrize(
    ("prepare", "data", "says"),
    [
        ("minmx", X, ("'minmx'", "did you mean 'minmax'")),
        ("log1p", X - 20, ("view 0", "negative", "clip")),
        ({"view9": "l2"}, X, ("'view9'", "view0")),
        (["l2", "l2"], X, ("2 entries", "1 views")),
    ],
)
def test_errors(prepare, data, says):
    with pytest.raises(InputError) as caught:
        PrepareViews(prepare).fit([data])
    assert all(words in str(caught.value) for words in says), caught.value


def test_in_a_pipeline_with_new_samples():
    views = [X, np.where(SEEN[:, None], X[:, :5], np.nan)]
    pipeline = make_pipeline(PrepareViews("standard"), FIMVCVIA(3, prepare=None, random_state=0)).fit(views)
    alone = FIMVCVIA(3, prepare="standard", random_state=0).fit(views)
    np.testing.assert_array_equal(pipeline.predict(views), alone.labels_)
    np.testing.assert_array_equal(pipeline.predict([None, X[:, :5]]), alone.predict([None, X[:, :5]]))


def test_fillings():
    data = np.where(SEEN[:, None], X, np.nan)
    for fill, row in (("mean", ROWS.mean(axis=0)), ("zero", np.zeros(12))):
        filled = FillViews(fill).fit_transform([data, X]).data(0)
        np.testing.assert_allclose(filled, np.where(SEEN[:, None], X, row))
    new = FillViews("mean").fit([data, X]).transform([None, X[:3]]).data(0)
    np.testing.assert_allclose(new, np.tile(ROWS.mean(axis=0), (3, 1)))
    with pytest.raises(InputError, match=r"fill='meen'.*did you mean 'mean'"):
        FillViews("meen").fit([data, X])
