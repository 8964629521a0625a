"""DAIMC: doubly aligned incomplete multi-view clustering.

    Hu, Chen. Doubly Aligned Incomplete Multi-view Clustering. IJCAI 2018.

    min  sum_v |X_v - V[o_v] U_v'|^2 + a (|B_v'U_v - I|^2 + b |B_v|_{2,1})
    over U_v, B_v (d_v x k),  V (n x k) >= 0

V is shared by all views, o_v are the samples that view v has seen, and |B|_{2,1} is the sum of the lengths of B's rows.
B_v aligns the bases of the views. The data may have any sign. One iteration:

    U   (a B B') U + U S = X'V + a B,  S = V'V on o_v   a Sylvester equation: S = Q diag(theta) Q', then k ridge solves
    V   multiplicative steps with the positive and the negative parts of XU and U'U
    q   columns of V are brought to sum one, those of U the other way
    B   (U U' + b/2 D) B = U,  D = diag(1 / |row of the last B|)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import RandomState
from sklearn.utils._param_validation import Interval

from conspectus._typing import Array, Float, Int
from conspectus.base import Embedding, IterativeClusterer
from conspectus.loop import Callback, Checkpoint
from conspectus.methods.factors.maps import Coefficients
from conspectus.methods.factors.one_view import in_float64, square_sum
from conspectus.numerics.backend import to_numpy
from conspectus.numerics.kmeans import kmeans
from conspectus.numerics.nonnegative import multiply
from conspectus.views.table import Views

V_ITER, V_TOL = 30, 1e-4
"""The most multiplicative steps of V in an iteration, and the relative change of the fit that ends them."""
STARTS = 10
"""Starts of k-means in each view."""


class State(NamedTuple):
    """What the iteration goes on from."""

    U: tuple[Float, ...]
    V: Float
    B: tuple[Float, ...]


@dataclass(frozen=True, eq=False)
class Problem:
    """The rows of each view, who has seen what, and the weights a and b."""

    views: Views
    X: tuple[Array, ...]
    a: float
    b: float

    @classmethod
    def of(cls, views: Views, a: float, b: float) -> Problem:
        """Read the views."""
        return cls(views, tuple(in_float64(views.data(v)) for v in range(views.n_views)), a, b)

    @property
    def square(self) -> float:
        """Sum the squared entries of all views."""
        return sum(square_sum(X) for X in self.X)


def steps(problem: Problem, begin: Callable[[], State]) -> Iterator[tuple[float, State]]:
    """Solve for U, move V, balance their columns, solve for B."""
    U, V, B = begin()
    a, b, square = problem.a, problem.b, problem.square
    while True:
        mine = [problem.views.gather(v, V) for v in range(len(U))]
        U = tuple(basis(X.T @ z + a * B_v, z.T @ z, B_v, a) for X, z, B_v in zip(problem.X, mine, B))
        V, fit = coefficients(problem, U, V, square)
        q = V.sum(axis=0)
        V, U = V / np.where(q > 0, q, 1), tuple(u * q for u in U)
        B = tuple(alignment(u, b / 2 / row_lengths(B_v)) for u, B_v in zip(U, B))
        terms = (((B_v.T @ u - np.eye(len(q))) ** 2).sum() + b * row_lengths(B_v).sum() for u, B_v in zip(U, B))
        yield fit + a * float(sum(terms)), State(U, V, B)


def basis(R: Float, S: Float, B: Float, a: float) -> Float:
    """Solve (a B B') U + U S = R with the eigenvectors of S and the singular vectors of B, in O(d k^2).

    A cluster that is empty in the view makes S singular; its eigenvalues are kept above 1e-12 of the largest.
    """
    theta, Q = np.linalg.eigh(S)
    theta = np.maximum(theta, 1e-12 * max(float(theta[-1]), 1e-300))
    left, sigma, _ = np.linalg.svd(B, full_matrices=False)
    R = R @ Q
    inside = left.T @ R
    return ((R - left @ inside) / theta + left @ (inside / (a * sigma[:, None] ** 2 + theta))) @ Q.T


def alignment(U: Float, D: Float) -> Float:
    """Solve (U U' + diag(D)) B = U as B = D^-1 U (I + U'D^-1 U)^-1, which loses no digits where D is small."""
    scaled = U / D[:, None]
    return np.linalg.solve(np.eye(U.shape[1]) + U.T @ scaled, scaled.T).T


def row_lengths(B: Float) -> Float:
    """Return the length of every row, kept away from zero."""
    return np.sqrt((B * B).sum(axis=1) + 1e-10)


def coefficients(problem: Problem, U: Sequence[Float], V: Float, square: float) -> tuple[Float, float]:
    """Take multiplicative steps of V until the fit settles; also return the fit."""
    views = problem.views
    products = [X @ u for X, u in zip(problem.X, U)]
    up, down = (sum(views.scatter(v, np.maximum(s * p, 0)) for v, p in enumerate(products)) for s in (1, -1))
    grams = [u.T @ u for u in U]
    fit = None
    for step in range(V_ITER + 1):
        plus, minus = (
            sum(views.seen[:, [v]] * (V @ np.maximum(s * G, 0)) for v, G in enumerate(grams)) for s in (1, -1)
        )
        last, fit = fit, square + float((V * (plus - minus - 2 * (up - down))).sum())
        if step == V_ITER or (last is not None and abs(last - fit) < V_TOL * abs(last)):
            break
        V = V * np.sqrt(multiply(np.ones_like(V), up + minus, down + plus))
    return V, max(float(fit or 0.0), 0.0)


def first_state(problem: Problem, labels: Sequence[Int], centres: Sequence[Float]) -> State:
    """Begin from clusters of each view (mean-filled), softened so that nothing is zero."""
    V = np.mean([np.eye(len(c))[y] + 0.1 for y, c in zip(labels, centres)], axis=0)
    q = V.sum(axis=0)
    U = tuple((c.T + 0.1) * q for c in centres)
    return State(U, V / q, tuple(alignment(u, np.full(len(u), 1e-5)) for u in U))


def clustered(problem: Problem, k: int, rng: RandomState) -> State:
    """Cluster each view by k-means, its unseen rows at the mean of those seen."""
    labels, centres = [], []
    for v, X in enumerate(problem.X):
        dense = to_numpy(X)
        unseen = np.broadcast_to(dense.mean(axis=0), (len(problem.views.missing(v)), dense.shape[1]))
        filled = problem.views.scatter(v, dense, unseen)
        y, c, _ = kmeans(filled, k, n_init=STARTS, seed=rng.randint(2**31 - 1))
        labels.append(y)
        centres.append(c)
    return first_state(problem, labels, centres)


class DAIMC(IterativeClusterer):
    """Cluster incomplete views of any sign by one nonnegative description a sample, with aligned bases.

    A row that a view has not seen has no weight. Time and memory grow in proportion to samples and columns.

    Parameters
    ----------
    n_clusters : int
        Number of clusters, and of parts.
    a : float
        Weight of the alignment of the bases.
    b : float
        Weight of the row-sparsity of the alignment.
    prepare : see `PrepareViews`
        By default unit rows.
    max_iter, tol : int, float
        The loop ends after `max_iter` iterations or at a relative change of the objective below `tol`.
    n_init : int
        Starts of k-means on the coefficients.
    random_state : int, RandomState or None
        Seed of the first clusters and of k-means.
    verbose : bool
        Show progress.
    callback : callable or None
        Called as ``callback(iteration, objective, state)``; True stops.

    Attributes
    ----------
    labels_, ids_, embedding_, views_seen_, trace_, state_, n_iter_
        See `IncompleteClusterer` and `IterativeClusterer`.
    bases_ : list of arrays, shape (n_features, n_clusters)
        U_v.

    References
    ----------
    Hu, Chen. Doubly Aligned Incomplete Multi-view Clustering. IJCAI 2018.

    Examples
    --------
    >>> from conspectus import DAIMC, missing
    >>> from conspectus.datasets import load_mfeat
    >>> digits = load_mfeat()
    >>> X = [digits.X["fou"][::10], digits.X["pix"][::10]]
    >>> views = missing.remove(X, missing.partial_examples(200, 2, 0.3, seed=0))
    >>> DAIMC(10, random_state=0).fit(views).embedding_.shape
    (200, 10)
    """

    paper: ClassVar[str] = "Hu, Chen. Doubly Aligned Incomplete Multi-view Clustering. IJCAI 2018."
    bibtex: ClassVar[str] = """@inproceedings{hu2018doubly,
  author = {Hu, Menglei and Chen, Songcan},
  title = {Doubly Aligned Incomplete Multi-view Clustering},
  booktitle = {Proceedings of the International Joint Conference on Artificial Intelligence},
  pages = {2262--2268},
  year = {2018}
}"""
    cost: ClassVar[str] = "O(n)"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IterativeClusterer._parameter_constraints,
        "a": [Interval(Real, 0, None, closed="neither")],
        "b": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        a: float = 1e-4,
        b: float = 1e4,
        prepare: Any = "l2",
        max_iter: int = 30,
        tol: float | None = 1e-4,
        n_init: int = 10,
        random_state: Any = None,
        verbose: bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.a = a
        self.b = b
        self.prepare = prepare
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _embed(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        problem = Problem.of(views, self.a, self.b)

        def begin() -> State:
            if start is not None and start.state is not None:
                return State(*start.state)
            return clustered(problem, self.n_clusters, rng)

        state, trace = self._run(steps(problem, begin), start, warn=False)
        self.bases_ = list(state.U)
        ones = (1.0,) * views.n_views
        return Embedding(Coefficients(state.U, ones, ones, joint=True, unit=False), H=state.V, trace=trace, state=state)
