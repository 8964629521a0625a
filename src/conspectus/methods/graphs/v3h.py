"""V3H: view variation and view heredity.

    Fang, Hu, Zhou, Wu. V3H: View Variation and View Heredity for Incomplete Multi-view Clustering. IEEE TAI 2020.

X_v is d_v x n here, with columns of zeros for samples that view v has not seen, w_v their mask, . the entrywise
product. Each view writes its samples by each other, X_v = X_v Z_v + E_v, and splits the coefficients into M, of low
rank, what all views inherit, and N_v, rows on the simplex, what is the view's own:

    W_v . Z_v = M - p N_v,    W_v = w_v w_v',    p = 10

with embeddings F_v that are smooth over the graph N_v (alpha), agree with a common H (gamma), and errors E_v of few
rows (beta). ADMM with multipliers C1, C2 and a step mu that grows; H is the k leading eigenvectors of sum_v F_v F_v'.

    (1)  Z   from X'X Z + Z diag(w) = X'(X - E + C1/mu) + W . (M - p N - C2/mu), the solution of least norm
    (2)  N   Pi of the rows of (M - W . Z - C2/mu) / p - alpha D / (2 mu), without the diagonal, D_ij = |F_i - F_j|^2
    (3)  M   the singular values s of T = p N + W . Z + C2/mu, less (0.5/1.1) 2 / (1 + s)^2
    (4)  F   the k leading eigenvectors of gamma HH' - alpha W . L,  L the Laplacian of p (N + N')/2
    (5)  E   the rows of X - XZ + C1/mu, divided by beta/mu + 1/d,  d = 101 (100 |E_t| + 2) / (100 |E_t| + 1)^2
    (6)  C1 += mu (X - XZ - E),  C2 += mu (W . Z + p N - M)

The original solves (1) with the wrong sign, and begins from embeddings without the components of the graph
(``variant="official"`` keeps both). M is overwritten by one view after the other. And the iteration does not converge:
after some five iterations the objective grows, and on some data it ends in NaN. Here it stops before that, and the H of
the least objective counts (in the official variant, the last one).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import RandomState
from sklearn.utils._param_validation import Interval, StrOptions

from conspectus._typing import Array, Float
from conspectus.base import Embedding, IterativeClusterer
from conspectus.loop import Callback, Checkpoint
from conspectus.numerics.backend import to_numpy
from conspectus.numerics.distances import squared_distances
from conspectus.numerics.graphs import knn_graph
from conspectus.numerics.rows import unit_rows
from conspectus.numerics.simplex import project_simplex
from conspectus.numerics.spectral import top_eigenvectors
from conspectus.requires import Requires
from conspectus.views.table import Views

P, STEP, GROWTH = 10.0, 0.01, 1.1
"""How much a view's own coefficients count, ADMM's first step, and its growth."""


class Part(NamedTuple):
    """What ADMM holds of a view between iterations."""

    N: Float
    F: Float
    E: Float
    C1: Float
    C2: Float


class State(NamedTuple):
    """All views, what they inherit, the next step, the embedding, and that of the least objective so far."""

    parts: tuple[Part, ...]
    M: Float
    mu: float
    H: Float
    least: float
    best: Float


class Weights(NamedTuple):
    """alpha: smoothness of embeddings; beta: errors; gamma: agreement of embeddings."""

    alpha: float = 1e-3
    beta: float = 1e-4
    gamma: float = 0.1


class Fixed(NamedTuple):
    """What stays the same of a view: X, its mask w, and the eigenvalues and eigenvectors of X'X."""

    X: Float
    w: Float
    a: Float
    Q: Float

    @classmethod
    def of(cls, X: Float, seen: Array) -> Fixed:
        """Set the unseen columns to 0 and decompose X'X."""
        w = np.asarray(seen, dtype=np.float64)
        X = X * w
        a, Q = np.linalg.eigh(X.T @ X)
        return cls(X, w, np.where(a > 1e-10 * max(float(a[-1]), 1e-300), a, 0), Q)

    def solve(self, G: Float) -> Float:
        """Solve X'X Z + Z diag(w) = G; where the operator is singular, the solution of least norm."""
        divisor, right = self.a[:, None] + self.w, self.Q.T @ G
        return np.asarray(self.Q @ np.where(divisor > 0, right / np.where(divisor > 0, divisor, 1), 0))


