"""Co-regularised spectral clustering: the views' spectral embeddings are drawn towards each other.

    Kumar, Rai, Daume. Co-regularized Multi-view Spectral Clustering. NIPS 2011.

With L_v = D^(-1/2) K_v D^(-1/2), K_v a Gaussian similarity whose width is the median distance, and U_v'U_v = I:

    pairwise:  max  sum_v tr(U_v' L_v U_v) + lam sum_{u<v} |U_u' U_v|^2
    centroid:  max  sum_v tr(U_v' L_v U_v) + lam |U_v' U*|^2,             U*'U* = I

A block is the k leading eigenvectors of L_v + lam sum_u U_u U_u' (of L_v + lam U* U*'); U* those of sum_v U_v U_v'.
The products U U' are applied to vectors and never formed. Both methods know complete views only: they are filled first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import RandomState
from scipy.sparse.linalg import LinearOperator
from sklearn.utils._param_validation import Interval

from conspectus._typing import Float
from conspectus.base import Embedding, IterativeClusterer
from conspectus.fill import FillViews, complete
from conspectus.loop import Callback, Checkpoint, Steps
from conspectus.numerics.affinity import median_gaussian_graph
from conspectus.numerics.laplacian import normalised_graph
from conspectus.numerics.rows import unit_rows
from conspectus.numerics.spectral import directions_from_gram, top_eigenvectors
from conspectus.requires import Requires
from conspectus.views.table import Views

Matrices = tuple[Float, ...]


class PairwiseState(NamedTuple):
    """U_v, and the sum of the k eigenvalues that each was taken with."""

    U: Matrices
    taken: Float


class CentroidState(NamedTuple):
    """U_v, U*, and the sum of the k eigenvalues that each U_v was taken with."""

    U: Matrices
    centroid: Float
    taken: Float


def drawn(L: Float, others: Sequence[Float], lam: float) -> LinearOperator:
    """L + lam sum_u U_u U_u'."""

    def apply(x: Float) -> Float:
        return np.asarray(L @ x + lam * sum((U @ (U.T @ x) for U in others), np.zeros(x.shape)))

    return LinearOperator(L.shape, matvec=apply, matmat=apply, dtype=np.float64)


def alone(L: Sequence[Float], k: int) -> tuple[Matrices, Float]:
    """The spectral embedding of each view, and the sums of its eigenvalues."""
    pairs = [top_eigenvectors(L_v, k) for L_v in L]
    return tuple(U for _, U in pairs), np.array([values.sum() for values, _ in pairs])


def agreement(A: Float, B: Float) -> float:
    """|A' B|^2."""
    return float(((A.T @ B) ** 2).sum())


def pairwise_steps(
    L: Sequence[Float], k: int, lam: float, start: PairwiseState | None = None
) -> Iterator[tuple[float, PairwiseState]]:
    """Take the views in the order 2, ..., V, 1, each towards all others."""
    V = range(len(L))
    U, taken = alone(L, k) if start is None else (start.U, start.taken)
    while True:
        new, taken = list(U), taken.copy()
        for v in (*V[1:], 0):
            values, new[v] = top_eigenvectors(drawn(L[v], [new[u] for u in V if u != v], lam), k)
            taken[v] = values.sum()
        U = tuple(new)
        own = sum(float((U[v] * (L[v] @ U[v])).sum()) for v in V)
        yield own + lam * sum(agreement(U[u], U[v]) for v in V for u in range(v)), PairwiseState(U, taken)


def centroid_steps(
    L: Sequence[Float], k: int, lam: float, start: CentroidState | None = None
) -> Iterator[tuple[float, CentroidState]]:
    """Take the centroid of the views, then each view towards it."""
    U = alone(L, k)[0] if start is None else start.U
    while True:
        centroid = common_directions(U, k)
        pairs = [top_eigenvectors(drawn(L_v, [centroid], lam), k) for L_v in L]
        U = tuple(vectors for _, vectors in pairs)
        taken = np.array([values.sum() for values, _ in pairs])
        # tr(U'LU) + lam |U'U*|^2 is the sum of the eigenvalues that were taken.
        yield float(taken.sum()), CentroidState(U, centroid, taken)


def common_directions(U: Sequence[Float], k: int) -> Float:
    """The k leading eigenvectors of sum_v U_v U_v': the left singular vectors of [U_1 ... U_V]."""
    side = np.hstack(list(U))
    V, s = directions_from_gram(side.T @ side, k)
    return np.asarray(side @ V / s)


