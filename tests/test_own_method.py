"""The method of the guide passes what every method passes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import conspectus
from conspectus import as_views, missing
from conspectus.metrics import adjusted_rand_index
from conspectus.registry import _own, find

from .own.distance_to_means import DistanceToMeans

pytestmark = pytest.mark.filterwarnings("ignore::conspectus.errors.DataWarning")


@parametrize_with_checks([DistanceToMeans()])
def test_scikit_learn(estimator, check):
    check(estimator)


def test_it_is_registered_and_found():
    assert _own["DistanceToMeans"] is DistanceToMeans
    assert find("distance-to-means") is DistanceToMeans
    assert find("tests.own.distance_to_means:DistanceToMeans") is DistanceToMeans
    assert "DistanceToMeans" in conspectus.all_methods()


def test_it_clusters_predicts_and_goes_on():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = [rng.normal(size=(3, d))[y] * 9 + rng.normal(size=(90, d)) for d in (4, 6)]
    views = as_views(X, missing.random_subsets(90, 2, 0.5, seed=0))
    whole = DistanceToMeans(3, random_state=3, tol=None, max_iter=20).fit(views)
    assert adjusted_rand_index(y, whole.labels_) == 1
    assert adjusted_rand_index(y, whole.predict([None, X[1]])) == 1
    first = DistanceToMeans(3, random_state=3, tol=None, max_iter=4).fit(views)
    rest = DistanceToMeans(3, random_state=3, tol=None, max_iter=20).fit(views, start=first.state_)
    assert rest.trace_.objective == whole.trace_.objective