def first_state(fixed: Sequence[Fixed], F: Sequence[Float]) -> State:
    """Begin with embeddings and nothing else."""
    n = len(F[0])
    zero = np.zeros((n, n))
    parts = (Part(zero, f, np.zeros_like(view.X), np.zeros_like(view.X), zero) for view, f in zip(fixed, F))
    return State(tuple(parts), zero, STEP, F[0], np.inf, F[0])


def steps(fixed: Sequence[Fixed], start: State, weights: Weights, sign: float = 1.0) -> Iterator[tuple[float, State]]:
    """Iterate (1) to (6) over the views; end where numbers are no longer finite."""
    parts, M, mu, _, least, best = start
    k, features = parts[0].F.shape[1], sum(len(view.X) for view in fixed)
    while True:
        H = leading(np.sum([part.F @ part.F.T for part in parts], axis=0), k)
        total, updated = 0.0, []
        for view, part in zip(fixed, parts):
            found = update(view, part, M, H, mu, weights, sign)
            if found is None:
                return
            value, part, M = found
            total += value
            updated.append(part)
        parts = tuple(updated)
        mu, total = mu * GROWTH, total / features
        if total < least:
            least, best = total, H
        yield total, State(parts, M, mu, H, least, best)


def update(
    view: Fixed, part: Part, M: Float, H: Float, mu: float, weights: Weights, sign: float
) -> tuple[float, Part, Float] | None:
    """One view's steps: its share of the objective, what it holds then, and M; None where numbers overflow."""
    (X, w, _, _), (N, F, E, C1, C2), (alpha, beta, gamma) = view, part, weights
    W = np.outer(w, w)
    with np.errstate(over="ignore", invalid="ignore"):
        Z = sign * view.solve(X.T @ (X - E + C1 / mu) + W * (M - P * N - C2 / mu))  # (1)
        N = (M - W * Z - C2 / mu) / P - alpha * squared_distances(F, F) / (2 * mu)
        if not np.isfinite(N).all():
            return None
        N = _without_diagonal(N)  # (2)
        U, s, Vt = np.linalg.svd(P * N + W * Z + C2 / mu)
        M = U * np.maximum(s - (0.5 / 1.1) * 2 / (1 + s) ** 2, 0) @ Vt  # (3)
        A = P * (N + N.T) / 2
        L = W * (np.diag(A.sum(axis=1)) - A)
        F = leading(gamma * H @ H.T - alpha * L, F.shape[1])  # (4)
        e = np.linalg.norm(E, axis=1)
        inverse = (100 * e + 1) ** 2 / (101 * (100 * e + 2))
        E = (X - X @ Z + C1 / mu) / (beta / mu + inverse)[:, None]  # (5)
        first, second = X - X @ Z - E, W * Z + P * N - M
        smooth, agree = float((F * (L @ F)).sum()), F.shape[1] - float(((H.T @ F) ** 2).sum())
        value = float((first**2).sum() + (second**2).sum() + s.sum() + beta * inverse.sum())
    if not np.isfinite(value):
        return None
    value += alpha * smooth + gamma * agree
    return value, Part(N, F, E, C1 + mu * first, C2 + mu * second), M  # (6)


def _without_diagonal(N: Float) -> Float:
    """Project the rows on the simplex, their own entry held at 0."""
    if len(N) > 1:
        np.fill_diagonal(N, -np.inf)
    return project_simplex(N)


def leading(A: Float, k: int) -> Float:
    """Return the k leading eigenvectors."""
    return top_eigenvectors((A + A.T) / 2, k)[1]


def first_embedding(Z: Float, w: Float, k: int, *, components: bool) -> Float:
    """Return the k eigenvectors of diag(w) L diag(w) with the least eigenvalues above 0, L the Laplacian of Z.

    A graph in several components has them in its eigenvectors of value 0. The original leaves these out, and with
    them what separates clusters best; `components` keeps them.
    """
    seen = np.flatnonzero(w)
    L = (np.diag(Z.sum(axis=1)) - Z)[np.ix_(seen, seen)]
    values, vectors = np.linalg.eigh((L + L.T) / 2)
    zero = values <= 1e-6
    last = np.zeros(len(seen), dtype=bool) if components and zero.sum() > 1 else zero
    chosen = np.argsort(last, kind="stable")[:k]
    F = np.zeros((len(w), k))
    F[np.ix_(seen, np.arange(len(chosen)))] = vectors[:, chosen]
    return F


