"""Kernel k-means on the plain sum of all kernels, unseen entries 0: the H_0(1) of EE-R-IMVC, and a baseline."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from conspectus.base import Embedding
from conspectus.loop import Checkpoint
from conspectus.methods.kernels.ee_imvc import BIBTEX
from conspectus.methods.kernels.estimator import KernelClusterer
from conspectus.methods.kernels.maps import ConsensusMap
from conspectus.methods.kernels.observed import Kernel
from conspectus.numerics.rows import unit_rows
from conspectus.views.table import Views


class AverageKernelKMeans(KernelClusterer):
    """Cluster by the leading eigenvectors of the mean kernel, what a view has not seen counting as 0.

    One pass, no iterations, and often hard to beat.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    kernel, normalize, approximation, n_landmarks, rank
        As for `EEIMVC`.
    prepare, n_init, random_state
        As for `EEIMVC`.

    Attributes
    ----------
    labels_, ids_, embedding_, views_seen_
        See `IncompleteClusterer`.

    References
    ----------
    Liu, Li, Tang, Xia, Xiong, Liu, Kloft, Zhu. Efficient and Effective Regularized Incomplete Multi-View Clustering.
    IEEE Transactions on Pattern Analysis and Machine Intelligence, 2021 (its prior H_0(1)).

    Examples
    --------
    >>> from conspectus import AverageKernelKMeans, missing
    >>> from conspectus.datasets import make_views
    >>> data = make_views(200, (5, 8), 3, seed=0)
    >>> views = missing.remove(data.X, missing.random_subsets(200, 2, 0.5, seed=0))
    >>> AverageKernelKMeans(3, random_state=0).fit_predict(views).shape
    (200,)
    """

    paper: ClassVar[str] = (
        "Average kernel k-means: a baseline of the multiple kernel papers, and the prior of EE-R-IMVC."
    )
    bibtex: ClassVar[str] = BIBTEX
    cost: ClassVar[str] = "O(n)"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: Kernel = "gaussian",
        normalize: bool = True,
        approximation: str = "auto",
        n_landmarks: int | str = "auto",
        rank: int | str = "auto",
        prepare: Any = None,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.normalize = normalize
        self.approximation = approximation
        self.n_landmarks = n_landmarks
        self.rank = rank
        self.prepare = prepare
        self.n_init = n_init
        self.random_state = random_state

    def _embed(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        kernels, sides = self._kernels(views, rng)
        weights = np.ones(views.n_views)
        H, values = kernels.leading(weights, self._k)
        consensus = ConsensusMap(sides, kernels.split(H, values, weights))
        # Features give rows by the map itself; kernel matrices have them already.
        return Embedding(consensus, H=unit_rows(H) if self._exact(views) else None)
