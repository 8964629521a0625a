"""AnchorConsensus: two kinds of anchor graph that fail differently and a global part, laid side by side.

The method of this library. Each view is brought to coordinates along its leading directions; every sample is described
by its nearest anchors, at several numbers of directions and neighbours; a first consensus of these graphs tells which
samples are near each other, and so by what local means a view that has not seen a sample is filled. Then

    A   the graphs of all views side by side, gaps filled by local means,
    B   the graphs of the distance summed over the views,
    G   one linear embedding of all views,

are embedded, reduced to the directions in which they agree, and clustered by k-means. All steps are O(n).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.utils._param_validation import Interval, StrOptions

from conspectus._typing import Array, Bool, Float
from conspectus.base import Embedding, IncompleteClusterer
from conspectus.errors import DataWarning
from conspectus.loop import Checkpoint
from conspectus.numerics.backend import load_compiled
from conspectus.numerics.rows import unit_rows
from conspectus.views.door import unseen_zero_rows
from conspectus.views.findings import overlaps
from conspectus.views.table import Views

from .coordinates import Coordinates
from .parts import PARTS, Part, Rows, Training
from .rows import (
    FAST,
    FULL,
    Anchors,
    Local,
    Settings,
    chosen,
    codes_of_block,
    consensus_anchors,
    local_means,
    near,
    sums,
)
from .spectra import consensus, together, walk


@dataclass(frozen=True)
class First:
    """Stage 1: the graphs of the views that saw a sample, averaged, and their consensus Y0."""

    R: tuple[Float, ...]
    Q: Float

    @classmethod
    def fit(cls, codes: Sequence[Any], seen: Bool, k: int) -> tuple[First, Float]:
        R = tuple(walk(averaged(Z, seen), k)[0] for Z in codes)
        embeddings = embed(codes, R)
        Q = consensus(embeddings, k)
        return cls(R, Q), together(embeddings, Q)

    def __call__(self, codes: Sequence[Any]) -> Float:
        return together(embed(codes, self.R), self.Q)


def averaged(Z: Any, seen: Bool) -> Any:
    """Divide every row of [Z_1 ... Z_V] by the number of views that saw it."""
    share = (1 / np.maximum(seen.sum(axis=1), 1)).astype(Z.dtype)
    return sparse.csr_array((Z.data * np.repeat(share, np.diff(Z.indptr)), Z.indices, Z.indptr), Z.shape)


def embed(codes: Sequence[Any], R: Sequence[Float]) -> list[Float]:
    """Embed rows by graphs; their scale does not matter, for they become unit rows."""
    return [unit_rows(Z @ R_s) for Z, R_s in zip(codes, R)]


@dataclass(frozen=True)
class ConsensusMap:
    """Embeds samples seen by any of the views: the formulas of the training rows themselves."""

    coordinates: Coordinates
    anchors: Anchors
    first: First
    local: Local
    parts: tuple[Part, ...]
    Q: Float

    def __call__(self, views: Views) -> Array:
        X = self.coordinates(views)
        codes = self.anchors.codes(X, views)
        fills = self.local.fills(self.first(codes), views.seen)
        rows = Rows(views, X, codes, fills)
        return together([E for part in self.parts for E in part(rows)], self.Q)


def fit_map(
    views: Views, k: int, settings: Settings, n_anchors: int, rng: RandomState, parts: Sequence[type[Part]] = PARTS
) -> tuple[ConsensusMap, Float]:
    """Fit the method (the numbers are its steps) and embed the training samples."""
    load_compiled(len(views))
    coordinates = Coordinates.fit(views, [t * k for t in settings.directions])  # 1
    order = rng.permutation(len(views))  # 2
    anchors = Anchors.fit(views, coordinates, order, n_anchors, settings.neighbours)
    codes = views.map(codes_of_block, coordinates=coordinates, anchors=anchors)  # 3
    first, Y0 = First.fit(codes, views.seen, k)  # 4, 5, 6
    centres = consensus_anchors(Y0, order, k, int(rng.randint(2**31 - 1)))  # 7
    total = views.reduce(sums, near(Y0, centres), *codes, coordinates=coordinates)
    local, of_views, T = local_means(total, centres, anchors.offsets)
    fills, J = local.fills(Y0, views.seen), chosen(order, np.ones(len(views), dtype=bool), n_anchors)
    training = Training(views, k, settings, J, coordinates, codes, fills, of_views, T)
    del total  # as large as the codes of a few thousand samples
    fitted = [part.fit(training) for part in parts]  # 8, 9, 10
    embeddings = [E for _, found in fitted for E in found]
    Q = consensus(embeddings, k)  # 11
    return ConsensusMap(coordinates, anchors, first, local, tuple(p for p, _ in fitted), Q), together(embeddings, Q)


class AnchorConsensus(IncompleteClusterer):
    """Cluster incomplete multi-view data without choosing among methods: the default of this library.

    One parameter has to be given, the number of clusters. Neither views nor samples have to be complete; time and
    memory grow linearly with the number of samples.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    effort : {"full", "fast"}
        "full": graphs at four settings. "fast": at one, in less than half the time, a little less accurate.
    n_anchors : int
        Rows of each view by which the others are described; up to so many samples, all of them are.
    prepare : see `PrepareViews`
        By default "auto", which looks at each view.
    zero_rows : {"unseen", "keep"}
        An all-zero row of a view of ten columns or more, of a sample that has a non-zero row in another view, stands
        for a sample that the view has not seen; or is data.
    n_init : int
        Starts of k-means on the embedding.
    random_state : int, RandomState or None
        Seed of the anchors and of k-means.

    Attributes
    ----------
    labels_, ids_, embedding_, views_seen_
        See `IncompleteClusterer`.
    zero_rows_ : dict of str to int
        How many all-zero rows of each view were read as not seen.

    Notes
    -----
    Views are connected by the samples that they share. With fewer than about four of them a cluster `EEIMVC` does
    better, which needs fewer; a warning says so. Clusters are assumed to be of comparable size.

    References
    ----------
    "How the default works" in the documentation of this library (docs/default.md).

    Examples
    --------
    >>> from conspectus import AnchorConsensus, missing
    >>> from conspectus.datasets import load_mfeat
    >>> digits = load_mfeat()
    >>> X = missing.remove(list(digits.X.values()), missing.random_subsets(2000, 6, 0.5, seed=0))
    >>> model = AnchorConsensus(10, random_state=0).fit(X)
    >>> model.labels_.shape
    (2000,)
    """

    paper: ClassVar[str] = "The method of this library: Conspectus, 2026. How it works is told in docs/default.md."
    bibtex: ClassVar[str] = """@software{conspectus,
  title = {Conspectus: clustering of incomplete multi-view data},
  year = {2026}
}"""
    cost: ClassVar[str] = "O(n)"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IncompleteClusterer._parameter_constraints,
        "effort": [StrOptions({"full", "fast"})],
        "n_anchors": [Interval(Integral, 1, None, closed="left")],
        "zero_rows": [StrOptions({"unseen", "keep"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        effort: str = "full",
        n_anchors: int = 1000,
        prepare: Any = "auto",
        zero_rows: str = "unseen",
        n_init: int = 20,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.effort = effort
        self.n_anchors = n_anchors
        self.prepare = prepare
        self.zero_rows = zero_rows
        self.n_init = n_init
        self.random_state = random_state

    def _receive(self, views: Views, *, reset: bool) -> Views:
        """Step 0: take the all-zero rows as not seen."""
        read = unseen_zero_rows(views) if self.zero_rows == "unseen" else views
        if reset:
            lost = views.seen.sum(axis=0) - read.seen.sum(axis=0)
            self.zero_rows_ = {name: int(count) for name, count in zip(views.names, lost)}
        return read

    def _embed(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        warn_of_few_shared(views, self.n_clusters)
        settings = FULL if self.effort == "full" else FAST
        return Embedding(*fit_map(views, self.n_clusters, settings, self.n_anchors, rng))


FEW = 4
"""Shared samples a cluster below which views are only loosely connected."""


def warn_of_few_shared(views: Views, k: int) -> None:
    """Warn where a group of views is connected with the others by few samples, though not by none."""
    shared, counts = overlaps(views), views.seen.sum(axis=0)
    enough = shared >= np.minimum(FEW * k, np.minimum(counts[:, None], counts))
    n_groups, group = connected_components(sparse.csr_array(enough), directed=False)
    for g in range(1, n_groups):
        between = np.where((group == g)[:, None] & (group != g), shared, 0)
        u, v = np.unravel_index(between.argmax(), between.shape)
        if between[u, v]:
            warnings.warn(
                f"views {views.names[v]!r} and {views.names[u]!r} share only {between[u, v]} samples, fewer than "
                f"{FEW} for each of the {k} clusters: clusters may be matched wrongly between them; compare with "
                "EEIMVC, which needs fewer, or add samples that both have seen",
                DataWarning,
                stacklevel=4,
            )
