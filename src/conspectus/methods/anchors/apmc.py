"""APMC: anchor-based partial multi-view clustering.

    Guo, Ye. Anchors Bring Ease: An Embarrassingly Simple Approach to Partial Multi-view Clustering. AAAI 2019.

Two views. The anchors are the samples that both have seen. A row's code z is its Gaussian similarity to the m nearest
anchors of its own view, divided by the sum; a sample's code is the mean over its views. With codes as the rows of Z,

    S = Z diag(1'Z)^(-1) Z',    the embedding = the k leading eigenvectors of S = those left of Z diag(1'Z)^(-1/2).

More views. Every pair q of views with common samples gives such an S_q on the samples that it covers. The similarity of
two samples is the mean over the pairs that cover both,

    S_ij = (1 / T_ij) sum_q S_q(i, j),    T_ij = the number of pairs that cover i and j,

and the embedding belongs to the k least eigenvalues of L = D - S. T depends on the patterns of presence only, so that S
is applied to vectors and never formed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from numbers import Integral, Real
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.random import RandomState
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator
from sklearn.utils._param_validation import Interval, StrOptions

from conspectus._typing import Array, Bool, Float
from conspectus.base import Embedding, IncompleteClusterer
from conspectus.errors import InputError
from conspectus.loop import Checkpoint
from conspectus.methods.anchors.choose import paired_anchors
from conspectus.numerics.anchors import anchor_codes
from conspectus.numerics.backend import to_numpy
from conspectus.numerics.distances import chi2_distances, mean_squared_distance
from conspectus.numerics.rows import unit_rows
from conspectus.numerics.spectral import stochastic_svd, top_eigenvectors
from conspectus.requires import Requires
from conspectus.views.findings import overlaps
from conspectus.views.say import some
from conspectus.views.table import Views


@dataclass(frozen=True)
class AnchorGraph:
    """The codes of the samples of one view, or of a pair of views, on their common anchors (sec. 3.3).

    Attributes
    ----------
    views : tuple of int
        Positions of the views.
    anchors : tuple of arrays
        The anchors in each view; of distances between samples, the columns that belong to the anchors.
    bandwidths : tuple of float
        What squared distances are divided by, in each view.
    n_neighbors : int
        m of the paper.
    metric : str
        "sqeuclidean", "chi2" or "precomputed".
    """

    views: tuple[int, ...]
    anchors: tuple[Array, ...]
    bandwidths: tuple[float, ...]
    n_neighbors: int
    metric: str

    @property
    def n_anchors(self) -> int:
        """l of the paper."""
        return int(self.anchors[0].shape[0])

    def codes(self, block: Views) -> Any:
        """Return Z of eq. (1): the mean of a sample's codes in the views that have seen it; empty rows otherwise."""
        block = block.only(self.views)
        return block.average([self._codes_of_view(block, p) for p in range(len(self.views))])

    def _codes_of_view(self, block: Views, p: int) -> Any:
        X, U = self._rows(block, p)
        return anchor_codes(X, U, [self.n_neighbors], scale=self.bandwidths[p], metric=self.metric)[0]  # type: ignore[arg-type]

    def _rows(self, block: Views, p: int) -> tuple[Array, Array | None]:
        """The rows of the p-th view and its anchors; of distances, the columns of the anchors."""
        if self.metric != "precomputed":
            return block.data(p), self.anchors[p]
        if not block.seen[:, p].any():
            return np.zeros((0, self.n_anchors)), None
        return block.data(p)[:, self.anchors[p]], None

    def distance_sums(self, block: Views) -> tuple[Float, Float]:
        """Return the sum of all distances to the anchors and their number, for each view."""
        block = block.only(self.views)
        sums = [self._distance_sum(*self._rows(block, p)) for p in range(len(self.views))]
        return np.array([s for s, _ in sums]), np.array([n for _, n in sums])

    def _distance_sum(self, X: Array, U: Array | None) -> tuple[float, float]:
        if not X.shape[0]:
            return 0.0, 0.0
        if U is None:
            return float(X.sum(dtype=np.float64)), float(X.size)
        pairs = float(X.shape[0] * U.shape[0])
        if self.metric == "chi2":
            return float(chi2_distances(X, U).sum()), pairs
        return mean_squared_distance(X, U) * pairs, pairs


