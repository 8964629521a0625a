"""MultiNMF: nonnegative factors of several views, tied by a consensus.

    Liu, Wang, Gao, Han. Multi-View Clustering via Joint Nonnegative Matrix Factorization. SDM 2013.

    min  sum_v |X_v - V_v U_v'|^2 + alpha_v |V_v Q_v - V*|^2
    over U_v (d_v x k), V_v (n x k), V* (n x k) >= 0,    Q_v = diag(1'U_v)

It is a method for complete data: a row that a view has not seen is taken to be the mean of those seen. The product with
the filled matrix needs only the rows seen and their mean. With lam = 0 this is GPMVC on complete data; here V* is held
while the views move, as the paper has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import RandomState
from sklearn.utils._param_validation import Interval, StrOptions

from conspectus._typing import Float
from conspectus.base import Embedding, IterativeClusterer
from conspectus.errors import InputError
from conspectus.loop import Callback, Checkpoint
from conspectus.methods.factors.graphs import per_view
from conspectus.methods.factors.maps import Coefficients
from conspectus.methods.factors.one_view import OneView, Pull
from conspectus.methods.factors.scale import scales
from conspectus.methods.factors.solvers import Solver, accelerated, official
from conspectus.methods.factors.starts import chained_start
from conspectus.numerics.rows import unit_rows
from conspectus.requires import Requires
from conspectus.views.table import Views

SOLVERS: dict[str, Solver] = {"apg": accelerated, "mu": official}


class State(NamedTuple):
    """What the iteration goes on from: normalised factors of each view, and V*."""

    U: tuple[Float, ...]
    V: tuple[Float, ...]
    C: Float


def steps(
    parts: Sequence[OneView], alpha: Float, begin: Callable[[], State], solve: Solver, inner: int
) -> Iterator[tuple[float, State]]:
    """Bring every view nearer to V*, then V* to their mean; no step can raise the objective."""
    start = begin()
    U, V, C = list(start.U), list(start.V), start.C
    while True:
        costs = []
        for v, part in enumerate(parts):
            pull = Pull(C, np.full((len(C), 1), alpha[v]))
            for _ in range(inner):
                U[v], V[v], cost = solve(part, U[v], V[v], pull)
            costs.append(cost)
        C = np.average(V, axis=0, weights=alpha)
        apart = sum(a * float(((x - C) ** 2).sum()) for a, x in zip(alpha, V))
        yield sum(costs) + apart, State(tuple(U), tuple(V), C)


def filled_parts(views: Views, c: Sequence[float]) -> list[OneView]:
    """Return the scaled views with unseen rows at the mean."""
    return [OneView.filled(views.data(v), views.seen[:, v], c[v]) for v in range(views.n_views)]


class MultiNMF(IterativeClusterer):
    """Cluster views by nonnegative parts whose coefficients agree; unseen rows are taken to be the mean of those seen.

    A baseline for methods that need no filling, such as `GPMVC`.

    Parameters
    ----------
    n_clusters : int
        Number of clusters, and of parts in every view.
    alpha : float or list of float
        Weight of the consensus, for all views or one a view.
    solver : {"apg", "mu"}
        Accelerated projected gradients with exact columns of the bases, or the paper's multiplicative updates.
    inner_iter : int
        Iterations on a view before the consensus moves. (The paper's code makes 200 of "mu".)
    prepare : see `PrepareViews`
        By default data are taken as they are where they are nonnegative.
    max_iter, tol : int, float
        The loop ends after `max_iter` rounds or at a relative change of the objective below `tol`.
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
    Liu, Wang, Gao, Han. Multi-View Clustering via Joint Nonnegative Matrix Factorization. SDM 2013.

    Examples
    --------
    >>> from conspectus import MultiNMF
    >>> from conspectus.datasets import load_mfeat
    >>> digits = load_mfeat()
    >>> X = [digits.X["fou"][::10], digits.X["pix"][::10]]
    >>> MultiNMF(10, random_state=0).fit(X).consensus_.shape
    (200, 10)
    """

    paper: ClassVar[str] = (
        "Liu, Wang, Gao, Han. Multi-View Clustering via Joint Nonnegative Matrix Factorization. SDM 2013."
    )
    bibtex: ClassVar[str] = """@inproceedings{liu2013multi,
  author = {Liu, Jialu and Wang, Chi and Gao, Jing and Han, Jiawei},
  title = {Multi-View Clustering via Joint Nonnegative Matrix Factorization},
  booktitle = {Proceedings of the SIAM International Conference on Data Mining},
  pages = {252--260},
  year = {2013}
}"""
    requires: ClassVar[Requires] = Requires(nonnegative=True)
    cost: ClassVar[str] = "O(n)"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IterativeClusterer._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "solver": [StrOptions({"apg", "mu"})],
        "inner_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        alpha: float | Sequence[float] = 0.01,
        solver: str = "apg",
        inner_iter: int = 10,
        prepare: Any = "nonnegative",
        max_iter: int = 30,
        tol: float | None = 1e-6,
        n_init: int = 10,
        random_state: Any = None,
        verbose: bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.solver = solver
        self.inner_iter = inner_iter
        self.prepare = prepare
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _embed(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        c, alpha = scales(views), np.array(per_view(self.alpha, views.n_views, "alpha"))
        if not alpha.all():
            raise InputError("alpha must be positive for every view: leave a view out to ignore it")
        parts = filled_parts(views, c)

        def begin() -> State:
            if start is not None and start.state is not None:
                return State(*start.state)
            U, V = zip(*chained_start(parts, self.n_clusters, rng))
            return State(U, V, V[0])

        iterates = steps(parts, alpha, begin, SOLVERS[self.solver], self.inner_iter)
        state, trace = self._run(iterates, start, direction="down", warn=False)
        self.bases_, self.consensus_ = list(state.U), state.C
        return Embedding(Coefficients(state.U, c, tuple(alpha)), H=unit_rows(state.C), trace=trace, state=state)
