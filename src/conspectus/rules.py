"""How a new sample gets its label: the nearest centroid of an embedding, or the nearest class mean of the views."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from conspectus._typing import Array, Float, Int
from conspectus.numerics.backend import to_numpy
from conspectus.numerics.distances import nearest, squared_distances
from conspectus.numerics.rows import class_means
from conspectus.views.table import Views


@dataclass(frozen=True)
class CentroidRule:
    """The nearest centroid in the embedding."""

    map: Callable[[Views], Array]
    centres: Array

    def place(self, views: Views) -> tuple[Array, Array, Array]:
        """Return labels and squared distances to the two nearest centroids."""
        return self.distances(self.map(views), self.centres)

    @staticmethod
    def distances(H: Array, centres: Array) -> tuple[Array, Array, Array]:
        """Return labels and squared distances to the two nearest centroids of embedded rows."""
        return nearest(H, centres)


@dataclass(frozen=True)
class ClassMeanRule:
    """The nearest class mean over the views that saw the sample, for methods whose mathematics has no map.

    A view counts by its squared distance in units of its own spread; a class that a view has never seen is as far
    there as the average row.
    """

    means: tuple[Float, ...]
    scale: tuple[float, ...]
    empty: tuple[Array, ...]

    @classmethod
    def fit(cls, views: Views, labels: Int, n_clusters: int) -> ClassMeanRule:
        """Take the class means of each view's rows."""
        means, scale, empty = [], [], []
        for v in range(views.n_views):
            y = labels[views.observed(v)]
            means.append(class_means(views.data(v), y, n_clusters))
            spread = views.statistics(v).sd ** 2
            scale.append(float(spread.sum()) or 1.0)
            empty.append(np.bincount(y, minlength=n_clusters) == 0)
        return cls(tuple(means), tuple(scale), tuple(empty))

    def place(self, views: Views) -> tuple[Int, Float, Float]:
        """Return labels and the two least mean squared distances."""
        per_view = []
        for v, (means, scale, empty) in enumerate(zip(self.means, self.scale, self.empty)):
            if not views.seen[:, v].any():
                per_view.append(np.zeros((0, len(means))))
                continue
            distances = to_numpy(squared_distances(views.data(v), means)) / scale
            distances[:, empty] = 1.0
            per_view.append(distances)
        mean = views.average(per_view)
        order = np.argsort(mean, axis=1, kind="stable")
        first = np.take_along_axis(mean, order[:, :1], axis=1)[:, 0]
        second = (
            np.take_along_axis(mean, order[:, 1:2], axis=1)[:, 0] if mean.shape[1] > 1 else np.full(len(mean), np.inf)
        )
        return order[:, 0].astype(np.int64), first, second
