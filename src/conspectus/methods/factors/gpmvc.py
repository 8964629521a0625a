"""GPMVC: partial multi-view clustering with graph regularised nonnegative factors.

    Rai, Negi, Chaudhury, Deshmukh. Partial Multi-View Clustering Using Graph Regularized NMF. ICPR 2016.

    min  sum_v |X_v - V_v U_v'|^2 + mu_v |V_v Q_v - V*[o_v]|^2 + lam_v tr(Q_v V_v' L_v V_v Q_v)
    over U_v (d_v x k), V_v (n_v x k), V* (n x k) >= 0,    Q_v = diag(1'U_v)

X_v holds the rows o_v that view v has seen, scaled so that its entries sum to n_v / n; L_v is the Laplacian of a graph
on them. Eq. (4) of the paper is this value at normalised factors (Q = I); without Q in the last term it can be lowered
for nothing by U <- c U, V <- V / c.

V* is the weighted mean of the V_v over the views that have seen a sample (eq. 9). Put in, it leaves a pull of each view
towards the mean T of the others, of weight m,

    s_i = sum of mu_u over the other views that have seen i,    m_i = mu_v s_i / (mu_v + s_i),

so that a sample seen once is pulled nowhere, and each view in turn is a problem of its own (`one_view`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import RandomState
from scipy.optimize import linear_sum_assignment
from sklearn.utils._param_validation import Interval, StrOptions

from conspectus._typing import Float, Int
from conspectus.base import Embedding, IterativeClusterer
from conspectus.errors import InputError
from conspectus.loop import Callback, Checkpoint
from conspectus.methods.factors.graphs import KINDS, graph_of, per_view
from conspectus.methods.factors.maps import Coefficients
from conspectus.methods.factors.one_view import OneView, Pull, normalised
from conspectus.methods.factors.scale import scales
from conspectus.methods.factors.solvers import SOLVERS, Solver, official
from conspectus.methods.factors.starts import Factors, single_view_start
from conspectus.numerics.rows import unit_rows
from conspectus.requires import Requires
from conspectus.views.table import Views

INNER = 75
"""Iterations on a view in each round of the released code."""


class State(NamedTuple):
    """What the iteration goes on from: normalised bases and coefficients of each view."""

    U: tuple[Float, ...]
    V: tuple[Float, ...]


@dataclass(frozen=True, eq=False)
class Problem:
    """Who has seen what, the data and graph of each view, and the weights mu of the consensus."""

    views: Views
    parts: tuple[OneView, ...]
    mu: Float

    @cached_property
    def rows(self) -> list[Int]:
        """o_v: the samples that each view has seen."""
        return [self.views.observed(v) for v in range(len(self.parts))]

    @cached_property
    def shared(self) -> list[list[tuple[int, Float, Int, Int]]]:
        """For each view, of the others: the position, the weight, and the rows of the samples that both have seen."""
        V = range(len(self.parts))
        return [[(u, self.mu[u], *_common(self.rows[v], self.rows[u])) for u in V if u != v] for v in V]

    @cached_property
    def masses(self) -> list[Float]:
        """s_i of each view: the weight of the other views that have seen its samples, as a column."""
        return [(self.views.seen[rows] @ self.mu - self.mu[v])[:, None] for v, rows in enumerate(self.rows)]

    def consensus(self, V: Sequence[Float]) -> Float:
        """Return V* of eq. (9); where no weight is given, the plain mean."""
        mu = self.mu if self.mu.all() else np.ones(len(V))
        total = np.zeros((len(self.views), V[0].shape[1]))
        for rows, weight, coefficients in zip(self.rows, mu, V):
            total[rows] += weight * coefficients
        return total / (self.views.seen @ mu)[:, None]

    def pull(self, v: int, V: Sequence[Float]) -> Pull:
        """Return the mean of the other views and its weight for each row of view v, V* having been put in."""
        total, s = np.zeros_like(V[v]), self.masses[v]
        for u, mu, mine, theirs in self.shared[v]:
            total[mine] += mu * V[u][theirs]
        alone = s <= 1e-12 * self.mu[v]  # rounding of a difference that is zero
        return Pull(
            total / np.where(alone, 1, s), np.where(alone, 0, self.mu[v] * s / np.where(alone, 1, self.mu[v] + s))
        )

    def disagreement(self, V: Sequence[Float]) -> float:
        """sum_v mu_v |V_v - V*[o_v]|^2 of normalised factors."""
        C, total = self.consensus(V), 0.0
        for rows, weight, coefficients in zip(self.rows, self.mu, V):
            apart = coefficients - C[rows]
            total += weight * float(np.vdot(apart, apart))
        return total


def _common(mine: Int, theirs: Int) -> tuple[Int, Int]:
    """Return the positions, in each of two rising lists, of what both hold."""
    return np.intersect1d(mine, theirs, assume_unique=True, return_indices=True)[1:]


def steps(problem: Problem, begin: Callable[[], State], solve: Solver) -> Iterator[tuple[float, State]]:
    """Lower the objective one view after the other, from normalised factors."""
    U, V = map(list, begin())
    while True:
        costs = []
        for v, part in enumerate(problem.parts):
            U[v], V[v], cost = solve(part, U[v], V[v], problem.pull(v, V))
            costs.append(cost)
        yield sum(costs) + problem.disagreement(V), State(tuple(U), tuple(V))


def official_steps(problem: Problem, begin: Callable[[], State], inner: int = INNER) -> Iterator[tuple[float, State]]:
    """Go on as the released code: many steps in every view towards the last plain mean, then a new mean.

    The graph is missing in the update of U, so that the objective may rise. The released code then returns the round
    that agrees best with the true labels; this one goes on to the last.
    """
    U, V = map(list, begin())
    while True:
        C, costs = problem.views.average(V), []
        for v, part in enumerate(problem.parts):
            pull = Pull(problem.views.gather(v, C), np.full((len(V[v]), 1), problem.mu[v]))
            for _ in range(inner):
                U[v], V[v], cost = official(part, U[v], V[v], pull)
            costs.append(cost)
        yield sum(costs) + problem.disagreement(V), State(tuple(U), tuple(V))


def single_view_state(problem: Problem, k: int, rng: RandomState, align: bool = False) -> State:
    """Factor every view on its own (sec. IV.1 of the paper); with `align`, put their columns in one order."""
    seeds = rng.randint(2**31 - 1, size=len(problem.parts))
    found = [normalised(*single_view_start(part, k, RandomState(s))) for part, s in zip(problem.parts, seeds)]
    return aligned(problem, found) if align else State(*zip(*found))


def aligned(problem: Problem, found: Sequence[Factors]) -> State:
    """Order each view's columns as those of the mean of the views before it, by the cosine on shared samples."""
    U, V = [found[0][0]], [found[0][1]]
    for v in range(1, len(found)):
        before = problem.views.only(range(v))
        shared = before.seen.any(axis=1) & problem.views.seen[:, v]
        mine, mean = problem.views.scatter(v, found[v][1])[shared], before.average(V)[shared]
        order = linear_sum_assignment(unit_rows(mean.T) @ unit_rows(mine.T).T, maximize=True)[1]
        U.append(found[v][0][:, order])
        V.append(found[v][1][:, order])
    return State(tuple(U), tuple(V))


