"""Fillings: what they put where nothing was seen, for training samples and for new ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from conspectus import Concatenated, Filled, FillViews, InputError, as_views, missing
from conspectus.fill import FILLS
from conspectus.fill.fillers import nearest_rows

ALL = pytest.mark.parametrize("fill", FILLS)


def low_rank(n=80, dims=(9, 12, 7), rank=3, seed=0, share=0.4):
    """Views of rank 3 side by side, and a mask."""
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(n, rank))
    X = [U @ rng.normal(size=(rank, d)) for d in dims]
    return X, missing.random_subsets(n, len(dims), share, seed=seed)


@ALL
def test_what_was_seen_stays_and_the_rest_is_finite(fill):
    X, mask = low_rank()
    filler = FillViews(fill)
    for complete in (filler.fit_transform(as_views(X, mask)), filler.transform(as_views(X, mask))):
        assert complete.seen.all()
        for v, x in enumerate(X):
            data = complete.data(v)
            np.testing.assert_array_equal(data[mask[:, v]], x[mask[:, v]])
            assert np.isfinite(data).all()


@ALL
def test_complete_data_are_returned_as_they_are(fill):
    X, _ = low_rank()
    complete = FillViews(fill).fit_transform(X)
    for v, x in enumerate(X):
        np.testing.assert_array_equal(complete.data(v), x)


@ALL
def test_units_of_a_view_do_not_matter(fill):
    X, mask = low_rank()
    units = (1e-3, 1.0, 1e4)
    one = FillViews(fill).fit_transform(as_views(X, mask))
    other = FillViews(fill).fit_transform(as_views([x * u for x, u in zip(X, units)], mask))
    for v, unit in enumerate(units):
        np.testing.assert_allclose(other.data(v), one.data(v) * unit, rtol=1e-6, atol=1e-9 * unit)


@ALL
def test_nonnegative_views_stay_so_and_new_samples_are_filled_from_any_views(fill):
    X, mask = low_rank()
    X = [np.abs(x) for x in X]
    filler = FillViews(fill).fit(as_views(X, mask))
    complete = FillViews(fill).fit_transform(as_views(X, mask))
    assert min(complete.data(v).min() for v in range(3)) >= 0
    for v in range(3):
        new = filler.transform({v: X[v][:5]})
        assert len(new) == 5
        assert new.seen.all()
        assert min(new.data(u).min() for u in range(3)) >= 0


@pytest.mark.parametrize(("fill", "own", "new"), [("alm_mc", 0.3, 0.05), ("alm_rpca", 1.01, 0.4), ("knn", 0.55, 0.55)])
def test_what_a_low_rank_says_is_found(fill, own, new):
    X, mask = low_rank(n=200, share=0.3)
    complete = FillViews(fill).fit_transform(as_views(X, mask))
    again = FillViews(fill).fit(as_views(X, mask)).transform(as_views(X, mask))
    for found, most in ((complete, own), (again, new)):
        error = np.concatenate([(found.data(v) - X[v])[~mask[:, v]].ravel() for v in range(3)])
        size = np.concatenate([X[v][~mask[:, v]].ravel() for v in range(3)])
        assert np.linalg.norm(error) < most * np.linalg.norm(size)


def test_nearest_rows_are_a_naive_mean():
    X, mask = low_rank(n=40)
    views = as_views(X, mask)
    scale = [np.mean([np.sum((a - b) ** 2) for a in x[m] for b in x[m]]) for x, m in zip(X, mask.T)]
    complete = FillViews("knn", n_neighbors=4).fit_transform(views)
    for v in range(3):
        for i in np.flatnonzero(~mask[:, v]):
            distances = {}
            for j in np.flatnonzero(mask[:, v]):
                both = np.flatnonzero(mask[i] & mask[j])
                if len(both):
                    distances[j] = np.mean([np.sum((X[u][i] - X[u][j]) ** 2) / scale[u] for u in both])
            near = sorted(distances, key=distances.get)[:4]
            np.testing.assert_allclose(complete.data(v)[i], X[v][near].mean(axis=0), atol=1e-10)


def test_samples_that_nothing_is_comparable_with_get_the_mean():
    X = [np.arange(12.0).reshape(6, 2), np.arange(18.0).reshape(6, 3) ** 2]
    mask = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]], dtype=bool)
    complete = FillViews("knn").fit_transform(as_views(X, mask))
    np.testing.assert_allclose(complete.data(1)[:3], np.tile(X[1][3:].mean(axis=0), (3, 1)))


def test_sparse_rows_stay_sparse():
    X, mask = low_rank()
    X = [sparse.csr_array(np.where(x > 1, x, 0)) for x in X]
    filler, _ = nearest_rows(as_views(X, mask), 3)
    assert sparse.issparse(filler(as_views(X, mask), 0))
    dense = FillViews("knn", n_neighbors=3).fit_transform(as_views([x.toarray() for x in X], mask))
    complete = FillViews("knn", n_neighbors=3).fit_transform(as_views(X, mask))
    np.testing.assert_allclose(complete.data(0).toarray(), dense.data(0), atol=1e-12)
    assert sparse.issparse(complete.data(0))


@ALL
def test_content_of_unseen_rows_is_never_read(fill):
    X, mask = low_rank(n=40)
    one = FillViews(fill).fit_transform(as_views(X, mask))
    other = FillViews(fill).fit_transform(as_views([np.where(mask[:, [v]], x, np.nan) for v, x in enumerate(X)], mask))
    for v in range(3):
        np.testing.assert_array_equal(one.data(v), other.data(v))


@ALL
@pytest.mark.parametrize("wrapper", [Concatenated, Filled])
def test_behind_a_wrapper(fill, wrapper):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = [rng.normal(size=(3, d))[y] * 9 + rng.normal(size=(60, d)) for d in (5, 6)]
    mask = missing.random_subsets(60, 2, 0.3, seed=0)
    model = wrapper(fill=FillViews(fill, n_neighbors=3), random_state=0).fit(as_views(X, mask))
    assert model.predict(X).shape == (60,)
    named = wrapper(fill=fill, random_state=0).fit(as_views(X, mask))
    if fill != "knn":
        np.testing.assert_array_equal(named.labels_, model.labels_)


def test_names_are_checked():
    with pytest.raises(InputError, match=r"fill='alm'.*there are mean, zero, knn, alm_mc, alm_rpca"):
        FillViews("alm").fit(low_rank()[0])
