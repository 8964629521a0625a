"""ABS2-IMC: anchor-based sparse subspace incomplete multi-view clustering.

The problem is in `self_codes`: rows as convex combinations of the samples that all views have seen. With the codes as
the rows of Z and lam_j = sum_i Z_ij, the embedding is the k leading left singular vectors of Z diag(lam)^(-1/2), rows
to unit length, and k-means gives the labels.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from scipy import sparse
from sklearn.utils._param_validation import Interval, StrOptions

from conspectus._typing import Array, Float, Int
from conspectus.base import Embedding, IterativeClusterer
from conspectus.errors import InputError
from conspectus.loop import Callback, Checkpoint, Steps, Trace
from conspectus.methods.anchors import abs2_adam
from conspectus.methods.anchors.apmc import SpectralMap
from conspectus.methods.anchors.choose import paired_anchors
from conspectus.methods.anchors.self_codes import Coded, Codes, Dictionary, SelfCodes, State, mean_codes, sweeps
from conspectus.numerics.backend import to_numpy
from conspectus.numerics.rows import unit_rows
from conspectus.requires import Requires
from conspectus.views.table import Views

AUTO = (5000, 1000)
"""All complete samples are anchors up to the first number, else as many centroids as the second: fewer lose much."""


class ABS2IMC(IterativeClusterer):
    """Cluster by writing every sample as a mixture of the few complete samples that resemble it.

    What several views have seen at once are the anchors. Each row of a view is a convex combination of the anchors'
    rows there, exactly the best one; a sample's code is the mean over its views, and the codes span a graph.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    variant : {"corrected", "official"}
        "corrected": the convex problem is solved to its optimum (active sets), with a ridge. "official": 200 epochs of
        Adam without a ridge, the last iterate, as the authors' code does it, but that it picked the best epoch by
        looking at the classes. Needs memory for all pairs of samples and anchors.
    n_anchors : int, "auto" or "all"
        "auto": all complete samples up to 5,000, else 1,000 centroids of k-means on all views at once; "all", always,
        in the official variant. Where complete samples are few, compressing them costs much.
    lam : float
        How much the codes of a complete sample in its views are to agree.
    rho : float
        The ridge, relative to the problem's own curvature. 0 is the problem as published, whose exact optimum clusters
        worse than Adam stopped early: on two-view digits, faces and texts by up to 35 points of accuracy; 0.3 equals
        or exceeds it.
    prepare : see `PrepareViews`
        By default unit rows for sparse text, columns scaled to [0, 1] otherwise.
    max_iter : int or None
        Sweeps over the views of complete samples; None is 20 (epochs, and 200, in the official variant).
    tol : float
        The loop ends when the optimum is certified to this share of the objective.
    n_init : int
        Starts of k-means on the embedding.
    random_state : int, RandomState or None
        Seed of the anchors and of k-means.
    verbose : bool
        Show progress.
    callback : callable or None
        Called as ``callback(iteration, objective, state)``; True stops.

    Attributes
    ----------
    labels_, ids_, embedding_, views_seen_, trace_, state_, n_iter_
        See `IncompleteClusterer` and `IterativeClusterer`. ``trace_.extra["gap"]`` bounds, after each sweep, how far
        the objective is from its least value.
    n_anchors_ : int
        How many anchors there are.
    codes_ : sparse array, shape (n_samples, n_anchors)
        Z; rows sum to 1.
    gap_ : float
        The bound for all samples together, incomplete ones included (not in the official variant).

    References
    ----------
    Anchor-based Sparse Subspace Incomplete Multi-view Clustering (ABS2-IMC).

    Examples
    --------
    >>> from conspectus import ABS2IMC, missing
    >>> from conspectus.datasets import load_mfeat
    >>> digits = load_mfeat()
    >>> X = [digits.X["fou"], digits.X["fac"]]
    >>> model = ABS2IMC(10, random_state=0).fit(missing.remove(X, missing.paired(2000, 2, 0.7, seed=0)))
    >>> model.n_anchors_
    600
    """

    paper: ClassVar[str] = "Anchor-based Sparse Subspace Incomplete Multi-view Clustering (ABS2-IMC)."
    bibtex: ClassVar[str] = """@misc{abs2imc,
  title = {Anchor-based Sparse Subspace Incomplete Multi-view Clustering}
}"""
    requires: ClassVar[Requires] = Requires(common_samples=True, instead="AnchorConsensus or EEIMVC")
    cost: ClassVar[str] = "O(n)"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IterativeClusterer._parameter_constraints,
        "variant": [StrOptions({"corrected", "official"})],
        "n_anchors": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto", "all"})],
        "lam": [Interval(Real, 0, None, closed="left")],
        "rho": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        variant: str = "corrected",
        n_anchors: int | str = "auto",
        lam: float = 0.1,
        rho: float = 0.3,
        prepare: Any = "bounded",
        max_iter: int | None = None,
        tol: float = 1e-6,
        n_init: int = 10,
        random_state: Any = None,
        verbose: bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.variant = variant
        self.n_anchors = n_anchors
        self.lam = lam
        self.rho = rho
        self.prepare = prepare
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _embed(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        anchors, own = self._anchors(views, rng)
        official = self.variant == "official"
        dictionary = Dictionary(anchors, self.lam, 0.0 if official else self.rho, 1e-9)
        solve = self._by_adam if official else self._exactly
        Z, trace, state = solve(views, dictionary, own, start)
        self.n_anchors_, self.codes_ = dictionary.n_anchors, Z
        spectral, _ = SpectralMap.fit(SelfCodes(dictionary), Z, self.n_clusters)
        return Embedding(spectral, H=unit_rows(Z @ spectral.R), trace=trace, state=state)

    def _anchors(self, views: Views, rng: RandomState) -> tuple[tuple[Array, ...], Int]:
        """Return the anchors' rows, and the samples that they are (none where they are centroids)."""
        common = views.complete
        if not len(common) or len(common) < self.n_clusters:
            raise InputError(
                f"{type(self).__name__} describes samples by those that every view has seen, and of these there are "
                f"{len(common)} for {self.n_clusters} clusters: use {self.requires.instead}, or fewer views"
            )
        wanted = "all" if self.variant == "official" and self.n_anchors == "auto" else self.n_anchors
        anchors = paired_anchors(views, wanted, rng, auto=AUTO)
        return anchors, common if anchors[0].shape[0] == len(common) else common[:0]

    def _exactly(
        self, views: Views, dictionary: Dictionary, own: Int, start: Checkpoint | None
    ) -> tuple[Codes, Trace, Any]:
        """Code all samples but the anchors in one pass, then sweep over the anchors' codes until the gap is closed."""
        rest = np.setdiff1d(np.arange(len(views)), own)
        found: Coded = views.rows(rest).map(SelfCodes(dictionary, coupled=True).solve)
        iterates = self._sweeps(dictionary, found, len(own), None if start is None else start.state)
        gaps: list[float] = [] if start is None else list(start.trace.extra["gap"])
        watched = _kept(iterates, gaps, self.tol)
        state, trace = self._run(watched, start, tol=None, max_iter=self.max_iter or 20, direction="down")
        reason = "converged" if trace.reason == "finished" else trace.reason
        self.gap_ = gaps[-1]
        Z = _merged(found.Z, rest, mean_codes(state.Z) if len(own) else None, own)
        return Z, replace(trace, reason=reason, extra={"gap": gaps}), state

    def _sweeps(self, dictionary: Dictionary, found: Coded, n_own: int, start: State | None) -> Steps:
        """The objective and the gap of all samples together, a sweep over the anchors' codes each."""
        loss, gap = float(found.loss.sum()), float(found.gap.sum())
        if not n_own:
            return iter([(loss, State((), np.array([gap])))])
        forbidden = np.arange(n_own) if n_own > 1 else None
        return (
            (loss + own, State(state.Z, np.append(state.gap, gap)))
            for own, state in sweeps(dictionary, dictionary.A, forbidden, start)
        )

    def _by_adam(
        self, views: Views, dictionary: Dictionary, own: Int, start: Checkpoint | None
    ) -> tuple[Codes, Trace, Any]:
        """200 epochs for all samples at once."""
        if not len(own):
            raise InputError("variant='official' takes samples as anchors: use n_anchors='all' or 'auto'")
        A = [_single(X) for X in dictionary.A]
        seen = [np.setdiff1d(views.observed(v), own) for v in range(views.n_views)]
        U = [_single(views.only([v]).rows(rows).data(0)) for v, rows in enumerate(seen)]
        iterates = abs2_adam.epochs(A, U, self.lam, None if start is None else start.state)
        state, trace = self._run(iterates, start, max_iter=self.max_iter or 200, tol=None)
        V = len(A)
        rest = np.setdiff1d(np.arange(len(views)), own)
        T = views.rows(rest).average([abs2_adam.softmax(theta, False) for theta in state.theta[V:]])
        S = sum(abs2_adam.softmax(theta, True) for theta in state.theta[:V]) / V
        return _merged(sparse.csr_array(T), rest, sparse.csr_array(S), own), trace, state


def _kept(iterates: Steps, gaps: list[float], tol: float) -> Steps:
    """Write each gap down, and end when it is a small share of the objective."""
    for loss, state in iterates:
        gaps.append(float(state.gap.sum()))
        yield loss, state
        if gaps[-1] <= tol * loss:
            return


def _single(X: Array) -> Float:
    return np.asarray(to_numpy(X), dtype=np.float32)


def _merged(Z: Codes, rest: Int, own_codes: Codes | None, own: Int) -> Codes:
    """The codes of all samples, in their order."""
    if own_codes is None:
        return sparse.csr_array(Z)
    both = sparse.vstack([Z, own_codes], format="csr")
    return sparse.csr_array(both[np.argsort(np.concatenate([rest, own]))])
