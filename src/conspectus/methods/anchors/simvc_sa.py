"""SIMVC-SA: scalable incomplete multi-view clustering with structure alignment.

    Wen, Wang, Liang, Liang, Wan, Liu, Suo, Liu, Zhu. Scalable Incomplete Multi-View Clustering with Structure
    Alignment. ACM Multimedia 2023. (Tables of others call it AUP-ID, by the problem that its abstract names.)

    min  sum_v g_v^2 |X_v - Z_v[o_v] A_v'|^2 + lam |Z_v P_v' - F|^2 + mu |Z_v|^2
    over A_v (d_v x m), A_v'A_v = I;  Z_v (n x m), rows on the simplex;  P_v (m x m) orthogonal;  F (n x m), F'F = I;
    g >= 0 with sum g = 1

Anchors of different views do not correspond; P_v turns each view's codes towards the common F. In this order:

    A_v = polar(C_v),  C_v = X_v'Z_v[o_v]                 F = polar(S),  S = sum_v Z_v P_v'
    z_i = Pi( (g_v^2 A_v'x_i + lam P_v'F_i) / (g_v^2 + lam + mu) ), without the terms in g where view v has not seen i
    P_v = polar(F'Z_v)                                    g_v = r_v^-1 / sum_u r_u^-1

Codes are not stored: one pass finds their sums, a second one S. What is stored are S and F, of n x m.

F has orthonormal columns, so that its own leading singular vectors, which the original embeds by, are arbitrary where
m > k. The codes' are not: here the embedding is that of S.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import RandomState
from sklearn.utils._param_validation import Interval, StrOptions

from conspectus._typing import Array, Float
from conspectus.base import Embedding, IterativeClusterer
from conspectus.loop import Callback, Checkpoint
from conspectus.methods.anchors.fimvc_via import square_sums, view_weights
from conspectus.methods.anchors.some_as_start import start_codes
from conspectus.numerics.backend import like, to_numpy
from conspectus.numerics.orthogonal import polar
from conspectus.numerics.rows import unit_rows
from conspectus.numerics.simplex import project_simplex
from conspectus.numerics.spectral import directions_from_gram
from conspectus.views.table import Views


class Blocks(NamedTuple):
    """Anchors, turns and weights: with F, all that codes depend on."""

    A: tuple[Array, ...]
    P: tuple[Array, ...]
    g: Float


class Penalties(NamedTuple):
    """lam, the pull towards F, and mu, the ridge."""

    lam: float
    mu: float


class State(NamedTuple):
    """F and the blocks that the last codes came from, the turns and weights after them, and C_v."""

    F: Array
    used: Blocks
    P: tuple[Array, ...]
    g: Float
    C: tuple[Array, ...]


def codes(block: Views, F: Array, v: int, blocks: Blocks, penalties: Penalties) -> tuple[Array, Array]:
    """Z_v of the samples that view v has seen, and of the others."""
    (A, P, g), (lam, mu), seen = (part[v] for part in blocks), penalties, block.seen[:, v]
    pull = lam * (F @ like(P, F))
    X = block.data(v)
    Z = (g**2 * (X @ like(A, X)) + block.gather(v, pull)) / (g**2 + lam + mu)
    return project_simplex(Z), project_simplex(pull[~seen] / (lam + mu))


class Sums(NamedTuple):
    """All that an iteration needs of the samples, a view each: X'Z, F'Z, and |Z|^2 of the seen rows and of all."""

    C: list[Array]
    Q: list[Array]
    seen: list[Any]
    whole: list[Any]


def sums(block: Views, F: Array, blocks: Blocks, penalties: Penalties) -> Sums:
    """Code a block and keep its sums."""
    found = Sums([], [], [], [])
    for v in range(block.n_views):
        Z, rest = codes(block, F, v, blocks, penalties)
        found.C.append(block.data(v).T @ Z)
        found.Q.append(F.T @ block.scatter(v, Z, rest))
        found.seen.append((Z * Z).sum())
        found.whole.append((Z * Z).sum() + (rest * rest).sum())
    return found


def turned(block: Views, F: Array, blocks: Blocks, P: Sequence[Array], penalties: Penalties) -> Array:
    """S = sum_v Z_v P_v' of a block, with new turns of the codes."""
    total = 0.0
    for v in range(block.n_views):
        Z = block.scatter(v, *codes(block, F, v, blocks, penalties))
        total = total + Z @ like(P[v].T, Z)
    return total


