"""A whole method in one file: k-means that skips what a view has not seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import conspectus
from conspectus import Embedding, IterativeClusterer
from conspectus.numerics import squared_distances


class State(NamedTuple):
    """What the iteration goes on from: the class means of each view."""

    means: tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Distances:
    """The mean squared distance of a sample to each class, over the views that have seen it."""

    means: tuple[np.ndarray, ...]

    def __call__(self, views: conspectus.Views) -> np.ndarray:
        return views.average([squared_distances(views.data(v), mean) for v, mean in enumerate(self.means)])


def sums(block: conspectus.Views, means: tuple[np.ndarray, ...]) -> tuple[list[np.ndarray], list[np.ndarray], float]:
    """Sum the rows of each class in each view of a block, their number, and the least distances."""
    D = Distances(means)(block)
    member = np.eye(len(means[0]))[D.argmin(axis=1)]
    seen = [block.gather(v, member) for v in range(block.n_views)]
    return [m.T @ block.data(v) for v, m in enumerate(seen)], [m.sum(axis=0) for m in seen], D.min(axis=1).sum()


def steps(views: conspectus.Views, k: int, rng: np.random.RandomState, start: State | None) -> Iterator:
    """Assign every sample to the nearest class, move the classes to their means."""
    if start is None:
        first = [views.data(v)[rng.choice(len(views.observed(v)), k)] for v in range(views.n_views)]
    means = tuple(first) if start is None else start.means
    while True:
        totals, sizes, objective = views.reduce(sums, means=means)
        means = tuple(
            np.where(size[:, None] > 0, total / np.maximum(size, 1)[:, None], mean)
            for total, size, mean in zip(totals, sizes, means)
        )
        yield objective, State(means)


@conspectus.register
class DistanceToMeans(IterativeClusterer):
    """Cluster by the mean squared distance to class means, over the views that have seen a sample.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    prepare, max_iter, tol, random_state, verbose, callback
        As of every iterative method.
    """

    paper = "A method of one's own: k-means over the entries that were seen."
    cost = "O(n)"

    _parameter_constraints = {  # noqa: RUF012
        name: rule for name, rule in IterativeClusterer._parameter_constraints.items() if name != "n_init"
    }

    def __init__(self, n_clusters=8, *, prepare="standard", max_iter=100, tol=1e-6, random_state=None,
                 verbose=False, callback=None):  # fmt: skip
        self.n_clusters = n_clusters
        self.prepare = prepare
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _embed(self, views, rng, start):
        iterates = steps(views, self.n_clusters, rng, None if start is None else start.state)
        state, trace = self._run(iterates, start, warn=False)
        return Embedding(Distances(state.means), trace=trace, state=state)