def unit_features(views: Views, v: int) -> Float:
    """X_v, d_v x n: features of unit length, zeros for unseen samples."""
    X = to_numpy(views.scatter(v, views.data(v))).astype(np.float64)
    return np.asarray(unit_rows(X.T))


class V3H(IterativeClusterer):
    """Cluster by what the views' self-representations have in common; for at most 2,000 samples.

    Each view writes its samples as combinations of each other; what the combinations share gives the clusters. Holds
    several matrices of samples by samples for every view, and decomposes one a view and iteration.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    variant : {"corrected", "official"}
        "official" solves for the coefficients with the sign of the authors' code, which is wrong, leaves the components
        of the graph out of the first embeddings, so that well separated clusters are not found at all, and takes the
        last iterate, though the iteration diverges. On two views of faces the three cost 6 to 9 points of accuracy.
    alpha, beta, gamma : float
        How much the smoothness of the embeddings, the errors, and the agreement of the embeddings count.
    n_neighbors : int
        Of the graph that the first embeddings come from.
    prepare : see `PrepareViews`
        By default columns scaled to [0, 1]; columns are then brought to unit length by the method itself.
    max_iter, tol : int, float
        The loop ends after `max_iter` iterations or at a relative change of the objective below `tol`.
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
        See `IncompleteClusterer` and `IterativeClusterer`. The objective is the original's, with its parts of ADMM, and
        grows: the iteration does not converge. New samples get the label of the nearest class mean over their views.

    References
    ----------
    Fang, Hu, Zhou, Wu. V3H: View Variation and View Heredity for Incomplete Multi-view Clustering. IEEE Transactions
    on Artificial Intelligence, 2020.

    Examples
    --------
    >>> from conspectus import V3H, missing
    >>> from conspectus.datasets import load_mfeat
    >>> digits = load_mfeat()
    >>> X = [digits.X[name][::20] for name in ("fou", "kar")]
    >>> V3H(10, max_iter=5, random_state=0).fit_predict(missing.remove(X, missing.paired(100, 2, 0.5, seed=0))).shape
    (100,)
    """

    paper: ClassVar[str] = (
        "Fang, Hu, Zhou, Wu. V3H: View Variation and View Heredity for Incomplete Multi-view Clustering. IEEE TAI 2020."
    )
    bibtex: ClassVar[str] = """@article{fang2020v3h,
  author = {Fang, Xiang and Hu, Yuchong and Zhou, Pan and Wu, Dapeng Oliver},
  title = {V3H: View Variation and View Heredity for Incomplete Multiview Clustering},
  journal = {IEEE Transactions on Artificial Intelligence},
  volume = {1},
  number = {3},
  pages = {233--247},
  year = {2020}
}"""
    requires: ClassVar[Requires] = Requires(max_samples=2000, matrices=5, per_view=True, instead="SOMEAS or AWP")
    cost: ClassVar[str] = "O(n^3) time, O(n^2) memory"
    has_map: ClassVar[bool] = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IterativeClusterer._parameter_constraints,
        "variant": [StrOptions({"corrected", "official"})],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "beta": [Interval(Real, 0, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        variant: str = "corrected",
        alpha: float = 1e-3,
        beta: float = 1e-4,
        gamma: float = 0.1,
        n_neighbors: int = 5,
        prepare: Any = "minmax",
        max_iter: int = 30,
        tol: float | None = 1e-7,
        n_init: int = 10,
        random_state: Any = None,
        verbose: bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.variant = variant
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.prepare = prepare
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _embed(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        official = self.variant == "official"
        fixed = [Fixed.of(unit_features(views, v), views.seen[:, v]) for v in range(views.n_views)]
        graphs = (knn_graph(view.X.T, self.n_neighbors).toarray() for view in fixed)
        F = [first_embedding(Z, view.w, self.n_clusters, components=not official) for Z, view in zip(graphs, fixed)]
        weights = Weights(self.alpha, self.beta, self.gamma)
        sign = -1.0 if official else 1.0
        iterates = steps(fixed, first_state(fixed, F) if start is None else start.state, weights, sign)
        state, trace = self._run(iterates, start, warn=False)
        return Embedding(None, unit_rows(state.H if official else state.best), trace=trace, state=state)
