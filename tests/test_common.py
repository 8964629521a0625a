"""Every method of the registry passes every check: scikit-learn's own battery and ours."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from conspectus import Concatenated, InputError, all_methods, as_views, missing
from conspectus.metrics import adjusted_rand_index, nmi
from conspectus.registry import Composition
from conspectus.rules import CentroidRule

METHODS = all_methods()
ALL = pytest.mark.parametrize("name", METHODS)
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::conspectus.errors.DataWarning"),
]


@parametrize_with_checks([method() for method in METHODS.values()] + [Concatenated()])
def test_scikit_learn(estimator, check):
    check(estimator)


def blobs(name: str, n: int = 90, k: int = 3, seed: int = 0, scale: float = 10):
    """Well-separated nonnegative blobs in as many views as the method takes, half of the samples incomplete."""
    rng = np.random.default_rng(seed)
    dims = (6, 9, 12)[: METHODS[name].requires.max_views or 3]
    y = np.arange(n) % k
    X = []
    for d in dims:  # blocks of columns, so that classes differ in direction too
        centre = np.zeros((k, d))
        for c in range(k):
            centre[c, c * d // k : (c + 1) * d // k] = scale
        X.append(np.abs(centre[y] + rng.normal(size=(n, d))))
    mask = missing.random_subsets(n, len(dims), 0.5, seed=seed) if len(dims) > 1 else np.ones((n, 1), bool)
    return X, mask, y


SETTINGS = {
    # The views' own starts have their columns in any order, and the mean of them is a mixture: ARI .38 to .69 here.
    "GPMVC": {"init": "align"},
}
AGREEMENT = {
    # New samples have no place in the graph: they are explained by the basis alone, as the training samples were not.
    "ConcatGNMF": 0.8,
}


def make(name: str, **parameters: object):
    return METHODS[name](3, random_state=0, **SETTINGS.get(name, {}), **parameters)


@ALL
def test_blobs_are_found(name):
    X, mask, y = blobs(name)
    model = make(name).fit(as_views(X, mask))
    # What fills rows puts samples of all classes on one point: such a baseline need not find blobs.
    baseline = isinstance(METHODS[name], Composition) or model.requires.max_views == 1
    assert adjusted_rand_index(y, model.labels_) > (0.2 if baseline else 0.9)
    assert model.labels_.dtype == np.int64
    assert set(model.labels_) <= set(range(3))


@ALL
def test_one_seed_one_answer_whatever_the_number_of_threads(name):
    X, mask, _ = blobs(name)
    with threadpool_limits(1):
        one = make(name).fit(as_views(X, mask))
    with threadpool_limits(2):
        two = make(name).fit(as_views(X, mask))
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_array_equal(one.embedding_, two.embedding_)


@ALL
def test_content_of_unseen_rows_is_never_read(name):
    X, mask, _ = blobs(name)
    labels = make(name).fit_predict(as_views(X, mask))
    for junk in (np.nan, np.inf, 1e300):
        other = [np.where(mask[:, [v]], x, junk) for v, x in enumerate(X)]
        np.testing.assert_array_equal(make(name).fit_predict(as_views(other, mask)), labels)


@ALL
def test_the_input_is_not_modified(name):
    X, mask, _ = blobs(name)
    before = [x.copy() for x in X]
    make(name).fit(as_views(X, mask)).predict(X)
    for x, was in zip(X, before):
        np.testing.assert_array_equal(x, was)


@ALL
def test_predict_takes_any_views_of_samples_never_seen(name):
    X, mask, y = blobs(name)
    model = make(name).fit(as_views(X, mask))
    new, _, truth = blobs(name, seed=1)
    assert nmi(model.labels_, model.predict(as_views(X, mask))) > AGREEMENT.get(name, 0.95)
    for v in range(len(X)):
        labels = model.predict({v: new[v]})
        assert labels.shape == truth.shape
        assert labels.dtype == np.int64
    confidence = model.confidence(new)
    assert confidence.shape == truth.shape
    assert ((confidence >= 0) & (confidence <= 1)).all()
    np.testing.assert_array_equal(model.confidence() >= 0, np.ones(len(y), bool))


@ALL
def test_methods_say_how_they_predict(name):
    X, mask, _ = blobs(name, n=40)
    assert isinstance(make(name).fit(as_views(X, mask))._rule, CentroidRule) == METHODS[name].has_map


@ALL
def test_results_carry_ids_and_views(name):
    X, mask, _ = blobs(name)
    frames = [pd.DataFrame(x[m], index=[f"s{i}" for i in np.flatnonzero(m)]) for x, m in zip(X, mask.T)]
    model = make(name).fit(frames)
    table = model.to_frame()
    assert list(table.columns) == ["id", "label", "confidence"]
    assert table["id"].tolist() == model.ids_.tolist()
    where = dict(zip(table["id"], table["label"]))
    again = make(name).fit(
        as_views(X, mask, ids=[f"s{i}" for i in range(90)])[
            np.argsort([{s: i for i, s in enumerate(model.ids_)}[f"s{i}"] for i in range(90)])
        ]
    )
    assert adjusted_rand_index([where[i] for i in again.ids_], again.labels_) == 1
    assert model.views_seen_.sum() == mask.sum()


@ALL
def test_pickle_and_clone(name):
    X, mask, _ = blobs(name)
    model = make(name).fit(as_views(X, mask))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    np.testing.assert_array_equal(clone(model).fit(as_views(X, mask)).labels_, model.labels_)


def scorer(model, views, y):
    return nmi(y, model.predict(views))


@pytest.mark.parametrize("name", ["APMC", "FIMVCVIA"])
def test_model_selection_splits_samples_not_views(name):
    X, mask, y = blobs(name)
    views = as_views(X, mask)
    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(make(name), {"n_clusters": [2, 3]}, scoring=scorer, cv=folds).fit(views, y)
    assert search.best_params_ == {"n_clusters": 3}
    assert cross_val_predict(make(name), views, y, cv=folds).shape == (90,)
    train, test = train_test_split(views, random_state=0)
    assert len(train) + len(test) == 90
    assert set(train.ids) | set(test.ids) == set(range(90))
    lists = as_views([x.tolist() for x in X], mask)
    np.testing.assert_array_equal(make(name).fit_predict(lists), make(name).fit_predict(views))


@ALL
def test_one_pass_methods_refuse_to_go_on(name):
    model = make(name)
    if getattr(model, "iterative", False):
        pytest.skip("iterates")
    X, mask, _ = blobs(name)
    with pytest.raises(InputError, match="no iterations"):
        model.fit(as_views(X, mask), start=object())
    assert not hasattr(model.fit(as_views(X, mask)), "n_iter_")


@ALL
def test_float32_stays_and_gives_the_same_clusters(name):
    X, mask, _ = blobs(name)
    single, double = (make(name).fit(as_views([x.astype(t) for x in X], mask)) for t in (np.float32, np.float64))
    assert adjusted_rand_index(single.labels_, double.labels_) > 0.95


@ALL
def test_every_method_says_what_it_is(name):
    method = METHODS[name]
    assert len(method.paper) > 20
    assert method.cost.startswith("O(")
    assert method.revision >= 1
    if not isinstance(method, Composition):
        for heading in ("Parameters", "Attributes", "References", "Examples"):
            assert f"{heading}\n    ---" in method.__doc__, heading
        assert "@" in method.bibtex


def test_warnings_are_not_swallowed_by_wrappers():
    X, mask, _ = blobs("ConcatKMeans")
    X[0][:, 0] = 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make("ConcatKMeans").fit(as_views(X, mask))
    assert len([w for w in caught if "constant" in str(w.message)]) == 1
