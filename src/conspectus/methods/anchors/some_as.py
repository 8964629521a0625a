"""SOME-AS: scalable one-pass incomplete multi-view clustering by aligning anchors.

    Qin, Feng, Zhang. Scalable One-Pass Incomplete Multi-View Clustering by Aligning Anchors. AAAI 2025.

The objective and its blocks are in `integral`, the start in `some_as_start`, the loop as printed in `some_as_paper`.
Here is the loop that we recommend. With alpha = beta = 0.1 the printed one returns the labels that it begins with, for
a code contains its own label; the labels therefore move by a global step, on codes that contain none, and a move is
kept only if J falls:

    LOCKED(y)   Z; then G, A, Z, G, gamma with y fixed, until J settles            -> J, theta
    repeat      U  = the codes with beta = 0, aligned, the mean over the views seen
                y' = k-means on [N(U), w N(U0)] from the class means of y          U0 = coordinates of the start
                LOCKED(y') from theta; stop unless J falls

N subtracts the mean row and divides by the rows' root mean square length. Of several starts the one with the least J
is kept. One pass over the data an iteration; nothing of n x l is stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from sklearn.utils._param_validation import Interval, StrOptions

from conspectus._typing import Array, Float, Int
from conspectus.base import Embedding, IterativeClusterer
from conspectus.loop import Callback, Checkpoint, Trace, best_of, run
from conspectus.methods.anchors.integral import (
    AlignedCodes,
    Alignment,
    Data,
    Found,
    Means,
    Penalties,
    Theta,
    locked,
    means_of,
)
from conspectus.methods.anchors.row_space import Bases, in_row_space, lift
from conspectus.methods.anchors.some_as_paper import ProjectedRows
from conspectus.methods.anchors.some_as_paper import steps as printed_steps
from conspectus.methods.anchors.some_as_start import CentreCodes, first_theta, given_labels, start_codes
from conspectus.numerics.backend import like, namespace, to_numpy
from conspectus.numerics.distances import nearest
from conspectus.numerics.kmeans import kmeans
from conspectus.numerics.rows import class_means
from conspectus.views.table import Views


@dataclass(frozen=True)
class Task:
    """What stays the same from round to round."""

    views: Views
    data: Data
    penalties: Penalties
    how: Alignment
    k: int
    start_weight: float
    limits: dict[str, Any]
    seed: int

    def lock(self, y: Int, theta: Theta) -> tuple[float, Theta]:
        """Fit the parameters to fixed labels."""
        theta, trace = run(locked(self.views, y, theta, self.data, self.penalties, self.how), **self.limits)
        return trace.objective[-1], theta

    def coordinates(self, found: Found) -> Joint:
        """W as a map."""
        return joint(self.views, found, self.data.means, self.penalties.alpha, self.start_weight)


@dataclass(frozen=True)
class Normalised:
    """N: the training mean subtracted, divided by the training rows' root mean square length."""

    map: Any
    mean: Float
    scale: float

    @classmethod
    def fit(cls, map: Any, views: Views, weight: float) -> Normalised:
        """Measure the coordinates of all samples."""
        total, square = views.reduce(_moments, map=map)
        mean = to_numpy(total) / len(views)
        spread = float(square) / len(views) - float(mean @ mean)
        return cls(map, mean, weight / np.sqrt(spread) if spread > 1e-24 else weight)

    def __call__(self, views: Views) -> Array:
        U = self.map(views)
        return (U - like(self.mean, U)) * self.scale


def _moments(block: Views, map: Any) -> tuple[Array, float]:
    U = map(block)
    xp = namespace(U)
    return xp.sum(xp.astype(U, xp.float64), axis=0), float(xp.sum(U * U))


@dataclass(frozen=True)
class Joint:
    """Coordinates side by side."""

    parts: tuple[Normalised, ...]

    def __call__(self, views: Views) -> Array:
        found = [part(views) for part in self.parts]
        return namespace(found[0]).concat(found, axis=1)