class Coder(Protocol):
    """Whatever describes samples by rows that sum to 1."""

    def codes(self, block: Views) -> Any:
        """Return Z of a block of samples."""


@dataclass(frozen=True)
class SpectralMap:
    """f(x) = z(x) diag(lam)^(-1/2) Q Theta^(-1/2), unit rows (sec. 3.4): the training formula itself."""

    graph: Coder
    R: Float

    @classmethod
    def fit(cls, graph: Coder, Z: Any, k: int) -> tuple[SpectralMap, Float]:
        """Take the k leading left singular vectors of Z diag(lam)^(-1/2) (eq. 5), and their singular values."""
        _, sigma, Q, lam = stochastic_svd(Z, k)
        return cls(graph, inverse_root(lam)[:, None] * Q / sigma), sigma

    def __call__(self, views: Views) -> Array:
        return unit_rows(self.graph.codes(views) @ self.R)


@dataclass(frozen=True)
class PairwiseMap:
    """f_c(x) = sum_j S(x, j) F_jc / (d(x) - mu_c), unit rows: eigenvectors of the mean over pairs, extended.

    Attributes
    ----------
    graphs : tuple of AnchorGraph
        One a pair with common samples.
    scales : tuple of arrays
        lam^(-1/2) of each.
    patterns : ndarray of bool, shape (n_patterns, n_views)
        The training samples' patterns of presence.
    sums : tuple of arrays, shape (n_patterns, n_anchors, 1 + k)
        B_q[h]' [1 F_h] for each pattern h.
    mu : ndarray, shape (k,)
        The eigenvalues of L.
    """

    graphs: tuple[AnchorGraph, ...]
    scales: tuple[Float, ...]
    patterns: Bool
    sums: tuple[Float, ...]
    mu: Float

    def __call__(self, views: Views) -> Array:
        distinct, group = views.patterns
        weights = pair_weights(distinct, self.patterns, self.graphs)
        Sx = np.zeros((len(views), 1 + len(self.mu)))
        for graph, scale, M in zip(self.graphs, self.scales, self.sums):
            per_pattern = np.einsum("gh,hlc->glc", weights, M)
            codes = by_pattern(graph.codes(views), scale, group, len(distinct))
            Sx += codes @ per_pattern.reshape(-1, Sx.shape[1])
        gap = Sx[:, :1] - self.mu
        return unit_rows(Sx[:, 1:] / np.where(np.abs(gap) > 1e-12, gap, 1e-12))


def pair_weights(g: Bool, h: Bool, graphs: Sequence[AnchorGraph]) -> Float:
    """Return 1 / T for each two patterns: T = the number of pairs of views that cover both (0 where none does)."""
    cover_g, cover_h = (
        np.stack([pattern[:, list(graph.views)].any(axis=1) for graph in graphs], axis=1).astype(np.float64)
        for pattern in (g, h)
    )
    T = cover_g @ cover_h.T
    return np.asarray(np.where(T > 0, 1 / np.maximum(T, 1), 0))


def by_pattern(Z: Any, scale: Float, group: Any, n_patterns: int) -> Any:
    """Return Z diag(scale) with each row moved into the block of columns of its pattern."""
    l = Z.shape[1]
    columns = Z.indices.astype(np.int64) + np.repeat(group.astype(np.int64) * l, np.diff(Z.indptr))
    return sparse.csr_array((Z.data * scale[Z.indices], columns, Z.indptr), shape=(Z.shape[0], n_patterns * l))