def first_products(block: Views, Z: Array) -> list[Array]:
    """C_v of codes that all views share."""
    return [block.data(v).T @ like(block.gather(v, Z), block.data(v)) for v in range(block.n_views)]


def steps(
    views: Views, Z: Sequence[Array] | Array, penalties: Penalties, start: State | None = None
) -> Iterator[tuple[float, State]]:
    """Iterate A, F, Z, P, g from codes `Z` (one matrix for all views, or one a view), or from `start`."""
    norms, (lam, mu) = views.reduce(square_sums), penalties
    if start is None:
        Z = [Z] * views.n_views if hasattr(Z, "shape") else Z
        m = Z[0].shape[1]
        P: tuple[Array, ...] = (np.eye(m),) * views.n_views
        g = np.full(views.n_views, 1 / views.n_views)
        C = tuple(views.only([v]).reduce(first_products, z)[0] for v, z in enumerate(Z))
        A: tuple[Array, ...] = tuple(polar(c) for c in C)
        F = polar(sum(Z[1:], start=Z[0]))
    else:
        (A, P, g), C = (start.used.A, start.P, start.g), start.C
        F = start.F
        S = views.map(turned, F, blocks=start.used, P=P, penalties=penalties)
        A, F = tuple(polar(c, a) for c, a in zip(C, A)), polar(S, F)
    while True:
        used = Blocks(A, P, g)
        found: Sums = views.reduce(sums, F, blocks=used, penalties=penalties)
        C, seen, whole = tuple(found.C), np.array(found.seen, dtype=float), np.array(found.whole, dtype=float)
        P = tuple(polar(Q, turn) for Q, turn in zip(found.Q, P))
        r = np.maximum(norms - 2 * np.array([float((a * c).sum()) for a, c in zip(A, C)]) + seen, 0)
        g = view_weights(r)
        agreement = np.array([float((turn * Q).sum()) for turn, Q in zip(P, found.Q)])
        apart = whole + F.shape[1] - 2 * agreement
        yield float((g**2 * r + lam * apart + mu * whole).sum()), State(F, used, P, g, C)
        S = views.map(turned, F, blocks=used, P=P, penalties=penalties)
        A, F = tuple(polar(c, a) for c, a in zip(C, A)), polar(S, F)


def first_codes(views: Views, k: int, m: int, init: str, rng: RandomState) -> Array:
    """Return random rows on the simplex to begin from; with "codes", within the anchors of the start's labels."""
    Z = rng.dirichlet(np.ones(m), size=len(views)).astype(views.data(0)[:0].dtype)
    if init == "codes":
        y = start_codes(views, k, "auto", 10, rng)[0]
        Z = np.where(np.arange(m) % k == y[:, None], Z, 0)
    return Z / Z.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class TurnedCodes:
    """The mean of P_v z over the views seen, z with lam = 0, on the leading directions of S, to unit length."""

    blocks: Blocks
    mu: float
    V: Float

    def __call__(self, views: Views) -> Array:
        return unit_rows(views.average([self._of_view(views, v) for v in range(views.n_views)]))

    def _of_view(self, views: Views, v: int) -> Array:
        (A, P, g), X = (part[v] for part in self.blocks), views.data(v)
        Z = project_simplex(g**2 * (X @ like(A, X)) / max(g**2 + self.mu, 1e-300))
        return Z @ like(P.T @ self.V, Z)


