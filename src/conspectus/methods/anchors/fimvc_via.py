"""FIMVC-VIA: fast incomplete multi-view clustering with view-independent anchors.

    Liu et al. Fast Incomplete Multi-View Clustering With View-Independent Anchors. TNNLS 2022.

    min  sum_v a_v^2 |X_v - Z[o_v] A_v'|^2 + lam |Z|^2
    over A_v (d_v x m) with A_v'A_v = I,  Z (n x m) with rows on the simplex,  a >= 0 with sum a = 1

One Z serves all views; o_v are the samples that view v has seen. Each block has a closed form, and all that one block
needs of the others are sums over the samples, so that an iteration is one pass over the data and Z is never stored:

    A_v = polar(C_v),                C_v = X_v' Z[o_v]
    z_i = Pi( sum_{v in O_i} a_v^2 A_v' x_i / (sum_{v in O_i} a_v^2 + lam) )
    a_v = r_v^-1 / sum_u r_u^-1,     r_v = |X_v - Z[o_v] A_v'|^2
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import RandomState
from sklearn.utils._param_validation import Interval, StrOptions

from conspectus._typing import Array, Float, Int
from conspectus.base import Embedding, IterativeClusterer
from conspectus.loop import Callback, Checkpoint
from conspectus.numerics.backend import like, namespace, to_numpy
from conspectus.numerics.distances import squared_norms
from conspectus.numerics.orthogonal import polar
from conspectus.numerics.rows import unit_rows
from conspectus.numerics.simplex import project_simplex
from conspectus.numerics.spectral import directions_from_gram
from conspectus.views.table import Views


class State(NamedTuple):
    """What the iteration goes on from: anchors, view weights before and after the step, and C_v = X_v' Z[o_v]."""

    A: tuple[Array, ...]
    used: Float
    a: Float
    C: tuple[Array, ...]


@dataclass(frozen=True)
class Codes:
    """z_i = Pi( sum_v a_v^2 A_v' x_i / (sum_v a_v^2 + lam) ), the sums over the views that have seen i."""

    A: tuple[Array, ...]
    a: Float
    lam: float

    def __call__(self, block: Views) -> Array:
        shares = self.a**2
        mass = block.seen @ shares
        rows = ((block.data(v), A) for v, A in enumerate(self.A))
        # The weighted mean over the views seen, times its weight: the sum of the formula.
        mean = block.average([X @ like(A, X) for X, A in rows], list(shares))
        return project_simplex(mean * like((mass / (mass + self.lam))[:, None], mean))


class Sums(NamedTuple):
    """All that an iteration needs of the samples."""

    C: list[Array]
    observed: list[float]
    whole: float


def sums(block: Views, codes: Codes) -> Sums:
    """Code a block and keep C_v, |Z[o_v]|^2 and |Z|^2; Z itself is dropped."""
    Z = codes(block)
    mine = [block.gather(v, Z) for v in range(block.n_views)]
    C = [block.data(v).T @ z for v, z in enumerate(mine)]
    return Sums(C, [square_sum(z) for z in mine], square_sum(Z))


def square_sum(X: Array) -> float:
    """|X|^2."""
    rows = squared_norms(X)
    return float(namespace(rows).sum(rows))


def square_sums(block: Views) -> Float:
    """|X_v|^2 of each view."""
    return np.array([square_sum(block.data(v)) for v in range(block.n_views)])


def gram(block: Views, codes: Codes) -> Float:
    """Z'Z of a block."""
    Z = np.asarray(to_numpy(codes(block)), dtype=np.float64)
    return Z.T @ Z


def steps(views: Views, rows: Int, lam: float, start: State | None = None) -> Iterator[tuple[float, State]]:
    """Iterate from Z = [I; 0], whose ones stand at the samples `rows`, or from `start`."""
    V = range(views.n_views)
    norms = views.reduce(square_sums)
    if start is None:
        a, C = np.full(len(V), 1 / len(V)), first_products(views, rows)
        A = tuple(orthonormal(C[v], None) for v in V)
    else:
        a, C = start.a, start.C
        A = tuple(orthonormal(C[v], start.A[v]) for v in V)
    while True:
        used = a
        found = views.reduce(sums, codes=Codes(A, a, lam))  # Z, then C = X'Z
        C = tuple(found.C)
        # r = |X|^2 - 2 tr(A'C) + |Z|^2, for A'A = I
        r = np.array([norms[v] - 2 * inner(A[v], C[v]) + found.observed[v] for v in V])
        r = np.maximum(r, 0)
        a = view_weights(r)
        yield float(a**2 @ r + lam * found.whole), State(A, used, a, C)
        A = tuple(orthonormal(C[v], A[v]) for v in V)


def inner(A: Array, B: Array) -> float:
    """tr(A'B)."""
    return float(namespace(A).sum(A * B))


def first_products(views: Views, rows: Int) -> tuple[Array, ...]:
    """X_v' Z for Z = [I; 0]: the chosen rows as columns, zeros where the view has not seen them."""
    chosen = views.rows(rows)
    found = []
    for v in range(views.n_views):
        X = chosen.data(v)
        found.append(chosen.scatter(v, X.toarray() if hasattr(X, "toarray") else X).T)
    return tuple(found)


