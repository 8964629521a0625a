"""NMF and GNMF: nonnegative factors of one view, on their own or with coefficients that are smooth on a graph.

    Cai, He, Han, Huang. Graph Regularized Nonnegative Matrix Factorization for Data Representation. TPAMI 2011.

    min |X - V U'|^2 + lam tr(V'LV)        over U (d x k), V (n x k) >= 0;    NMF: lam = 0

The value falls with the scale of V alone, so that in the released code lam acts only because one stops early. The
corrected form keeps the columns of U at sum one (`one_view`): GPMVC with one view and no consensus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

from numpy.random import RandomState
from sklearn.utils._param_validation import Interval, StrOptions

from conspectus._typing import Float
from conspectus.base import Embedding, IterativeClusterer
from conspectus.loop import Callback, Checkpoint, Steps
from conspectus.methods.factors.graphs import KINDS, graph_of
from conspectus.methods.factors.maps import Coefficients
from conspectus.methods.factors.one_view import OneView, Pull, normalised
from conspectus.methods.factors.scale import scales
from conspectus.methods.factors.solvers import SOLVERS, Solver
from conspectus.methods.factors.starts import (
    START_ITER,
    Factors,
    best_start,
    random_factors,
    unit_columns,
    unscaled_steps,
)
from conspectus.numerics.rows import unit_rows
from conspectus.requires import Requires
from conspectus.views.table import Views


class State(NamedTuple):
    """What the iteration goes on from: the factors, and the smoothed objective of the released stopping rule."""

    U: Float
    V: Float
    mean_fit: float = 0.0


def steps(view: OneView, begin: Callable[[], State], solve: Solver) -> Iterator[tuple[float, State]]:
    """Lower the objective from normalised factors; no step can raise it."""
    U, V, _ = begin()
    none = Pull.none(V.shape)
    while True:
        U, V, cost = solve(view, U, V, none)
        yield cost, State(U, V)


def official_steps(view: OneView, begin: Callable[[], State], tol: float | None) -> Iterator[tuple[float, State]]:
    """Go on as the released code: no scaling in between, an end where the objective is near its smoothed course."""
    U, V, mean_fit = begin()
    for cost, factors in unscaled_steps(view, U, V):
        mean_fit = 0.1 * mean_fit + 0.9 * cost if mean_fit else (0.1 * 10 + 0.9) * cost
        yield cost, State(*factors, mean_fit)
        if tol is not None and mean_fit - cost <= tol * mean_fit:
            return


def first_factors(view: OneView, k: int, rng: RandomState, n_starts: int) -> Factors:
    """Return the best of several random starts, each after 30 multiplicative steps."""
    return best_start(view, (random_factors(view, k, rng) for _ in range(n_starts)), START_ITER)


class NMF(IterativeClusterer):
    """Cluster one view by nonnegative parts.

    For several views, wrap it: ``BestSingleView(NMF(k))`` or ``Concatenated(NMF(k))``.

    Parameters
    ----------
    n_clusters : int
        Number of clusters, and of parts (of which there are never more than columns).
    solver : {"apg", "mu"}
        Accelerated projected gradients with exact columns of the basis, or multiplicative updates.
    n_restarts : int
        Random starts, of which the best after 30 iterations is kept.
    prepare : see `PrepareViews`
        By default data are taken as they are where they are nonnegative.
    max_iter, tol : int, float
        The loop ends after `max_iter` iterations beyond those of the starts, or when the objective's relative change
        over ten is below `tol`.
    n_init : int
        Starts of k-means on the coefficients.
    random_state : int, RandomState or None
        Seed of the starts and of k-means.
    verbose : bool
        Show progress.
    callback : callable or None
        Called as ``callback(iteration, objective, state)``; True stops.

    Attributes
    ----------
    labels_, ids_, embedding_, views_seen_, trace_, state_, n_iter_
        See `IncompleteClusterer` and `IterativeClusterer`.
    basis_ : ndarray, shape (n_features, n_parts)
        U.
    coefficients_ : ndarray, shape (n_samples, n_parts)
        V, of the view divided by the sum of its entries.

    References
    ----------
    Lee, Seung. Algorithms for Non-negative Matrix Factorization. NIPS 2000.

    Examples
    --------
    >>> from conspectus import NMF
    >>> from conspectus.datasets import load_mfeat
    >>> model = NMF(10, random_state=0).fit(load_mfeat().X["pix"][::10])
    >>> model.basis_.shape
    (240, 10)
    """

    paper: ClassVar[str] = "Lee, Seung. Algorithms for Non-negative Matrix Factorization. NIPS 2000."
    bibtex: ClassVar[str] = """@inproceedings{lee2000algorithms,
  author = {Lee, Daniel D. and Seung, H. Sebastian},
  title = {Algorithms for Non-negative Matrix Factorization},
  booktitle = {Advances in Neural Information Processing Systems},
  volume = {13},
  year = {2000}
}"""
    requires: ClassVar[Requires] = Requires(max_views=1, nonnegative=True)
    cost: ClassVar[str] = "O(n)"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IterativeClusterer._parameter_constraints,
        "solver": [StrOptions({"apg", "mu"})],
        "n_restarts": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        solver: str = "apg",
        n_restarts: int = 10,
        prepare: Any = "nonnegative",
        max_iter: int = 100,
        tol: float | None = 1e-5,
        n_init: int = 10,
        random_state: Any = None,
        verbose: bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.solver = solver
        self.n_restarts = n_restarts
        self.prepare = prepare
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _embed(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        c = scales(views)
        view = self._one_view(views, OneView.of(views.data(0), scale=c[0]))

        def begin() -> State:
            if start is not None and start.state is not None:
                return State(*start.state)
            k = min(self.n_clusters, view.X.shape[1])  # more parts than columns fit exactly in countless ways
            found = first_factors(view, k, rng, self.n_restarts)
            return State(*(found if self._unscaled else normalised(*found)))

        iterates, options = self._iterates(view, begin)
        state, trace = self._run(iterates, start, warn=False, **options)
        U, V = unit_columns(*state[:2]) if self._unscaled else state[:2]
        self.basis_: Float = U
        self.coefficients_: Float = V
        codes = Coefficients((self.basis_,), c, (1.0,), unit=self.basis_.shape[1] > 1)  # one part has no direction
        H = unit_rows(self.coefficients_) if codes.unit else self.coefficients_
        return Embedding(codes, H=H, trace=trace, state=state)

    def _one_view(self, views: Views, view: OneView) -> OneView:
        """Return the view with its graph; NMF has none."""
        return view

    def _iterates(self, view: OneView, begin: Callable[[], State]) -> tuple[Steps, dict[str, Any]]:
        """Return the generator and how it is run."""
        return steps(view, begin, SOLVERS[self.solver]), {"window": 10, "direction": "down"}

    @property
    def _unscaled(self) -> bool:
        """Whether factors are left at the scale that they come to, as Cai's code leaves them."""
        return False