class _CoRegularizedSC(IterativeClusterer):
    """What both methods share."""

    paper: ClassVar[str] = "Kumar, Rai, Daume. Co-regularized Multi-view Spectral Clustering. NIPS 2011."
    bibtex: ClassVar[str] = """@inproceedings{kumar2011coregularized,
  author = {Kumar, Abhishek and Rai, Piyush and Daum{\\'e} III, Hal},
  title = {Co-regularized Multi-view Spectral Clustering},
  booktitle = {Advances in Neural Information Processing Systems},
  volume = {24},
  year = {2011}
}"""
    requires: ClassVar[Requires] = Requires(max_samples=10_000, matrices=3, per_view=True)
    cost: ClassVar[str] = "O(n^2)"
    has_map: ClassVar[bool] = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IterativeClusterer._parameter_constraints,
        "lam": [Interval(Real, 0, None, closed="left")],
        "fill": [str, FillViews],
        "max_samples": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 0.01,
        fill: Any = "mean",
        prepare: Any = None,
        max_iter: int = 5,
        tol: float | None = 1e-6,
        max_samples: int = 10_000,
        n_init: int = 20,
        random_state: Any = None,
        verbose: bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.fill = fill
        self.prepare = prepare
        self.max_iter = max_iter
        self.tol = tol
        self.max_samples = max_samples
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _embed(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        _, whole = complete(views, self.fill)
        graphs = [median_gaussian_graph(whole.data(v)) for v in range(views.n_views)]
        self.widths_ = np.array([width for _, width in graphs])
        L = [normalised_graph(K) for K, _ in graphs]
        steps = self._steps(L, None if start is None else start.state)
        state, trace = self._run(steps, start, direction="up", warn=False)
        self.embeddings_ = list(state.U)
        return Embedding(None, H=unit_rows(self._rows(state)), trace=trace, state=state)

    def _steps(self, L: Sequence[Float], start: Any) -> Steps:
        raise NotImplementedError

    def _rows(self, state: Any) -> Float:
        raise NotImplementedError


class PairwiseSC(_CoRegularizedSC):
    """Cluster by spectral embeddings of filled views, each drawn towards all others.

    The rows of all views' embeddings, side by side, are clustered by k-means. For complete data: unseen rows are filled
    first, and a filling invents data.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    lam : float
        How strongly the embeddings are drawn towards each other; the authors call the method sensitive to it, and use
        0.01 to 0.05.
    fill : str or FillViews
        How unseen rows are filled; see `FillViews`.
    prepare : see `PrepareViews`
        By default None: rows as they are; the scale of a view as a whole does not matter.
    max_iter, tol : int, float
        The loop ends after `max_iter` iterations or at a relative change of the objective below `tol`.
    max_samples : int
        Refuse more samples than that, with the bytes: each view holds matrices of samples by samples.
    n_init : int
        Starts of k-means on the embedding.
    random_state : int, RandomState or None
        Seed of k-means.
    verbose : bool
        Show progress.
    callback : callable or None
        Called as ``callback(iteration, objective, state)``; True stops.

    Attributes
    ----------
    labels_, ids_, embedding_, views_seen_, trace_, state_, n_iter_
        See `IncompleteClusterer` and `IterativeClusterer`.
    embeddings_ : list of ndarrays, shape (n_samples, n_clusters)
        U_v.
    widths_ : ndarray, shape (n_views,)
        Of each view's Gaussian.

    References
    ----------
    Kumar, Rai, Daume. Co-regularized Multi-view Spectral Clustering. NIPS 2011.

    Examples
    --------
    >>> from conspectus import PairwiseSC, missing
    >>> from conspectus.datasets import load_mfeat
    >>> digits = load_mfeat()
    >>> X = [digits.X[name][::10] for name in ("fou", "pix")]
    >>> mask = missing.paired(200, 2, 0.3, seed=0)
    >>> PairwiseSC(10, random_state=0).fit_predict(missing.remove(X, mask)).shape
    (200,)
    """

    def _steps(self, L: Sequence[Float], start: Any) -> Steps:
        return pairwise_steps(L, self.n_clusters, self.lam, start)

    def _rows(self, state: Any) -> Float:
        return np.hstack(state.U)


class CentroidSC(_CoRegularizedSC):
    """Cluster by a centroid of spectral embeddings of filled views, which it draws towards itself.

    The rows of the centroid are clustered by k-means. For complete data: unseen rows are filled first, and a filling
    invents data.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    lam : float
        How strongly the embeddings are drawn towards the centroid; the authors call the method sensitive to it, and use
        0.01 to 0.05.
    fill, prepare, max_iter, tol, max_samples, n_init, random_state, verbose, callback
        As of `PairwiseSC`.

    Attributes
    ----------
    labels_, ids_, embedding_, views_seen_, trace_, state_, n_iter_
        See `IncompleteClusterer` and `IterativeClusterer`.
    embeddings_, widths_
        As of `PairwiseSC`.

    References
    ----------
    Kumar, Rai, Daume. Co-regularized Multi-view Spectral Clustering. NIPS 2011.

    Examples
    --------
    >>> from conspectus import CentroidSC, missing
    >>> from conspectus.datasets import load_mfeat
    >>> digits = load_mfeat()
    >>> X = [digits.X[name][::10] for name in ("fou", "pix")]
    >>> mask = missing.paired(200, 2, 0.3, seed=0)
    >>> CentroidSC(10, fill="alm_mc", random_state=0).fit_predict(missing.remove(X, mask)).shape
    (200,)
    """

    def _steps(self, L: Sequence[Float], start: Any) -> Steps:
        return centroid_steps(L, self.n_clusters, self.lam, start)

    def _rows(self, state: Any) -> Float:
        return np.asarray(state.centroid)