def orthonormal(C: Array, previous: Array | None) -> Array:
    """Return the polar factor of C; with fewer features than anchors, that of C under zero rows, cut back."""
    d, m = C.shape
    if d >= m:
        return polar(C, previous)
    xp = namespace(C)
    device = {} if isinstance(C, np.ndarray) else {"device": C.device}
    padded = xp.concat([C, xp.zeros((m - d, m), dtype=C.dtype, **device)])
    return polar(padded)[:d, :]


def view_weights(r: Float) -> Float:
    """Return the minimiser of sum a^2 r on the simplex; views without error share the weight."""
    none = r <= 1e-14 * max(float(r.max()), 1e-300)
    a = none.astype(np.float64) if none.any() else 1 / np.where(r > 0, r, 1)
    return np.asarray(a / a.sum())


def first_rows(views: Views, m: int, rng: RandomState) -> Int:
    """Draw m samples to begin from: complete ones, else those that most views have seen."""
    order = rng.permutation(len(views))
    counts = views.seen.sum(axis=1)[order]
    return np.asarray(order[np.argsort(-counts, kind="stable")[:m]])


@dataclass(frozen=True)
class SpectralMap:
    """Unit rows of z(x) V S^-1: the left singular vectors of Z, extended to new samples."""

    codes: Codes
    R: Float

    def __call__(self, views: Views) -> Array:
        Z = self.codes(views)
        return unit_rows(Z @ like(self.R, Z))


class FIMVCVIA(IterativeClusterer):
    """Cluster by one code a sample on anchors that each view places for itself.

    The code of a sample is shared by all views, and each view learns the anchors that best reproduce its rows from
    it. Every block of the iteration has a closed form; time and memory grow in proportion to the number of samples.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    n_anchors : int or "auto"
        m of the paper; "auto" is 2 `n_clusters`.
    lam : float
        Weight of the ridge on the codes.
    prepare : see `PrepareViews`
        By default unit rows.
    max_iter, tol : int, float
        The loop ends after `max_iter` iterations or at a relative change of the objective below `tol`.
    n_init : int
        Starts of k-means on the embedding.
    random_state : int, RandomState or None
        Seed of the samples that the iteration begins from, and of k-means.
    verbose : bool
        Show progress.
    callback : callable or None
        Called as ``callback(iteration, objective, state)``; True stops.

    Attributes
    ----------
    labels_, ids_, embedding_, views_seen_, trace_, state_, n_iter_
        See `IncompleteClusterer` and `IterativeClusterer`.
    anchors_ : list of arrays, shape (n_features, m)
        A_v.
    view_weights_ : ndarray
        a.

    References
    ----------
    Liu et al. Fast Incomplete Multi-View Clustering With View-Independent Anchors. IEEE Transactions on Neural
    Networks and Learning Systems, 2022.

    Examples
    --------
    >>> from conspectus import FIMVCVIA, missing
    >>> from conspectus.datasets import load_mfeat
    >>> digits = load_mfeat()
    >>> views = missing.remove(digits.X, missing.random_subsets(2000, 6, 0.5, seed=0))
    >>> model = FIMVCVIA(10, random_state=0).fit(views)
    >>> bool(model.trace_.objective[-1] < model.trace_.objective[1])
    True
    """

    paper: ClassVar[str] = (
        "Liu, Liu, Wang, Niu, Zhu. Fast Incomplete Multi-View Clustering With View-Independent Anchors. TNNLS 2022."
    )
    bibtex: ClassVar[str] = """@article{liu2022fimvcvia,
  author = {Liu, Suyuan and Liu, Xinwang and Wang, Siwei and Niu, Xin and Zhu, En},
  title = {Fast Incomplete Multi-View Clustering With View-Independent Anchors},
  journal = {IEEE Transactions on Neural Networks and Learning Systems},
  year = {2022}
}"""
    cost: ClassVar[str] = "O(n)"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IterativeClusterer._parameter_constraints,
        "n_anchors": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "lam": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_anchors: int | str = "auto",
        lam: float = 1.0,
        prepare: Any = "l2",
        max_iter: int = 51,
        tol: float | None = 1e-3,
        n_init: int = 10,
        random_state: Any = None,
        verbose: bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_anchors = n_anchors
        self.lam = lam
        self.prepare = prepare
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _embed(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        m = 2 * self.n_clusters if self.n_anchors == "auto" else max(int(self.n_anchors), self.n_clusters)
        rows = first_rows(views, min(m, len(views)), rng)
        iterates = steps(views, rows, self.lam, None if start is None else start.state)
        state, trace = self._run(iterates, start, direction="down", warn=False)
        self.anchors_, self.view_weights_ = list(state.A), state.a
        codes = Codes(state.A, state.a, self.lam)
        V, S = directions_from_gram(views.reduce(gram, codes=codes), self.n_clusters)
        kept = 1e-6 * S[0] < S
        return Embedding(SpectralMap(codes, V[:, kept] / S[kept]), trace=trace, state=state)