class GNMF(NMF):
    """Cluster one view by nonnegative parts, with coefficients that are alike for neighbouring rows.

    For several views, wrap it: ``BestSingleView(GNMF(k))`` or ``Concatenated(GNMF(k))``.

    Parameters
    ----------
    n_clusters, solver, n_restarts, prepare, max_iter, tol, n_init, random_state, verbose, callback
        As for `NMF`.
    lam : float
        Weight of the graph; it does not depend on the scale of the data.
    graph : {"heat", "binary", "cosine"} or list of one array
        As for `GPMVC`.
    n_neighbors : int
        How many nearest rows each row is joined with.
    variant : {"corrected", "official"}
        "official": Cai's code, multiplicative updates of an objective that falls with the scale of V alone; `tol` is
        then that of its own stopping rule.

    Attributes
    ----------
    labels_, ids_, embedding_, views_seen_, trace_, state_, n_iter_, basis_, coefficients_
        As of `NMF`.

    References
    ----------
    Cai, He, Han, Huang. Graph Regularized Nonnegative Matrix Factorization for Data Representation. TPAMI 2011.

    Examples
    --------
    >>> from conspectus import GNMF
    >>> from conspectus.datasets import load_mfeat
    >>> model = GNMF(10, random_state=0).fit(load_mfeat().X["pix"][::10])
    >>> model.coefficients_.shape
    (200, 10)
    """

    paper: ClassVar[str] = (
        "Cai, He, Han, Huang. Graph Regularized Nonnegative Matrix Factorization for Data Representation. TPAMI 2011."
    )
    bibtex: ClassVar[str] = """@article{cai2011graph,
  author = {Cai, Deng and He, Xiaofei and Han, Jiawei and Huang, Thomas S.},
  title = {Graph Regularized Nonnegative Matrix Factorization for Data Representation},
  journal = {IEEE Transactions on Pattern Analysis and Machine Intelligence},
  volume = {33},
  number = {8},
  pages = {1548--1560},
  year = {2011}
}"""
    cost: ClassVar[str] = "O(n) an iteration; the neighbours once, O(n^2)"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NMF._parameter_constraints,
        "lam": [Interval(Real, 0, None, closed="left")],
        "graph": [StrOptions(KINDS), list, tuple],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "variant": [StrOptions({"corrected", "official"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 1.0,
        graph: str | list[Any] = "heat",
        n_neighbors: int = 5,
        solver: str = "apg",
        variant: str = "corrected",
        n_restarts: int = 10,
        prepare: Any = "nonnegative",
        max_iter: int = 100,
        tol: float | None = 1e-5,
        n_init: int = 10,
        random_state: Any = None,
        verbose: bool = False,
        callback: Callback | None = None,
    ) -> None:
        super().__init__(
            n_clusters,
            solver=solver,
            n_restarts=n_restarts,
            prepare=prepare,
            max_iter=max_iter,
            tol=tol,
            n_init=n_init,
            random_state=random_state,
            verbose=verbose,
            callback=callback,
        )
        self.lam = lam
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.variant = variant

    def _one_view(self, views: Views, view: OneView) -> OneView:
        W = graph_of(views, 0, view.X, self.graph, self.n_neighbors) if self.lam > 0 else None
        return OneView(view.X, W, self.lam)

    def _iterates(self, view: OneView, begin: Callable[[], State]) -> tuple[Steps, dict[str, Any]]:
        if self._unscaled:
            return official_steps(view, begin, self.tol), {"tol": None}
        return super()._iterates(view, begin)

    @property
    def _unscaled(self) -> bool:
        return self.variant == "official"