class GPMVC(IterativeClusterer):
    """Cluster by nonnegative parts of each view, tied by a consensus, with coefficients that are smooth on graphs.

    Each view is factored into nonnegative parts; the coefficients of a sample are drawn together over the views that
    have seen it, and those of similar rows within a view. A sample needs only one view, and views need share only some
    samples. Sparse views stay sparse.

    Parameters
    ----------
    n_clusters : int
        Number of clusters, and of parts in every view.
    lam : float or list of float
        Weight of the graphs, for all views or one a view. It does not depend on the scale of the data.
    mu : float or list of float
        Weight of the consensus.
    graph : {"heat", "binary", "cosine"} or list of arrays
        How near rows are joined: weights that fall with the distance (relative to its median), ones, or cosines; or a
        symmetric nonnegative matrix of samples by samples for each view, of which the rows and columns of the samples
        that the view has seen are read.
    n_neighbors : int
        How many nearest rows each row is joined with; of equal distances the smaller index is taken.
    solver : {"apg", "mu"}
        Accelerated projected gradients with exact columns of the bases, or multiplicative updates.
    variant : {"corrected", "official"}
        "official": the update rule of the authors' code, which leaves the graph out of one update; its objective may
        rise. Unlike that code it returns the last iterate, not the one that agrees best with the true labels.
    init : {"single-view", "align"}
        Each view begins from its own graph regularised factors; "align" also matches their order between views.
    prepare : see `PrepareViews`
        By default data are taken as they are where they are nonnegative.
    max_iter, tol : int, float
        The loop ends after `max_iter` iterations, or when the objective's relative change over ten is below `tol`.
    n_init : int
        Starts of k-means on the consensus.
    random_state : int, RandomState or None
        Seed of the first factors and of k-means.
    verbose : bool
        Show progress.
    callback : callable or None
        Called as ``callback(iteration, objective, state)``; True stops.

    Attributes
    ----------
    labels_, ids_, embedding_, views_seen_, trace_, state_, n_iter_
        See `IncompleteClusterer` and `IterativeClusterer`.
    bases_ : list of arrays, shape (n_features, n_clusters)
        U_v, with columns that sum to one.
    consensus_ : ndarray, shape (n_samples, n_clusters)
        V*.

    References
    ----------
    Rai, Negi, Chaudhury, Deshmukh. Partial Multi-View Clustering Using Graph Regularized NMF. ICPR 2016.

    Examples
    --------
    >>> from conspectus import GPMVC, missing
    >>> from conspectus.datasets import load_mfeat
    >>> digits = load_mfeat()
    >>> X = [digits.X["fou"][::10], digits.X["pix"][::10]]
    >>> views = missing.remove(X, missing.partial_examples(200, 2, 0.3, seed=0))
    >>> model = GPMVC(10, tol=None, max_iter=30, random_state=0).fit(views)
    >>> bool(model.trace_.objective[-1] < model.trace_.objective[0])
    True
    """

    paper: ClassVar[str] = (
        "Rai, Negi, Chaudhury, Deshmukh. Partial Multi-View Clustering Using Graph Regularized NMF. ICPR 2016."
    )
    bibtex: ClassVar[str] = """@inproceedings{rai2016partial,
  author = {Rai, Nishant and Negi, Sumit and Chaudhury, Santanu and Deshmukh, Om},
  title = {Partial Multi-View Clustering Using Graph Regularized {NMF}},
  booktitle = {International Conference on Pattern Recognition},
  pages = {2192--2197},
  year = {2016}
}"""
    requires: ClassVar[Requires] = Requires(nonnegative=True)
    cost: ClassVar[str] = "O(n) an iteration; the neighbours once, O(n^2)"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IterativeClusterer._parameter_constraints,
        "lam": [Interval(Real, 0, None, closed="left"), "array-like"],
        "mu": [Interval(Real, 0, None, closed="left"), "array-like"],
        "graph": [StrOptions(KINDS), list, tuple],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "solver": [StrOptions({"apg", "mu"})],
        "variant": [StrOptions({"corrected", "official"})],
        "init": [StrOptions({"single-view", "align"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float | Sequence[float] = 0.01,
        mu: float | Sequence[float] = 0.1,
        graph: str | Sequence[Any] = "heat",
        n_neighbors: int = 5,
        solver: str = "apg",
        variant: str = "corrected",
        init: str = "single-view",
        prepare: Any = "nonnegative",
        max_iter: int = 100,
        tol: float | None = 1e-5,
        n_init: int = 10,
        random_state: Any = None,
        verbose: bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.mu = mu
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.solver = solver
        self.variant = variant
        self.init = init
        self.prepare = prepare
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _embed(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        c = scales(views)
        problem = self._problem(views, c)

        def begin() -> State:
            if start is not None and start.state is not None:
                return State(*start.state)
            return single_view_state(problem, self.n_clusters, rng, self.init == "align")

        if self.variant == "official":
            state, trace = self._run(official_steps(problem, begin), start, window=10, warn=False)
        else:
            iterates = steps(problem, begin, SOLVERS[self.solver])
            state, trace = self._run(iterates, start, window=10, direction="down", warn=False)
        self.bases_, self.consensus_ = list(state.U), problem.consensus(state.V)
        weights = tuple(problem.mu) if problem.mu.all() else (1.0,) * len(c)
        codes = Coefficients(state.U, c, weights)
        return Embedding(codes, H=unit_rows(self.consensus_), trace=trace, state=state)

    def _problem(self, views: Views, c: Sequence[float]) -> Problem:
        """Scale the views and join their rows."""
        lam = per_view(self.lam, views.n_views, "lam")
        parts = []
        for v in range(views.n_views):
            part = OneView.of(views.data(v), scale=c[v])
            W = graph_of(views, v, part.X, self.graph, self.n_neighbors) if lam[v] > 0 else None
            parts.append(OneView(part.X, W, lam[v]))
        mu = np.array(per_view(self.mu, views.n_views, "mu"))
        if mu.any() and not mu.all():
            raise InputError("mu must be positive for every view, or 0 for all: leave a view out to ignore it")
        return Problem(views, tuple(parts), mu)