def joint(views: Views, found: Found, means: Means, alpha: float, start_weight: float) -> Joint:
    """Return W = [N(U), w N(U0)] as a map."""
    parts = [Normalised.fit(AlignedCodes(found.theta, tuple(means), alpha), views, 1.0)]
    if found.start is not None and start_weight > 0:
        parts.append(Normalised.fit(found.start, views, start_weight))
    return Joint(tuple(parts))


def rounds(task: Task, first: Found) -> Iterator[tuple[float, Found]]:
    """Fit the parameters to the first labels, then move labels as long as J falls."""
    J, theta = task.lock(first.y, first.theta)
    found = first._replace(theta=theta)
    while True:
        yield J, found
        y = _moved(task, found)
        if np.mean(y != found.y) < 0.002:
            return
        now, theta = task.lock(y, found.theta)
        if not now < J:
            return
        J, found = now, Found(y, theta, found.start)


def _moved(task: Task, found: Found) -> Int:
    """k-means from the class means of the labels; an empty class begins at a random row."""
    W = to_numpy(task.views.map(task.coordinates(found)))
    centres = class_means(W, found.y, task.k)
    empty = np.flatnonzero(np.bincount(found.y, minlength=task.k) == 0)
    centres[empty] = W[np.random.default_rng(task.seed).choice(len(W), len(empty))]
    return kmeans(W, task.k, start=centres, max_iter=50, seed=task.seed)[0]


