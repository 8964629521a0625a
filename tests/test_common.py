"""Every method of the registry passes every check: scikit-learn's own battery and ours."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from conspectus import Concatenated, all_methods

METHODS = all_methods()


def make(name: str, n_clusters: int, **parameters: object) -> object:
    """Build a method with a fixed seed."""
    return METHODS[name](n_clusters, random_state=0, **parameters)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::conspectus.errors.DataWarning")
@parametrize_with_checks([method() for method in METHODS.values()] + [Concatenated()])
def test_scikit_learn(estimator, check):
    check(estimator)
