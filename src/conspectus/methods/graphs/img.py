"""IMG: incomplete multi-modality grouping.

    Zhao, Liu, Fu. Incomplete Multi-Modal Visual Data Grouping. IJCAI 2016.

    min  sum_v |X_v - P[o_v] U_v|^2 + lam |U_v|^2  +  beta tr(P' L_A P) + gamma |A|^2
    over U_v (k x d_v), P (n x k), A >= 0 with columns that sum to 1;   L_A the Laplacian of (A + A') / 2

o_v are the samples that view v has seen. With a copy Q of P, multipliers Lam and a step mu that grows:

    U_v = (P_v'P_v + lam I)^-1 P_v'X_v,   P_v = P[o_v]
    P_i = (2 sum_v x_i U_v' - Lam_i + mu Q_i) (2 sum_v U_v U_v' + mu I)^-1,   v over the views that saw i
    Q   = (2 beta L_A + mu I)^-1 (Lam + mu P)
    A_j = Pi( -beta / (4 gamma) |Q_i - Q_j|^2 ),   A_jj = 0
    Lam = Lam + mu (P - Q),   mu = min(1.1 mu, 1e10)

Pi is the projection on the simplex. The released code fits U_v to the complete samples alone and cuts where it should
project, so that columns of A sum to 10 and more. A sample must not be its own neighbour: it would take all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import RandomState
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve
from sklearn.utils._param_validation import Interval

from conspectus._typing import Array, Bool, Float
from conspectus.base import Embedding, IterativeClusterer
from conspectus.loop import Callback, Checkpoint
from conspectus.numerics.backend import to_numpy
from conspectus.numerics.distances import squared_distances, squared_norms
from conspectus.numerics.laplacian import laplacian_vectors
from conspectus.numerics.simplex import project_simplex
from conspectus.requires import Requires
from conspectus.views.table import Views

MU, GROWTH, MOST = 0.1, 1.1, 1e10

Graph = Callable[[Float], Float]


class State(NamedTuple):
    """U_v, P and its copy Q, the multipliers Lam and their step, A, and beta (L + L') of the next step."""

    U: tuple[Float, ...]
    P: Float
    Q: Float
    Lam: Float
    mu: float
    A: Float
    smoothness: Float


class Data(NamedTuple):
    """The rows of each view, which view saw which sample, and the patterns of that."""

    X: tuple[Array, ...]
    seen: Bool
    patterns: Bool
    group: Any

    @classmethod
    def of(cls, views: Views) -> Data:
        """Read the views."""
        X = (views.data(v) for v in range(views.n_views))
        return cls(tuple(x if hasattr(x, "toarray") else to_numpy(x) for x in X), views.seen, *views.patterns)


def steps(
    data: Data,
    weights: tuple[float, float, float],
    P: Float,
    start: State | None = None,
    *,
    tol: float = 1e-8,
    graph: Graph | None = None,
    fitted: Bool | None = None,
) -> Iterator[tuple[float, State]]:
    """Iterate from `P` and the graph on it, or from `start`, until ``max |P - Q|`` is at most `tol`.

    Parameters
    ----------
    data : Data
    weights : lam, beta, gamma
    P : ndarray, shape (n_samples, k)
    start : State, optional
        Where an earlier run stopped.
    tol : float
    graph : callable, optional
        Makes A of ``beta |Q_i - Q_j|^2 / (4 gamma)``; by default `neighbours`.
    fitted : boolean array, shape (n_views, n_samples), optional
        The samples that each U_v is fitted to; by default those that the view has seen.
    """
    lam, beta, _ = weights
    graph = neighbours if graph is None else graph
    fitted = data.seen.T if fitted is None else fitted
    state = first(P, 2 * beta * laplacian(_graph(P, weights, graph))) if start is None else start
    while start is None or np.abs(state.P - state.Q).max() > tol:
        U = tuple(_basis(x[f[s]], state.P[f], lam) for x, s, f in zip(data.X, data.seen.T, fitted))
        P = _coordinates(data, U, state)
        Q = _smooth(state.smoothness, state.mu, state.Lam + state.mu * P)
        A = _graph(Q, weights, graph)
        L = laplacian(A)
        Lam = state.Lam + state.mu * (P - Q)
        start = state = State(U, P, Q, Lam, min(GROWTH * state.mu, MOST), A, 2 * beta * L)
        yield objective(data, weights, state, L), state


def first(P: Float, smoothness: Float) -> State:
    """Begin at `P`, its copy the same."""
    return State((), P, P, np.zeros_like(P), MU, np.zeros_like(smoothness), smoothness)


def _graph(Q: Float, weights: tuple[float, float, float], graph: Graph) -> Float:
    beta, gamma = weights[1:]
    A = graph(beta / (4 * gamma) * squared_distances(Q, Q))
    return (A + A.T) / 2


def laplacian(A: Float) -> Float:
    """L = D - A."""
    return np.asarray(np.diag(A.sum(axis=0)) - A)


def _basis(X: Array, P: Float, lam: float) -> Float:
    """U = (P'P + lam I)^-1 P'X."""
    return np.asarray(solve(P.T @ P + lam * np.eye(P.shape[1]), (X.T @ P).T, assume_a="pos"))


def _coordinates(data: Data, U: Sequence[Float], state: State) -> Float:
    """P, by the patterns of presence: the views that saw a sample say where it lies."""
    right = state.mu * state.Q - state.Lam
    for X, seen, U_v in zip(data.X, data.seen.T, U):
        right[seen] += 2 * (X @ U_v.T)
    P = np.empty_like(right)
    for g, pattern in enumerate(data.patterns):
        M = state.mu * np.eye(right.shape[1]) + 2 * sum(U[v] @ U[v].T for v in np.flatnonzero(pattern).tolist())
        P[data.group == g] = solve(M, right[data.group == g].T, assume_a="pos").T
    return P


def _smooth(smoothness: Float, mu: float, right: Float) -> Float:
    """Q = (beta (L + L') + mu I)^-1 right; by Cholesky, for L is a Laplacian."""
    M = smoothness + mu * np.eye(len(right))
    try:
        return np.asarray(cho_solve(cho_factor(M, lower=True), right))
    except LinAlgError:
        return np.asarray(solve(M, right, assume_a="sym"))


def neighbours(D: Float) -> Float:
    """Project the negative distances of each row on the simplex, the row itself left out."""
    F = -D
    np.fill_diagonal(F, -np.inf)
    return np.asarray(project_simplex(F)) if len(F) > 1 else np.zeros_like(F)


def objective(data: Data, weights: tuple[float, float, float], state: State, L: Float) -> float:
    """The paper's objective at P, U and A."""
    lam, beta, gamma = weights
    total = beta * float((state.P * (L @ state.P)).sum()) + gamma * float((state.A**2).sum())
    for X, seen, U in zip(data.X, data.seen.T, state.U):
        P = state.P[seen]
        # |X - PU|^2, without forming PU
        fit = float(squared_norms(X).sum()) - 2 * float(((X @ U.T) * P).sum()) + float(((P.T @ P) * (U @ U.T)).sum())
        total += max(fit, 0.0) + lam * float((U**2).sum())
    return total


def normalised_cut(A: Float, k: int) -> Float:
    """The relaxed normalised cut of a graph without loops: D^-1/2 F, F the k least eigenvectors of its Laplacian."""
    W = A - np.diag(np.diagonal(A))
    d = W.sum(axis=1)
    _, F = laplacian_vectors(W, k)
    return np.asarray(np.where(d > 0, 1 / np.sqrt(np.where(d > 0, d, 1)), 0)[:, None] * F)


class IMG(IterativeClusterer):
    """Cluster two views by common coordinates and a graph on them that are learnt together.

    Each view is a linear image of the coordinates of the samples that it has seen; neighbours in the learnt graph get
    similar coordinates, so that samples of which only one view is known meet in the graph. The clusters are the
    normalised cuts of the graph. Every iteration solves a system of samples by samples: O(n^3).

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    lam, beta, gamma : float
        Weights of the bases' size, of the graph and of its spread: the larger `gamma`, the more neighbours; too few,
        and the graph falls to pieces.
    n_components : int or None
        Number of coordinates; None: `n_clusters`.
    prepare : see `PrepareViews`
        By default unit rows.
    max_iter, tol : int, float
        The loop ends after `max_iter` iterations or when no entry of P differs from its copy Q by more than `tol`.
    max_samples : int
        Refuse more samples than that, with the bytes.
    n_init : int
        Starts of k-means on the embedding.
    random_state : int, RandomState or None
        Seed of the first coordinates and of k-means.
    verbose : bool
        Show progress.
    callback : callable or None
        Called as ``callback(iteration, objective, state)``; True stops.

    Attributes
    ----------
    labels_, ids_, embedding_, views_seen_, trace_, state_, n_iter_
        See `IncompleteClusterer` and `IterativeClusterer`. The objective may rise: the graph and the coordinates agree
        only in the end.
    coordinates_ : ndarray, shape (n_samples, n_components)
        P.
    graph_ : ndarray, shape (n_samples, n_samples)
        A, symmetric.

    References
    ----------
    Zhao, Liu, Fu. Incomplete Multi-Modal Visual Data Grouping. IJCAI 2016.

    Examples
    --------
    >>> from conspectus import IMG, missing
    >>> from conspectus.datasets import load_mfeat
    >>> digits = load_mfeat()
    >>> X = [digits.X[name][::10] for name in ("fou", "pix")]
    >>> mask = missing.paired(200, 2, 0.3, seed=0)
    >>> IMG(10, random_state=0).fit_predict(missing.remove(X, mask)).shape
    (200,)
    """

    paper: ClassVar[str] = "Zhao, Liu, Fu. Incomplete Multi-Modal Visual Data Grouping. IJCAI 2016."
    bibtex: ClassVar[str] = """@inproceedings{zhao2016img,
  author = {Zhao, Handong and Liu, Hongfu and Fu, Yun},
  title = {Incomplete Multi-Modal Visual Data Grouping},
  booktitle = {Proceedings of the International Joint Conference on Artificial Intelligence},
  pages = {2392--2398},
  year = {2016}
}"""
    requires: ClassVar[Requires] = Requires(max_views=2, max_samples=5_000, matrices=7, instead="NEMO, APMC or EEIMVC")
    cost: ClassVar[str] = "O(n^3)"
    has_map: ClassVar[bool] = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IterativeClusterer._parameter_constraints,
        "lam": [Interval(Real, 0, None, closed="neither")],
        "beta": [Interval(Real, 0, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_samples": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 0.1,
        beta: float = 0.3,
        gamma: float = 0.1,
        n_components: int | None = None,
        prepare: Any = "l2",
        max_iter: int = 200,
        tol: float = 1e-8,
        max_samples: int = 5_000,
        n_init: int = 20,
        random_state: Any = None,
        verbose: bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.beta = beta
        self.gamma = gamma
        self.n_components = n_components
        self.prepare = prepare
        self.max_iter = max_iter
        self.tol = tol
        self.max_samples = max_samples
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _embed(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        P = rng.random_sample((len(views), self.n_components or self.n_clusters))
        weights = (self.lam, self.beta, self.gamma)
        iterates = steps(Data.of(views), weights, P, None if start is None else start.state, tol=self.tol)
        state, trace = self._run(iterates, start, tol=None)
        self.coordinates_, self.graph_ = state.P, state.A
        return Embedding(None, H=normalised_cut(state.A, self.n_clusters), trace=trace, state=state)
