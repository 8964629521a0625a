"""Spectral clustering of the average similarity, SC[A], and of the views side by side, SC[C].

    As compared with in: Guo, Ye. Anchors Bring Ease. AAAI 2019. Spectral clustering: Ng, Jordan, Weiss. NIPS 2001.

K_v is the Gaussian similarity of the filled view v, its width the median of all distances; with K = mean_v K_v and D
its degrees, the embedding is the unit rows of the k leading eigenvectors of D^(-1/2) K D^(-1/2). With the views side by
side there is one K.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from sklearn.utils._param_validation import Interval

from conspectus.base import Embedding, IncompleteClusterer
from conspectus.fill import FillViews, complete
from conspectus.loop import Checkpoint
from conspectus.methods.wrappers import Concatenated
from conspectus.numerics.affinity import median_gaussian_graph
from conspectus.numerics.laplacian import laplacian_vectors
from conspectus.numerics.rows import unit_rows
from conspectus.registry import Composition
from conspectus.requires import Requires
from conspectus.views.table import Views

PAPER = "Ng, Jordan, Weiss. On Spectral Clustering: Analysis and an Algorithm. NIPS 2001."
BIBTEX = """@inproceedings{ng2001spectral,
  author = {Ng, Andrew Y. and Jordan, Michael I. and Weiss, Yair},
  title = {On Spectral Clustering: Analysis and an Algorithm},
  booktitle = {Advances in Neural Information Processing Systems},
  volume = {14},
  year = {2001}
}"""


class AverageSC(IncompleteClusterer):
    """Cluster by the average of the similarities in filled views: SC[A], a baseline that looks at all views.

    For complete data: unseen rows are filled first, and a filling invents data. With one view it is plain spectral
    clustering.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    fill : str or FillViews
        How unseen rows are filled; see `FillViews`.
    prepare : see `PrepareViews`
        By default columns from 0 to 1, then unit rows.
    max_samples : int
        Refuse more samples than that, with the bytes: matrices of samples by samples are held.
    n_init : int
        Starts of k-means on the embedding.
    random_state : int, RandomState or None
        Seed of k-means.

    Attributes
    ----------
    labels_, ids_, embedding_, views_seen_
        See `IncompleteClusterer`.
    eigenvalues_ : ndarray, shape (n_clusters,)
        Of the normalised Laplacian, in rising order; the first is 0.
    widths_ : ndarray, shape (n_views,)
        Of each view's Gaussian.

    References
    ----------
    Ng, Jordan, Weiss. On Spectral Clustering: Analysis and an Algorithm. NIPS 2001.

    Examples
    --------
    >>> from conspectus import AverageSC, missing
    >>> from conspectus.datasets import load_mfeat
    >>> digits = load_mfeat()
    >>> X = [digits.X[name][::10] for name in ("fou", "pix")]
    >>> mask = missing.paired(200, 2, 0.3, seed=0)
    >>> AverageSC(10, random_state=0).fit_predict(missing.remove(X, mask)).shape
    (200,)
    """

    paper: ClassVar[str] = PAPER
    bibtex: ClassVar[str] = BIBTEX
    requires: ClassVar[Requires] = Requires(max_samples=10_000, matrices=4)
    cost: ClassVar[str] = "O(n^2)"
    has_map: ClassVar[bool] = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IncompleteClusterer._parameter_constraints,
        "fill": [str, FillViews],
        "max_samples": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        fill: Any = "mean",
        prepare: Any = "minmax+l2",
        max_samples: int = 10_000,
        n_init: int = 20,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.fill = fill
        self.prepare = prepare
        self.max_samples = max_samples
        self.n_init = n_init
        self.random_state = random_state

    def _embed(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        _, whole = complete(views, self.fill)
        K = np.zeros((len(views), len(views)))
        widths = []
        for v in range(views.n_views):
            similarity, width = median_gaussian_graph(whole.data(v))
            K += similarity / views.n_views
            widths.append(width)
        self.widths_ = np.array(widths)
        self.eigenvalues_, F = laplacian_vectors(K, self.n_clusters)
        return Embedding(None, H=unit_rows(F))


def _side_by_side(n_clusters: int = 8, *, n_init: int = 20, **wrapper: Any) -> Concatenated:
    return Concatenated(AverageSC(n_clusters, n_init=n_init), **wrapper)


ConcatSC = Composition("ConcatSC", "SC[C]", _side_by_side, paper=PAPER, bibtex=BIBTEX, cost=AverageSC.cost)
