"""LF-IMVC: late fusion incomplete multi-view clustering.

    Liu et al. Late Fusion Incomplete Multi-View Clustering. TPAMI 2019.

    max  tr(H' sum_p H_p W_p) + lam sum_p tr(H_p' H_p^(0))
    over H'H = I,  H_p'H_p = I,  W_p'W_p = I

H_p^(0) are the base partitions with 0 in unseen rows. All rows of H_p are free, the observed ones too:

    H = polar(sum_p H_p W_p),    W_p = polar(H_p' H),    H_p = polar(H W_p' + lam H_p^(0)).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import RandomState
from sklearn.utils._param_validation import Interval, StrOptions

from conspectus._typing import Float
from conspectus.base import Embedding, IterativeClusterer
from conspectus.loop import Callback, Checkpoint
from conspectus.methods.kernels.base_partitions import Partitions, warn_of_weak_links
from conspectus.methods.kernels.ee_imvc import align, identity, inverse_root
from conspectus.methods.kernels.estimator import KernelClusterer
from conspectus.methods.kernels.maps import ConsensusMap
from conspectus.methods.kernels.observed import Kernel
from conspectus.numerics.orthogonal import polar
from conspectus.numerics.rows import unit_rows
from conspectus.views.table import Views


class State(NamedTuple):
    """H, rotations W, and the partitions H_p of all samples."""

    H: Float
    W: tuple[Float, ...]
    Hs: tuple[Float, ...]


def steps(
    base: Sequence[Float], W: Sequence[Float], lam: float, start: State | None = None
) -> Iterator[tuple[float, State]]:
    """Iterate from the base partitions (0 in unseen rows) and rotations `W`, or from `start`."""
    state = State(np.zeros_like(base[0]), tuple(W), tuple(base)) if start is None else start
    while True:
        H = polar(sum(H_p @ W_p for H_p, W_p in zip(state.Hs, state.W)), state.H)
        Ws = tuple(polar(H_p.T @ H, W_p) for H_p, W_p in zip(state.Hs, state.W))
        Hs = tuple(polar(H @ W_p.T + lam * H_0, H_p) for W_p, H_0, H_p in zip(Ws, base, state.Hs))
        state = State(H, Ws, Hs)
        agreement = sum(float((H * (H_p @ W_p)).sum()) for H_p, W_p in zip(Hs, Ws))
        kept = sum(float((H_p * H_0).sum()) for H_p, H_0 in zip(Hs, base))
        yield agreement + lam * kept, state


def consensus_map(base: Partitions, state: State, lam: float) -> ConsensusMap:
    """h(x) (I - sum_p W_p'M_p W_p S) = lam sum_{p in O} h_p^(0)(x) M_p W_p S.

    A row of H_p is (h W_p' + lam h_p^(0)) M_p with M_p = (X'X)^(-1/2), X = H W_p' + lam H_p^(0), and h = t S with
    S = (T'T)^(-1/2): an unseen view is imputed from h like every other, so that one k x k system serves all patterns.
    """
    S = inverse_root(np.sum([H_p @ W_p for H_p, W_p in zip(state.Hs, state.W)], axis=0))[0]
    M = [inverse_root(state.H @ W_p.T + lam * H_0)[0] @ W_p for W_p, H_0 in zip(state.W, base.H)]
    own = sum(W_p.T @ M_p for W_p, M_p in zip(state.W, M)) @ S
    solved = np.linalg.pinv(np.eye(len(S)) - own)
    return ConsensusMap(base.sides, tuple(lam * R @ M_p @ S @ solved for R, M_p in zip(base.R, M)))


class LFIMVC(KernelClusterer, IterativeClusterer):
    """Cluster by a consensus of base partitions that may move away from what the views say.

    The predecessor of `EEIMVC`: here the observed rows of the partitions are free, too, and held by a weight.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    prior_weight : float
        lam: how strongly each view's partition is held.
    init : {"align", "identity"}
        First rotations, as for `EEIMVC`.
    kernel, normalize, approximation, n_landmarks, rank
        As for `EEIMVC`.
    prepare, max_iter, tol, n_init, random_state, verbose, callback
        As for `EEIMVC`.

    Attributes
    ----------
    labels_, ids_, embedding_, views_seen_, trace_, state_, n_iter_
        See `IncompleteClusterer` and `IterativeClusterer`.
    rotations_ : list of ndarrays, shape (n_clusters, n_clusters)
        W_p.

    References
    ----------
    Liu, Zhu, Li, Wang, Tang, Yin, Shen, Wang, Gao. Late Fusion Incomplete Multi-View Clustering. IEEE Transactions on
    Pattern Analysis and Machine Intelligence, 2019.

    Examples
    --------
    >>> from conspectus import LFIMVC, missing
    >>> from conspectus.datasets import make_views
    >>> data = make_views(200, (5, 8), 3, seed=0)
    >>> views = missing.remove(data.X, missing.random_subsets(200, 2, 0.5, seed=0))
    >>> model = LFIMVC(3, random_state=0).fit(views)
    >>> bool(model.trace_.objective[-1] > model.trace_.objective[0])
    True
    """

    paper: ClassVar[str] = (
        "Liu, Zhu, Li, Wang, Tang, Yin, Shen, Wang, Gao. Late Fusion Incomplete Multi-View Clustering. TPAMI 2019."
    )
    bibtex: ClassVar[str] = """@article{liu2019lfimvc,
  author = {Liu, Xinwang and Zhu, Xinzhong and Li, Miaomiao and Wang, Lei and Tang, Chang and Yin, Jianping and
    Shen, Dinggang and Wang, Huaimin and Gao, Wen},
  title = {Late Fusion Incomplete Multi-View Clustering},
  journal = {IEEE Transactions on Pattern Analysis and Machine Intelligence},
  volume = {41},
  number = {10},
  pages = {2410--2423},
  year = {2019}
}"""
    cost: ClassVar[str] = "O(n)"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelClusterer._parameter_constraints,
        **IterativeClusterer._parameter_constraints,
        "prior_weight": [Interval(Real, 0, None, closed="neither")],
        "init": [StrOptions({"align", "identity"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        prior_weight: float = 1.0,
        init: str = "align",
        kernel: Kernel = "gaussian",
        normalize: bool = True,
        approximation: str = "auto",
        n_landmarks: int | str = "auto",
        rank: int | str = "auto",
        prepare: Any = None,
        max_iter: int = 200,
        tol: float | None = 1e-4,
        n_init: int = 10,
        random_state: Any = None,
        verbose: bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.prior_weight = prior_weight
        self.init = init
        self.kernel = kernel
        self.normalize = normalize
        self.approximation = approximation
        self.n_landmarks = n_landmarks
        self.rank = rank
        self.prepare = prepare
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _embed(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        warn_of_weak_links(views, self._k)
        base, _ = self._partitions(views, rng)
        lam = float(self.prior_weight)
        W = align(base.H) if self.init == "align" else identity(base.H)
        iterates = steps(base.H, W, lam, None if start is None else start.state)
        state, trace = self._run(iterates, start, direction="up", min_iter=3)
        self.rotations_ = list(state.W)
        return Embedding(consensus_map(base, state, lam), H=unit_rows(state.H), trace=trace, state=state)
