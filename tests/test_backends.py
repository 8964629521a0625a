"""The same labels from the arrays of every installed library, and the data stay where they are."""

from __future__ import annotations

import numpy as np
import pytest

from conspectus import APMC, FIMVCVIA, as_views, missing
from conspectus.metrics import adjusted_rand_index
from conspectus.numerics.backend import to_numpy

METHODS = [APMC, FIMVCVIA]


@pytest.fixture
def convert(library):
    """Make an array of the library."""
    return lambda x: library.asarray(x)


def blobs(n_views=3):
    rng = np.random.default_rng(0)
    y = np.arange(240) % 4
    X = [rng.normal(size=(4, d))[y] * 8 + rng.normal(size=(240, d)) for d in (6, 9, 12)[:n_views]]
    return X, missing.random_subsets(240, n_views, 0.5, seed=0), y


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.__name__)
@pytest.mark.parametrize("n_views", [2, 3])
def test_labels_are_those_of_numpy(convert, method, n_views):
    X, mask, y = blobs(n_views)
    given = [convert(x) for x in X]
    model = method(4, random_state=0).fit(as_views(given, mask))
    reference = method(4, random_state=0).fit(as_views(X, mask))
    assert adjusted_rand_index(reference.labels_, model.labels_) == 1 == adjusted_rand_index(y, model.labels_)
    assert isinstance(model.labels_, np.ndarray)
    np.testing.assert_array_equal(model.predict(given), model.labels_)
    alone = [None] * n_views
    alone[1] = given[1]
    assert adjusted_rand_index(y, model.predict(alone)) == 1
    assert model.confidence().shape == (240,)


def test_the_fit_stays_where_the_data_are(convert):
    X, mask, _ = blobs()
    given = [convert(x) for x in X]
    states = []
    model = FIMVCVIA(4, random_state=0, callback=lambda t, f, state: states.append(state))
    model.fit(as_views(given, mask))
    for array in (*states[-1].A, *states[-1].C, model.embedding_, model._rule.centres):
        assert type(array) is type(given[0])
        assert getattr(array, "device", None) == getattr(given[0], "device", None)


def test_single_precision_stays(convert):
    X, mask, _ = blobs()
    views = as_views([convert(x.astype(np.float32)) for x in X], mask)
    model = FIMVCVIA(4, random_state=0).fit(views)
    assert to_numpy(model.embedding_).dtype == np.float32
    assert adjusted_rand_index(FIMVCVIA(4, random_state=0).fit_predict(as_views(X, mask)), model.labels_) == 1


def test_rows_of_nan_are_unseen(convert):
    X, mask, _ = blobs(2)
    views = as_views([convert(np.where(mask[:, [v]], x, np.nan)) for v, x in enumerate(X)])
    np.testing.assert_array_equal(views.seen, mask)