class APMC(IncompleteClusterer):
    """Cluster by similarities to anchors: the samples that views share are what connects their other samples.

    One pass, no iterations: each row is described by its nearest anchors in its own view, a sample by the mean over
    its views, and the clusters are those of the graph that these descriptions span.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    n_anchors : int, "auto" or "all"
        "all": every sample that both views have seen is an anchor, as in the paper. "auto": all of them up to 2,000,
        else 1,000 centroids of k-means on both views at once. An int: as many, chosen likewise where there are more.
    n_neighbors : int
        How many nearest anchors describe a row (m of the paper). With fewer than some 15 samples a cluster, 3 to 5
        do better.
    bandwidth : float or "auto"
        What squared distances are divided by in the Gaussian (the paper's sigma^2); "auto" is four times the mean
        squared distance to the anchors, in each view, so that the scale of a view does not matter.
    metric : {"sqeuclidean", "chi2", "precomputed"}
        How rows are compared with anchors. "precomputed": the views are symmetric matrices of distances (taken in the
        place of squared ones), and predict takes those of new samples to the training samples.
    prepare : see `PrepareViews`
        By default unit rows; not used when `metric` is "precomputed".
    n_init : int
        Starts of k-means on the embedding.
    random_state : int, RandomState or None
        Seed of the anchors and of k-means.

    Attributes
    ----------
    labels_, ids_, embedding_, views_seen_
        See `IncompleteClusterer`.
    n_anchors_ : list of int
        How many anchors each pair of views has (one pair with two views).
    eigenvalues_ : ndarray
        Of the similarity (two views or one: the first is 1) or of the Laplacian (more: the first is 0).

    References
    ----------
    Guo, Ye. Anchors Bring Ease: An Embarrassingly Simple Approach to Partial Multi-view Clustering. AAAI 2019.

    Examples
    --------
    >>> from conspectus import APMC, missing
    >>> from conspectus.datasets import load_mfeat
    >>> digits = load_mfeat()
    >>> mask = missing.paired(2000, 2, 0.5, seed=0)
    >>> X = [digits.X["fou"], digits.X["fac"]]
    >>> labels = APMC(10, prepare="minmax", n_neighbors=8, random_state=0).fit_predict(missing.remove(X, mask))
    >>> labels.shape
    (2000,)
    """

    paper: ClassVar[str] = (
        "Guo, Ye. Anchors Bring Ease: An Embarrassingly Simple Approach to Partial Multi-view Clustering. AAAI 2019."
    )
    bibtex: ClassVar[str] = """@inproceedings{guo2019anchors,
  author = {Guo, Jun and Ye, Jiahui},
  title = {Anchors Bring Ease: An Embarrassingly Simple Approach to Partial Multi-view Clustering},
  booktitle = {Proceedings of the AAAI Conference on Artificial Intelligence},
  volume = {33},
  pages = {118--125},
  year = {2019}
}"""
    requires: ClassVar[Requires] = Requires(common_samples=True, instead="AnchorConsensus or EEIMVC")
    cost: ClassVar[str] = "O(n)"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IncompleteClusterer._parameter_constraints,
        "n_anchors": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto", "all"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "bandwidth": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "metric": [StrOptions({"sqeuclidean", "chi2", "precomputed"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_anchors: int | str = "auto",
        n_neighbors: int = 12,
        bandwidth: float | str = "auto",
        metric: str = "sqeuclidean",
        prepare: Any = "l2",
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_anchors = n_anchors
        self.n_neighbors = n_neighbors
        self.bandwidth = bandwidth
        self.metric = metric
        self.prepare = prepare
        self.n_init = n_init
        self.random_state = random_state

    def _embed(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        graphs = tuple(self._graph(views, pair, rng) for pair in valid_pairs(views))  # sec. 3.3
        self.n_anchors_ = [graph.n_anchors for graph in graphs]
        if len(graphs) == 1 and views.n_views <= 2:
            return self._embed_one(views, graphs[0])
        return self._embed_pairs(views, graphs)

    def _graph(self, views: Views, pair: tuple[int, ...], rng: RandomState) -> AnchorGraph:
        """Choose the anchors of a pair of views, and the width of the Gaussian in each."""
        anchors = paired_anchors(views.only(pair), self.n_anchors, rng, as_columns=self.metric == "precomputed")
        graph = AnchorGraph(pair, anchors, (1.0,) * len(pair), self.n_neighbors, self.metric)
        if self.bandwidth != "auto":
            return AnchorGraph(pair, anchors, (float(self.bandwidth),) * len(pair), self.n_neighbors, self.metric)
        sums, counts = views.reduce(graph.distance_sums)
        widths = tuple(4 * s / max(n, 1) for s, n in zip(sums, counts))
        return AnchorGraph(pair, anchors, widths, self.n_neighbors, self.metric)

    def _embed_one(self, views: Views, graph: AnchorGraph) -> Embedding:
        """Embed the samples by the one graph."""
        Z = views.map(graph.codes)
        spectral, sigma = SpectralMap.fit(graph, Z, self.n_clusters)
        self.eigenvalues_ = sigma**2
        return Embedding(spectral, H=unit_rows(Z @ spectral.R))

    def _embed_pairs(self, views: Views, graphs: tuple[AnchorGraph, ...]) -> Embedding:
        """Take the k least eigenvectors of L = D - S, S the mean over the pairs that cover two samples."""
        patterns, group = views.patterns
        codes = [views.map(graph.codes) for graph in graphs]
        scales = tuple(inverse_root(np.asarray(Z.sum(axis=0)).reshape(-1)) for Z in codes)
        blocks = [by_pattern(Z, scale, group, len(patterns)) for Z, scale in zip(codes, scales)]
        transposed = [block.T.tocsr() for block in blocks]
        W = pair_weights(patterns, patterns, graphs)

        def similarity(x: Float) -> Float:
            """(S x)_g = sum_q B_q[g] (sum_h W_gh B_q[h]' x_h)."""
            x = x.reshape(len(views), -1)
            spread = (np.tensordot(W, (B_t @ x).reshape(len(W), -1, x.shape[1]), 1) for B_t in transposed)
            return np.asarray(sum(B @ s.reshape(-1, x.shape[1]) for B, s in zip(blocks, spread)))

        d = similarity(np.ones(len(views)))
        top = float(d.max())
        shifted = LinearOperator(
            (len(views), len(views)),
            matvec=lambda x: ((top - d) * x.reshape(len(views), -1) + similarity(x)).reshape(x.shape),
            matmat=lambda x: (top - d) * x + similarity(x),
            dtype=np.float64,
        )
        values, F = top_eigenvectors(shifted, self.n_clusters)
        self.eigenvalues_ = mu = top - values
        with_one = np.hstack([np.ones((len(views), 1)), F])
        sums = tuple((B_t @ with_one).reshape(len(patterns), -1, with_one.shape[1]) for B_t in transposed)
        return Embedding(PairwiseMap(graphs, scales, patterns, sums, mu), H=unit_rows(F))


def inverse_root(lam: Array) -> Float:
    """Return lam^(-1/2), with 0 for anchors that no row is near to."""
    lam = np.asarray(to_numpy(lam), dtype=np.float64)
    return np.where(lam > 1e-12, 1 / np.sqrt(np.where(lam > 1e-12, lam, 1)), 0)


def valid_pairs(views: Views) -> list[tuple[int, ...]]:
    """Return the pairs of views that share samples; the only view alone. Refuse views that nothing connects."""
    if views.n_views == 1:
        return [(0,)]
    shared = overlaps(views)
    n_parts, part = connected_components(sparse.csr_array(shared > 0), directed=False)
    if n_parts > 1:
        sides = [some((n for n, p in zip(views.names, part) if (p == part[0]) == side), 5) for side in (True, False)]
        raise InputError(
            f"APMC needs samples that views share: the views {sides[0]} share none with {sides[1]}; "
            "add samples that both sides have seen, or use EEIMVC"
        )
    return [pair for pair in combinations(range(views.n_views), 2) if shared[pair] > 0]
