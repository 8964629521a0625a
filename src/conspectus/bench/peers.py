"""Methods of other libraries, so that a comparison can hold them to the same masks and the same scores."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar

import numpy as np

from conspectus._typing import Float, Int
from conspectus.errors import MissingExtraError
from conspectus.numerics.kmeans import kmeans
from conspectus.prepare import PrepareViews
from conspectus.views import Views


def _installed(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} is not installed"


class _Imml:
    """A clusterer of iMML with its own defaults.

    Parameters
    ----------
    n_clusters : int
        How many clusters.
    tail : {"own", "kmeans"}
        Its own labels, or those of k-means with 50 starts on its embedding.
    prepare : as of `PrepareViews`
        What is done to the views first.
    random_state : int
        Its seed.
    """

    needs: ClassVar[str] = "imml"
    revision: ClassVar[str] = _installed("imml")
    method: ClassVar[str] = ""

    def __init__(self, n_clusters: int, *, tail: str = "own", prepare: Any = "auto", random_state: int = 0) -> None:
        self.n_clusters = n_clusters
        self.tail = tail
        self.prepare = prepare
        self.random_state = random_state

    def fit_predict(self, views: Views) -> Int:
        """Cluster; unseen rows are rows of NaN for iMML."""
        try:
            from imml import cluster
        except ImportError as error:
            raise MissingExtraError("imml is needed for this: pip install imml==0.6.0") from error
        prepared = PrepareViews(self.prepare).fit_transform(views)
        model = getattr(cluster, self.method)(n_clusters=self.n_clusters, random_state=self.random_state)
        labels = model.fit_predict([rows_of_nan(prepared, v) for v in range(prepared.n_views)])
        self.embedding_: Float = np.asarray(model.embedding_, dtype=np.float64)
        if self.tail == "own":
            return np.asarray(labels, dtype=np.int64)
        return np.asarray(kmeans(self.embedding_, self.n_clusters, n_init=50, seed=self.random_state)[0])


class ImmlNEMO(_Imml):
    """NEMO as iMML has it."""

    method: ClassVar[str] = "NEMO"


class ImmlPIMVC(_Imml):
    """PIMVC as iMML has it."""

    method: ClassVar[str] = "PIMVC"


def rows_of_nan(views: Views, v: int) -> Float:
    """View v of all samples, NaN where it has not seen them."""
    seen = np.asarray(views.data(v), dtype=np.float64)
    rows = np.full((len(views), seen.shape[1]), np.nan)
    rows[views.observed(v)] = seen
    return rows