class SIMVCSA(IterativeClusterer):
    """Cluster by codes on anchors of each view, turned until the views' anchors correspond; O(n).

    Also known as AUP-ID (anchor-unaligned problem for incomplete data), the name in other papers' tables.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    n_anchors : int or "auto"
        m of the paper; "auto" is 2 `n_clusters`.
    lam, mu : float
        Weights of the pull towards the common F, and of the ridge on the codes. A row of F has a length of about
        sqrt(m / n), a code one of at least 1 / sqrt(m): with many samples `lam` is a second ridge. With `lam` as small
        as 0.01, samples that a view has not seen are pulled apart from their cluster as the iteration settles, on
        separated blobs too.
    init : {"codes", "random"}
        Where codes begin: random rows on the simplex, for "codes" within the anchors that belong to the labels of
        SOME-AS's start. (The original begins with the same code for all samples.)
    prepare : see `PrepareViews`
        By default unit rows.
    max_iter, tol : int, float
        The loop ends after `max_iter` iterations or, after ten, at a relative change of the objective below `tol`.
    n_init : int
        Starts of k-means on the embedding.
    random_state : int, RandomState or None
        Seed.
    verbose : bool
        Show progress.
    callback : callable or None
        Called as ``callback(iteration, objective, state)``; True stops.

    Attributes
    ----------
    labels_, ids_, embedding_, views_seen_, trace_, state_, n_iter_
        See `IncompleteClusterer` and `IterativeClusterer`.
    anchors_, alignments_ : lists of arrays, shapes (n_features, m) and (m, m)
        A_v and P_v.
    view_weights_ : ndarray
        g.

    Notes
    -----
    The original embeds by the leading singular vectors of F. All singular values of F are 1, so with more anchors than
    clusters that is an arbitrary subspace, and two implementations differ. Here the embedding is that of the codes,
    sum_v Z_v P_v': over 13 cells with m = 2 k, accuracy rises from 0.41 to 0.52. With m = k both are the same.

    References
    ----------
    Wen et al. Scalable Incomplete Multi-View Clustering with Structure Alignment. ACM Multimedia 2023.

    Examples
    --------
    >>> from conspectus import SIMVCSA, missing
    >>> from conspectus.datasets import load_mfeat
    >>> digits = load_mfeat()
    >>> views = missing.remove(digits.X, missing.random_subsets(2000, 6, 0.5, seed=0))
    >>> model = SIMVCSA(10, max_iter=10, tol=None, random_state=0).fit(views)
    >>> bool(model.trace_.objective[-1] < model.trace_.objective[0])
    True
    """

    paper: ClassVar[str] = (
        "Wen, Wang, Liang, Liang, Wan, Liu, Suo, Liu, Zhu. Scalable Incomplete Multi-View Clustering with Structure "
        "Alignment. ACM Multimedia 2023."
    )
    bibtex: ClassVar[str] = """@inproceedings{wen2023simvcsa,
  author = {Wen, Yi and Wang, Siwei and Liang, Ke and Liang, Weixuan and Wan, Xinhang and Liu, Xinwang and
            Suo, Jiashun and Liu, Jiyuan and Zhu, En},
  title = {Scalable Incomplete Multi-View Clustering with Structure Alignment},
  booktitle = {Proceedings of the ACM International Conference on Multimedia},
  year = {2023}
}"""
    cost: ClassVar[str] = "O(n)"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IterativeClusterer._parameter_constraints,
        "n_anchors": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "lam": [Interval(Real, 0, None, closed="neither")],
        "mu": [Interval(Real, 0, None, closed="left")],
        "init": [StrOptions({"random", "codes"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_anchors: int | str = "auto",
        lam: float = 1.0,
        mu: float = 0.01,
        init: str = "codes",
        prepare: Any = "l2",
        max_iter: int = 101,
        tol: float | None = 1e-6,
        n_init: int = 10,
        random_state: Any = None,
        verbose: bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_anchors = n_anchors
        self.lam = lam
        self.mu = mu
        self.init = init
        self.prepare = prepare
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _embed(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        k, penalties = self.n_clusters, Penalties(self.lam, self.mu)
        m = min(2 * k if self.n_anchors == "auto" else max(int(self.n_anchors), k), len(views))
        Z = first_codes(views, k, m, self.init, rng)
        iterates = steps(views, Z, penalties, None if start is None else start.state)
        state, trace = self._run(iterates, start, direction="down", min_iter=10, warn=False)
        self.anchors_, self.alignments_, self.view_weights_ = list(state.used.A), list(state.P), state.g
        S = views.map(turned, state.F, blocks=state.used, P=state.P, penalties=penalties)
        V, sigma = directions_from_gram(to_numpy(S.T @ S), k)
        kept = 1e-6 * sigma[0] < sigma
        spread = V[:, kept] / sigma[kept]
        new = TurnedCodes(Blocks(state.used.A, state.P, state.g), self.mu, spread)
        return Embedding(new, unit_rows(S @ like(spread, S)), trace=trace, state=state)