class SOMEAS(IterativeClusterer):
    """Cluster by codes on anchors that every view places for itself and that labels hold together; O(n).

    Each view describes its rows by nonnegative weights on its own anchors, which sum to 1; an orthonormal alignment
    for each view maps the labels to such codes, and views with small errors count more.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    variant : {"corrected", "paper"}
        "corrected": labels move by a global step that is kept only if the objective falls. "paper": the six blocks as
        printed, from one start (`n_restarts`, `n_rounds` and `start_weight` do not apply); see the notes.
    n_anchors : int or "auto"
        l of the paper; "auto" is 2 `n_clusters`, and `n_clusters` in the paper's variant.
    alpha, beta : float
        The ridge on the codes, and the pull of a code towards its label.
    align : bool
        False: one alignment for all views, the ablation of the paper's figure 7.
    init : {"codes", "random"} or array of labels
        Where the labels begin. "codes": the spectrum of a graph of each view's rows and k-means centres. An array is
        one start, whatever `n_restarts` says.
    n_start_anchors : int or "auto"
        Centres a view for ``init="codes"``; "auto" is 5 `n_clusters`, at least 50, and more with many samples.
    start_weight : float
        How much the coordinates of the start count when labels move; 0 leaves them out.
    n_restarts : int
        Whole starts, of which the one with the least objective is kept.
    n_rounds : int
        How often labels may move.
    prepare : see `PrepareViews`
        Nothing by default: rows are centred and brought to unit length by the method itself (for the start and in the
        paper's variant, they are not centred).
    max_iter, tol : int, float or None
        Of the loop with fixed labels: None is 10 and 1e-4. Of the paper's loop: None is 100 and 1e-6.
    n_init : int
        Starts of k-means within a start.
    random_state : int, RandomState or None
        Seed.
    verbose : bool
        Show progress.
    callback : callable or None
        Called as ``callback(start, objective, state)`` after each start (in the paper's variant, after each
        iteration); True stops.

    Attributes
    ----------
    labels_, ids_, embedding_, views_seen_, trace_, state_, n_iter_
        See `IncompleteClusterer` and `IterativeClusterer`. ``trace_.objective`` is the least so far after each start.
    anchors_ : list of arrays, shape (n_features, l)
        A_p.
    alignments_ : list of arrays, shape (l, n_clusters)
        G_p, what the paper writes as P_p'F.
    view_weights_ : ndarray
        gamma.
    n_clusters_found_ : int
        How many clusters have members.

    Notes
    -----
    **The paper's variant returns the labels that it begins with.** A code is computed from a label, and the next label
    from the code. A sample changes its label only if the data speak for another one by more than ``beta / gamma_p**2``;
    rows have unit length, so that they can speak by 1.41 at most, and ``gamma_p`` is about one over the number V of
    views: with the paper's ``alpha = beta = 0.1`` the threshold is 0.4 for two views, 0.9 for three, 1.6 for four and
    3.6 for six. On five data sets with three views and more (10, 50 and 90 % complete samples, three masks each) not
    one label moved; with two views none to 0.12 % on one set, and on another, two of nine masks moved (26 and 33 % of
    the labels, for the worse). Where beta is made so small that labels move, the next thing to happen is that all
    samples go to the largest cluster of the start. From random labels the method stays at chance (accuracy 0.13 with
    ten clusters). So the start decides the result, and the paper does not say what its start is; that the results do
    not change with alpha, beta and l (its figures 2, 3 and 6) is what labels that cannot move look like.

    The default moves labels on codes that contain none. Over 60 cells (seven data sets, three shares of complete
    samples, three masks) it gains 3.0 points of accuracy and 3.5 of NMI on its own start. On data where neighbours say
    much more than any linear code (10,000 digits seen twice) it loses 0.5 and 0.9.

    References
    ----------
    Qin, Feng, Zhang. Scalable One-Pass Incomplete Multi-View Clustering by Aligning Anchors. AAAI 2025.

    Examples
    --------
    >>> from conspectus import SOMEAS, missing
    >>> from conspectus.datasets import load_mfeat
    >>> digits = load_mfeat()
    >>> views = missing.remove(digits.X, missing.random_subsets(2000, 6, 0.5, seed=0))
    >>> model = SOMEAS(10, n_restarts=1, random_state=0).fit(views)
    >>> model.n_clusters_found_
    10
    """

    paper: ClassVar[str] = (
        "Qin, Feng, Zhang. Scalable One-Pass Incomplete Multi-View Clustering by Aligning Anchors. AAAI 2025."
    )
    bibtex: ClassVar[str] = """@inproceedings{qin2025someas,
  author = {Qin, Yalan and Feng, Guorui and Zhang, Xinpeng},
  title = {Scalable One-Pass Incomplete Multi-View Clustering by Aligning Anchors},
  booktitle = {Proceedings of the AAAI Conference on Artificial Intelligence},
  year = {2025}
}"""
    cost: ClassVar[str] = "O(n)"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IterativeClusterer._parameter_constraints,
        "variant": [StrOptions({"corrected", "paper"})],
        "n_anchors": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "beta": [Interval(Real, 0, None, closed="left")],
        "align": ["boolean"],
        "init": [StrOptions({"codes", "random"}), "array-like"],
        "n_start_anchors": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "start_weight": [Interval(Real, 0, None, closed="left")],
        "n_restarts": [Interval(Integral, 1, None, closed="left")],
        "n_rounds": [Interval(Integral, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        variant: str = "corrected",
        n_anchors: int | str = "auto",
        alpha: float = 0.1,
        beta: float = 0.1,
        align: bool = True,
        init: Any = "codes",
        n_start_anchors: int | str = "auto",
        start_weight: float = 1.0,
        n_restarts: int = 5,
        n_rounds: int = 3,
        prepare: Any = None,
        max_iter: int | None = None,
        tol: float | None = None,
        n_init: int = 10,
        random_state: Any = None,
        verbose: bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.variant = variant
        self.n_anchors = n_anchors
        self.alpha = alpha
        self.beta = beta
        self.align = align
        self.init = init
        self.n_start_anchors = n_start_anchors
        self.start_weight = start_weight
        self.n_restarts = n_restarts
        self.n_rounds = n_rounds
        self.prepare = prepare
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _embed(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        find = self._as_printed if self.variant == "paper" else self._best
        turned, bases = in_row_space(views)
        found, trace, state = find(turned, rng, start)
        found = lifted(found, bases)
        self.anchors_, self.alignments_, self.view_weights_ = (
            list(found.theta.A),
            list(found.theta.G),
            found.theta.gamma,
        )
        self.n_clusters_found_ = len(np.unique(found.y))
        means = means_of(views, centred=self.variant == "corrected")
        if self.variant == "paper":
            return Embedding(ProjectedRows(found.theta, means), labels=found.y, trace=trace, state=state)
        coordinates = joint(views, found, means, self.alpha, self.start_weight)
        W = to_numpy(views.map(coordinates))
        present, y = np.unique(found.y, return_inverse=True)
        centres = class_means(W, y.reshape(-1), len(present))
        return Embedding(coordinates, W, nearest(W, centres)[0], trace, state, centres)

    def _start(self, views: Views, data: Data, rng: RandomState) -> Found:
        """Labels, the parameters that they give, and the coordinates that they come from."""
        k, spectral = self.n_clusters, None
        if isinstance(self.init, str) and self.init == "codes":
            y, spectral = start_codes(views, k, self.n_start_anchors, self.n_init, rng)
        else:
            y = given_labels(self.init, len(views), k, rng)
        factor = 1 if self.variant == "paper" else 2
        l = factor * k if self.n_anchors == "auto" else max(int(self.n_anchors), k)
        return Found(y, first_theta(views, y, k, l, data.means, rng), spectral)

    @property
    def _how(self) -> Alignment:
        return "each" if self.align else "one"

    def _limits(self, max_iter: int, tol: float) -> dict[str, Any]:
        """When a loop ends, where the user has not said it."""
        own_iter, own_tol = self.max_iter, self.tol
        return {
            "max_iter": max_iter if own_iter is None else own_iter,
            "tol": tol if own_tol is None else own_tol,
            "direction": "down",
        }

    def _best(self, views: Views, rng: RandomState, start: Checkpoint | None) -> tuple[Found, Trace, Any]:
        """Take the start with the least objective."""
        data = Data.of(views, centred=True)
        penalties, limits = Penalties(self.alpha, self.beta), self._limits(10, 1e-4)

        def one(seed: int) -> tuple[float, Found]:
            task = Task(views, data, penalties, self._how, self.n_clusters, self.start_weight, limits, seed)
            first = self._start(views, data, RandomState(seed))
            found, trace = run(rounds(task, first), max_iter=1 + self.n_rounds, tol=None, direction="down")
            return trace.objective[-1], found

        n_restarts = self.n_restarts if isinstance(self.init, str) else 1
        iterates = best_of(one, [int(seed) for seed in rng.randint(2**31 - 1, size=n_restarts)], start)
        best, trace = self._run(iterates, start, max_iter=n_restarts, tol=None, label="start")
        return best[1], trace, best

    def _as_printed(self, views: Views, rng: RandomState, start: Checkpoint | None) -> tuple[Found, Trace, Any]:
        """Run the paper's loop."""
        data, how = Data.of(views, centred=False), self._how
        first, penalties = self._start(views, data, rng), Penalties(self.alpha, self.beta)
        f_step: Alignment = "common" if self.align else "one"
        before = None if start is None else start.state
        iterates = printed_steps(views, first, data, penalties, p_step=how, f_step=f_step, start=before)
        state, trace = self._run(iterates, start, **self._limits(100, 1e-6))
        return Found(state.y, state.theta, None), trace, state


def lifted(found: Found, bases: Bases) -> Found:
    """Take what was found in the views' row spaces back to their own columns."""
    start = found.start
    if start is not None:
        centres = lift(tuple(c.T for c in start.graph.centres), bases)
        start = replace(start, graph=CentreCodes(tuple(c.T for c in centres)))
    return Found(found.y, found.theta._replace(A=lift(found.theta.A, bases)), start)
