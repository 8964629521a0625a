"""MKKM-IK: multiple kernel k-means with incomplete kernels.

    Liu et al. Multiple Kernel k-Means with Incomplete Kernels. AAAI 2017, TPAMI 2020.

    min  sum_p g_p^2 [tr(K_p (I - HH')) + a tr K_p(u_p, u_p)]
    over H'H = I,  g >= 0 with sum g = 1,  K_p >= 0 with K_p(o_p, o_p) as observed

H and g as in MKKM. The imputed entries, with A = H_o [(1 + a) I - H_u'H_u]^-1 H_u', are

    K_p(o_p, u_p) = K_p(o_p, o_p) A,     K_p(u_p, u_p) = A' K_p(o_p, o_p) A.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import RandomState
from sklearn.utils._param_validation import Interval

from conspectus._typing import Float
from conspectus.base import Embedding, IterativeClusterer
from conspectus.loop import Callback, Checkpoint
from conspectus.methods.kernels.estimator import KernelClusterer
from conspectus.methods.kernels.imputed import Incomplete, IncompleteKernels, incomplete_features
from conspectus.methods.kernels.kernel_sets import exact_kernels
from conspectus.methods.kernels.maps import ConsensusMap
from conspectus.methods.kernels.mkkm_steps import kernel_weights, unexplained
from conspectus.methods.kernels.observed import Kernel, Side
from conspectus.numerics.rows import unit_rows
from conspectus.views.table import Views

BIBTEX = """@article{liu2020mkkmik,
  author = {Liu, Xinwang and Zhu, Xinzhong and Li, Miaomiao and Wang, Lei and Zhu, En and Liu, Tongliang and
    Kloft, Marius and Shen, Dinggang and Yin, Jianping and Gao, Wen},
  title = {Multiple Kernel k-Means with Incomplete Kernels},
  journal = {IEEE Transactions on Pattern Analysis and Machine Intelligence},
  volume = {42},
  number = {5},
  pages = {1191--1204},
  year = {2020}
}"""


class State(NamedTuple):
    """H, its eigenvalues, the weights that it belongs to, and those after the step."""

    H: Float
    values: Float
    used: Float
    g: Float


def steps(incomplete: Incomplete, n_views: int, k: int, start: State | None = None) -> Iterator[tuple[float, State]]:
    """Iterate from kernels filled with 0 and equal weights, or from `start`."""
    H, g = (None, np.full(n_views, 1 / n_views)) if start is None else (start.H, start.g)
    kernels = incomplete.completed(H)
    while True:
        used = g
        H, values = kernels.leading(g**2, k)
        kernels = incomplete.completed(H)
        a = unexplained(kernels, H)
        g = kernel_weights(a)
        yield float(g**2 @ a), State(H, values, used, g)


class MKKMIK(KernelClusterer, IterativeClusterer):
    """Cluster by a weighted sum of kernels whose unseen entries are imputed from the clustering itself.

    Kernel matrices are completed in memory up to 2,000 rows a view. Beyond that the same algebra runs on features, in
    O(n): the ridge solution puts an unseen row where its row of H, times a k x r matrix, says.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    ridge : float
        a of the formulas: what keeps imputed rows short.
    kernel, normalize, approximation, n_landmarks, rank, predict_mode
        As for `EEIMVC`.
    prepare, max_iter, tol, n_init, random_state, verbose, callback
        As for `EEIMVC`.

    Attributes
    ----------
    labels_, ids_, embedding_, views_seen_, trace_, state_, n_iter_
        See `IncompleteClusterer` and `IterativeClusterer`.
    view_weights_ : ndarray, shape (n_views,)
        g.

    References
    ----------
    Liu, Zhu, Li, Wang, Zhu, Liu, Kloft, Shen, Yin, Gao. Multiple Kernel k-Means with Incomplete Kernels. IEEE
    Transactions on Pattern Analysis and Machine Intelligence, 2020.

    Examples
    --------
    >>> from conspectus import MKKMIK, missing
    >>> from conspectus.datasets import make_views
    >>> data = make_views(200, (5, 8), 3, seed=0)
    >>> views = missing.remove(data.X, missing.random_subsets(200, 2, 0.5, seed=0))
    >>> model = MKKMIK(3, random_state=0).fit(views)
    >>> bool(model.trace_.objective[-1] < model.trace_.objective[0])
    True
    """

    paper: ClassVar[str] = (
        "Liu, Zhu, Li, Wang, Zhu, Liu, Kloft, Shen, Yin, Gao. Multiple Kernel k-Means with Incomplete Kernels. "
        "TPAMI 2020."
    )
    bibtex: ClassVar[str] = BIBTEX
    cost: ClassVar[str] = "O(n)"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelClusterer._parameter_constraints,
        **IterativeClusterer._parameter_constraints,
        "ridge": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        ridge: float = 1e-4,
        kernel: Kernel = "gaussian",
        normalize: bool = True,
        approximation: str = "auto",
        n_landmarks: int | str = "auto",
        rank: int | str = "auto",
        predict_mode: str = "observed",
        prepare: Any = None,
        max_iter: int = 100,
        tol: float | None = 1e-4,
        n_init: int = 10,
        random_state: Any = None,
        verbose: bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.ridge = ridge
        self.kernel = kernel
        self.normalize = normalize
        self.approximation = approximation
        self.n_landmarks = n_landmarks
        self.rank = rank
        self.predict_mode = predict_mode
        self.prepare = prepare
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _embed(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        incomplete, sides = self._incomplete(views, rng)
        iterates = steps(incomplete, views.n_views, self._k, None if start is None else start.state)
        state, trace = self._run(iterates, start, direction="down", min_iter=3)
        self.view_weights_ = state.g
        joining = incomplete.joining(state.H, state.values, state.used)
        E = joining.E if self.predict_mode == "fixpoint" else None
        return Embedding(ConsensusMap(sides, joining.A, E), H=unit_rows(state.H), trace=trace, state=state)

    def _incomplete(self, views: Views, rng: RandomState) -> tuple[Incomplete, tuple[Side, ...]]:
        """The kernels, or their features, with 0 in unseen rows."""
        if not self._exact(views):
            sides = self._sides(views, rng)
            return incomplete_features(views, sides, self.ridge), sides
        kernels, exact_sides = exact_kernels(views, self.kernel, self.normalize)
        return IncompleteKernels(kernels.K, [views.missing(v) for v in range(views.n_views)], self.ridge), exact_sides
