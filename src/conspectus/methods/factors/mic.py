"""MIC: multiple incomplete views clustering, by weighted nonnegative factors with row-sparse coefficients.

    Shao, He, Yu. Multiple Incomplete Views Clustering via Weighted Nonnegative Matrix Factorization with L2,1
    Regularization. ECML PKDD 2015.

    min  sum_v |W_v (X_v - U_v V_v')|^2 + alpha_v |W_v (U_v Q_v - U*)|^2 + beta_v |U_v Q_v|_{2,1}
    over U_v (n x k), V_v (d_v x k), U* (n x k) >= 0,    Q_v = diag(1'V_v)

Here U are the coefficients and V the bases. A row that a view has not seen is the mean of those seen, with the weight
w_i = n_v / n in the place of 1; |U|_{2,1} is the sum of the lengths of U's rows. The released code has no Q in the last
two terms and rescales all the same, so that its objective may rise; with Q in them, and their share in the step of V,
it does not. The weights belong to views whose entries sum to one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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
from conspectus.methods.factors.multi_nmf import filled_parts
from conspectus.methods.factors.one_view import MeanFilled, OneView
from conspectus.methods.factors.scale import scales
from conspectus.methods.factors.starts import chained_start
from conspectus.numerics.nonnegative import multiply
from conspectus.numerics.rows import unit_rows
from conspectus.requires import Requires
from conspectus.views.table import Views


class State(NamedTuple):
    """What the iteration goes on from: coefficients and bases of each view, and U*."""

    U: tuple[Float, ...]
    V: tuple[Float, ...]
    Us: Float


@dataclass(frozen=True, eq=False)
class Weighted:
    """A view filled with its mean, the squared weight of each row as a column, and the two weights of the penalties."""

    X: MeanFilled
    w2: Float
    alpha: float
    beta: float

    @classmethod
    def of(cls, part: OneView, alpha: float, beta: float, missing_weight: float | None = None) -> Weighted:
        """Weigh unseen rows by the share of those seen, unless told otherwise."""
        seen = part.X.seen
        weight = seen.mean() if missing_weight is None else missing_weight
        return cls(part.X, np.where(seen, 1.0, weight**2)[:, None], alpha, beta)

    @property
    def square(self) -> float:
        """|W X|^2."""
        unseen = self.w2[~self.X.seen]
        return self.X.square(float(unseen[0, 0]) if len(unseen) else 0.0)

    def penalty(self, U: Float, Us: Float) -> float:
        """Return the last two terms, of normalised factors."""
        apart = float((self.w2 * (U - Us) ** 2).sum())
        return self.alpha * apart + self.beta * float(np.sqrt((U * U).sum(axis=1)).sum())


def step(view: Weighted, U: Float, V: Float, Us: Float, corrected: bool = True) -> tuple[Float, Float, float]:
    """Take one multiplicative step of U, one of V, and bring the columns of V to sum one; also return the fit."""
    w2, a, b = view.w2, view.alpha, view.beta
    # A row of zeros has no direction: its length is kept from zero, or 0 / 0 follows.
    up, down = w2 * (view.X @ V + a * Us), w2 * (U @ (V.T @ V) + a * U) + b / 2 * U / lengths(U)
    U = U * np.sqrt(multiply(np.ones_like(U), up, down))
    C, H = view.X.T @ (w2 * U), U.T @ (w2 * U)
    up, down = C, V @ H
    if corrected:
        shrink = a * (w2 * U * U).sum(axis=0) + b / 2 * (U * U / lengths(U)).sum(axis=0)
        up, down = up + a * (w2 * U * Us).sum(axis=0), down + shrink * V.sum(axis=0)
    V = V * np.sqrt(multiply(np.ones_like(V), up, down))
    fit = view.square - 2 * float((C * V).sum()) + float(((V.T @ V) * H).sum())
    q = V.sum(axis=0)
    return U * q, V / np.where(q > 0, q, 1), max(fit, 0.0)


def lengths(U: Float) -> Float:
    """Return the length of every row as a column, kept from zero."""
    return np.sqrt((U * U).sum(axis=1, keepdims=True) + 1e-20)


def steps(
    views: Sequence[Weighted], begin: Callable[[], State], inner: int, corrected: bool = True
) -> Iterator[tuple[float, State]]:
    """Bring every view nearer to U*, then U* to their weighted mean."""
    start = begin()
    U, V, Us = list(start.U), list(start.V), start.Us
    while True:
        fits = []
        for v, view in enumerate(views):
            for _ in range(inner):
                U[v], V[v], fit = step(view, U[v], V[v], Us, corrected)
            fits.append(fit)
        Us = consensus(views, U)
        yield sum(fits) + sum(view.penalty(u, Us) for view, u in zip(views, U)), State(tuple(U), tuple(V), Us)


def consensus(views: Sequence[Weighted], U: Sequence[Float]) -> Float:
    """Return U*, the mean weighted by alpha_v w_i^2."""
    weights = [view.alpha * view.w2 for view in views]
    total, mass = sum(w * u for w, u in zip(weights, U)), sum(weights)
    return np.asarray(total / mass)


class MIC(IterativeClusterer):
    """Cluster incomplete views by nonnegative parts, unseen rows being means of little weight.

    Parameters
    ----------
    n_clusters : int
        Number of clusters, and of parts in every view.
    alpha : float or list of float
        Weight of the consensus, for all views or one a view.
    beta : float or list of float
        Weight of the row-sparsity of the coefficients, for views whose entries sum to one.
    variant : {"corrected", "official"}
        "official": the steps of the authors' code, whose objective may rise.
    inner_iter : int
        Iterations on a view before the consensus moves.
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
        V_v, with columns that sum to one.
    consensus_ : ndarray, shape (n_samples, n_clusters)
        U*.

    References
    ----------
    Shao, He, Yu. Multiple Incomplete Views Clustering via Weighted Nonnegative Matrix Factorization with L2,1
    Regularization. ECML PKDD 2015.

    Examples
    --------
    >>> from conspectus import MIC, missing
    >>> from conspectus.datasets import load_mfeat
    >>> digits = load_mfeat()
    >>> X = [digits.X["fou"][::10], digits.X["pix"][::10]]
    >>> views = missing.remove(X, missing.partial_examples(200, 2, 0.3, seed=0))
    >>> MIC(10, random_state=0).fit(views).consensus_.shape
    (200, 10)
    """

    paper: ClassVar[str] = (
        "Shao, He, Yu. Multiple Incomplete Views Clustering via Weighted Nonnegative Matrix Factorization with L2,1 "
        "Regularization. ECML PKDD 2015."
    )
    bibtex: ClassVar[str] = """@inproceedings{shao2015multiple,
  author = {Shao, Weixiang and He, Lifang and Yu, Philip S.},
  title = {Multiple Incomplete Views Clustering via Weighted Nonnegative Matrix Factorization with {L2,1}
    Regularization},
  booktitle = {Machine Learning and Knowledge Discovery in Databases, ECML PKDD},
  pages = {318--334},
  year = {2015}
}"""
    requires: ClassVar[Requires] = Requires(nonnegative=True)
    cost: ClassVar[str] = "O(n)"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IterativeClusterer._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "beta": [Interval(Real, 0, None, closed="left"), "array-like"],
        "variant": [StrOptions({"corrected", "official"})],
        "inner_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        alpha: float | Sequence[float] = 0.01,
        beta: float | Sequence[float] = 1e-7,
        variant: str = "corrected",
        inner_iter: int = 20,
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
        self.beta = beta
        self.variant = variant
        self.inner_iter = inner_iter
        self.prepare = prepare
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _embed(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        c, parts = scales(views), filled_parts(views, scales(views))
        alpha, beta = (per_view(getattr(self, name), views.n_views, name) for name in ("alpha", "beta"))
        if not all(alpha):
            raise InputError("alpha must be positive for every view: leave a view out to ignore it")
        weighted = [Weighted.of(part, a, b) for part, a, b in zip(parts, alpha, beta)]

        def begin() -> State:
            if start is not None and start.state is not None:
                return State(*start.state)
            V, U = zip(*chained_start(parts, self.n_clusters, rng))
            return State(U, V, consensus(weighted, U))

        corrected = self.variant == "corrected"
        iterates = steps(weighted, begin, self.inner_iter, corrected)
        state, trace = self._run(iterates, start, direction="down" if corrected else None, warn=False)
        self.bases_, self.consensus_ = list(state.V), state.Us
        return Embedding(Coefficients(state.V, c, tuple(alpha)), H=unit_rows(state.Us), trace=trace, state=state)
