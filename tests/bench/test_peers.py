"""The adapters of other libraries, against a stand-in for the library."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest

from conspectus import as_views
from conspectus.bench import methods, peers
from conspectus.errors import MissingExtraError


class Stub:
    """Sees rows of NaN, embeds by the first column of the first view."""

    def __init__(self, n_clusters, random_state):
        self.n_clusters = n_clusters

    def fit_predict(self, Xs):
        assert np.isnan(Xs[1][0]).all()
        self.embedding_ = np.nan_to_num(Xs[0][:, :1])
        return np.zeros(len(Xs[0]))


@pytest.fixture
def views():
    X = [np.array([[0.0, 1], [0.1, 1], [9, 1], [9.1, 1]]), np.array([[np.nan], [1], [2], [4]])]
    return as_views(X)


def test_own_labels_or_kmeans_on_the_embedding(views, monkeypatch):
    package, module = ModuleType("imml"), ModuleType("imml.cluster")
    package.cluster, module.NEMO = module, Stub
    monkeypatch.setitem(sys.modules, "imml", package)
    monkeypatch.setitem(sys.modules, "imml.cluster", module)
    own = peers.ImmlNEMO(2, prepare=None).fit_predict(views)
    assert own.tolist() == [0, 0, 0, 0]
    tail = peers.ImmlNEMO(2, tail="kmeans", prepare=None).fit_predict(views)
    assert tail[0] == tail[1] != tail[2] == tail[3]


def test_without_the_library_it_is_not_there_and_says_so(views, monkeypatch):
    monkeypatch.setitem(sys.modules, "imml", None)
    monkeypatch.setattr(methods, "find_spec", lambda name: None)
    assert not methods.known("conspectus.bench.peers:ImmlNEMO")
    assert methods.known("bench_toys:Toy")
    with pytest.raises(MissingExtraError, match="imml"):
        peers.ImmlNEMO(2).fit_predict(views)
