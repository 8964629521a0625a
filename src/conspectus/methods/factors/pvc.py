"""PVC: partial view clustering, with one row of coefficients a sample for both views.

    Li, Jiang, Zhou. Partial Multi-View Clustering. AAAI 2014.

    min  sum_v |X_v - P[o_v] U_v'|^2 + sum_i l_i |P_i|_1        over U_v (d_v x k), P (n x k) >= 0

o_v are the samples that view v has seen, and l_i = lam / k times the number of columns in which sample i was seen. With
the others fixed, the bases and the rows of P of each kind (seen in the first view only, in the second only, in both)
are nonnegative least squares problems, and each is solved exactly. The first P is that of the complete samples alone,
by the same iteration on them.

The penalty can be lowered by P <- c P, U <- U / c, so that the value depends on where one stops; the iterations are
therefore as few as in the released code. Nor does lam go with the scale of the data: where it is too large for it, P
becomes zero, which is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import RandomState
from sklearn.utils._param_validation import Interval

from conspectus._typing import Array, Float, Int
from conspectus.base import Embedding, IterativeClusterer
from conspectus.errors import InputError
from conspectus.loop import Callback, Checkpoint, run
from conspectus.methods.factors.maps import Coefficients
from conspectus.methods.factors.one_view import OneView
from conspectus.numerics.nonnegative import nonnegative_rows
from conspectus.numerics.rows import unit_rows
from conspectus.requires import Requires
from conspectus.views.table import Views

START_ITER = 20
"""The most iterations on the complete samples alone."""


class State(NamedTuple):
    """What the iteration goes on from."""

    P: Float
    U: tuple[Float, ...]


class Kind(NamedTuple):
    """The samples that were seen in the same views: their positions, their rows by view, and their penalty."""

    samples: Int
    X: dict[int, Array]
    penalty: float

    def coefficients(self, U: Sequence[Float], start: Float) -> Float:
        """Return their best rows of P."""
        G = np.sum([U[v].T @ U[v] for v in self.X], axis=0)
        B = np.sum([X @ U[v] for v, X in self.X.items()], axis=0)
        return nonnegative_rows(G, B - self.penalty / 2, start)


def kinds(views: Views, parts: Sequence[OneView], lam: float, k: int) -> list[Kind]:
    """Sort the samples by the views that have seen them; the complete ones come last."""
    patterns, group = views.patterns
    found = []
    for g in np.argsort(patterns.sum(axis=1), kind="stable"):
        samples, seen = np.flatnonzero(group == g), np.flatnonzero(patterns[g]).tolist()
        X = {v: parts[v].X[np.searchsorted(views.observed(v), samples)] for v in seen}
        found.append(Kind(samples, X, sum(penalties(views, lam, k)[v] for v in seen)))
    return found


def penalties(views: Views, lam: float, k: int) -> tuple[float, ...]:
    """Return what each view adds to the L1 penalty of the samples that it has seen."""
    return tuple(lam * width / k for width in views.widths)


def steps(views: Views, lam: float, begin: Callable[[], State]) -> Iterator[tuple[float, State]]:
    """Solve for the incomplete rows, the bases, and the complete rows, over and over; the objective never rises.

    Of ``begin()`` only the bases and the complete rows are used (where all are complete, only the rows).
    """
    P, U = begin()
    parts = [OneView.of(views.data(v)) for v in range(views.n_views)]
    groups = kinds(views, parts, lam, P.shape[1])
    while True:
        P = P.copy()
        for kind in groups:
            if len(kind.X) < views.n_views:
                P[kind.samples] = kind.coefficients(U, P[kind.samples])
        mine = [views.gather(v, P) for v in range(views.n_views)]
        U = tuple(nonnegative_rows(p.T @ p, part.X.T @ p, u) for p, part, u in zip(mine, parts, U))
        for kind in groups:
            if len(kind.X) == views.n_views:
                P[kind.samples] = kind.coefficients(U, P[kind.samples])
        if not P.any():
            raise InputError(f"PVC: with lam={lam} all coefficients are zero: lower lam, or scale the views up")
        yield value(views, parts, groups, P, U), State(P, U)


def value(views: Views, parts: Sequence[OneView], groups: Sequence[Kind], P: Float, U: Sequence[Float]) -> float:
    """Return the objective."""
    total = sum(kind.penalty * float(P[kind.samples].sum()) for kind in groups)
    return total + sum(residual(part, views.gather(v, P), U[v]) for v, part in enumerate(parts))


def residual(view: OneView, P: Float, U: Float) -> float:
    """|X - P U'|^2 from the Gram matrices."""
    fit = view.square - 2 * float(((view.X @ U) * P).sum()) + float(((U.T @ U) * (P.T @ P)).sum())
    return max(fit, 0.0)


