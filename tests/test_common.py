"""Every method of the registry passes every check: scikit-learn's own battery and ours."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks

from conspectus import Concatenated, all_methods, as_views
from conspectus.metrics import adjusted_rand_index
from conspectus.registry import Composition

METHODS = all_methods()


def make(name: str, n_clusters: int, **parameters: object) -> object:
    """Build a method with a fixed seed."""
    return METHODS[name](n_clusters, random_state=0, **parameters)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::conspectus.errors.DataWarning")
@parametrize_with_checks([method() for method in METHODS.values()] + [Concatenated()])
def test_scikit_learn(estimator, check):
    check(estimator)