def random_state(views: Views, k: int, rng: RandomState) -> State:
    """Draw all factors from U(0, 1)."""
    return State(rng.random_sample((len(views), k)), tuple(rng.random_sample((d, k)) for d in views.widths))


def complete_start(views: Views, lam: float, begin: State, tol: float | None) -> State:
    """Run the iteration on the complete samples alone, and put their rows among all."""
    complete = views.complete
    found, _ = run(steps(views.rows(complete), lam, lambda: begin), max_iter=START_ITER, tol=tol, warn=False)
    P = np.zeros((len(views), begin.P.shape[1]))
    P[complete] = found.P
    return State(P, found.U)


class PVC(IterativeClusterer):
    """Cluster two incomplete views by one nonnegative description a sample, sparse by an L1 penalty.

    It needs samples that both views have seen: they tie the views together. For more views use `GPMVC` or `DAIMC`.

    Parameters
    ----------
    n_clusters : int
        Number of clusters, and of parts.
    lam : float
        Weight of the L1 penalty. It does not go with the scale of the data: halve it where rows are half as long.
    prepare : see `PrepareViews`
        By default data are taken as they are where they are nonnegative.
    max_iter, tol : int, float
        The loop ends after `max_iter` iterations or at a relative change of the objective below `tol`; the one on the
        complete samples before it after 20, or at the same change.
    n_init : int
        Starts of k-means on the coefficients.
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
        U_v.
    coefficients_ : ndarray, shape (n_samples, n_clusters)
        P.

    References
    ----------
    Li, Jiang, Zhou. Partial Multi-View Clustering. AAAI 2014.

    Examples
    --------
    >>> from conspectus import PVC, missing
    >>> from conspectus.datasets import load_mfeat
    >>> digits = load_mfeat()
    >>> X = [digits.X["fou"][::10], digits.X["pix"][::10]]
    >>> views = missing.remove(X, missing.partial_examples(200, 2, 0.3, seed=0))
    >>> PVC(10, random_state=0).fit(views).coefficients_.shape
    (200, 10)
    """

    paper: ClassVar[str] = "Li, Jiang, Zhou. Partial Multi-View Clustering. AAAI 2014."
    bibtex: ClassVar[str] = """@inproceedings{li2014partial,
  author = {Li, Shao-Yuan and Jiang, Yuan and Zhou, Zhi-Hua},
  title = {Partial Multi-View Clustering},
  booktitle = {Proceedings of the AAAI Conference on Artificial Intelligence},
  volume = {28},
  pages = {1968--1974},
  year = {2014}
}"""
    requires: ClassVar[Requires] = Requires(
        max_views=2, nonnegative=True, common_samples=True, instead="GPMVC, DAIMC or AnchorConsensus"
    )
    cost: ClassVar[str] = "O(n)"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IterativeClusterer._parameter_constraints,
        "lam": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 0.01,
        prepare: Any = "nonnegative",
        max_iter: int = 20,
        tol: float | None = 1e-6,
        n_init: int = 10,
        random_state: Any = None,
        verbose: bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.prepare = prepare
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _embed(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        def begin() -> State:
            if start is not None and start.state is not None:
                return State(*start.state)
            if len(views.complete) < self.n_clusters:  # too few to span so many parts: their bases would be parallel
                return random_state(views, self.n_clusters, rng)
            first = random_state(views.rows(views.complete), self.n_clusters, rng)
            return complete_start(views, self.lam, first, self.tol)

        state, trace = self._run(steps(views, self.lam, begin), start, direction="down", warn=False)
        self.bases_, self.coefficients_ = list(state.U), state.P
        ones = (1.0,) * views.n_views
        codes = Coefficients(state.U, ones, ones, joint=True, penalty=penalties(views, self.lam, self.n_clusters))
        return Embedding(codes, H=unit_rows(state.P), trace=trace, state=state)
