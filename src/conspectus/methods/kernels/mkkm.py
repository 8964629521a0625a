"""MKKM with unseen entries filled: multiple kernel k-means, and four fillings as its baselines for incomplete views."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from sklearn.utils._param_validation import StrOptions

from conspectus._typing import Float
from conspectus.base import Embedding, IterativeClusterer
from conspectus.errors import InputError
from conspectus.loop import Callback, Checkpoint
from conspectus.methods.kernels.base_partitions import inverse
from conspectus.methods.kernels.estimator import KernelClusterer
from conspectus.methods.kernels.features import feature_kernels, feature_means
from conspectus.methods.kernels.fillings import FILLS
from conspectus.methods.kernels.imputed import IncompleteKernels, incomplete_features
from conspectus.methods.kernels.kernel_sets import DenseKernels, KernelSet, exact_kernels
from conspectus.methods.kernels.maps import ConsensusMap
from conspectus.methods.kernels.mkkm_steps import State, steps
from conspectus.methods.kernels.observed import Kernel, Side
from conspectus.numerics.rows import unit_rows
from conspectus.requires import Requires
from conspectus.views.table import Views

RIDGE = 1e-3
"""a of the alignment filling."""
DENSE_SAMPLES = 10_000


class MKKM(KernelClusterer, IterativeClusterer):
    """Cluster by a weighted sum of kernels, after unseen entries were filled once and for all.

    Views whose kernel the clustering explains best weigh most. That is MKKM's weakness too: a view whose kernel has
    little more rank than there are clusters is explained whatever it says, and takes all the weight.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    fill : {"zero", "mean", "knn", "alignment"}
        How unseen rows and columns of a kernel are filled: with 0; as if the sample were the mean of the observed ones;
        with the mean row of its 7 nearest neighbours in the other kernels (kernel matrices only); by the alignment
        with the leading eigenvectors of the mean kernel.
    kernel, normalize, approximation, n_landmarks, rank
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
    Goenen, Margolin. Localized Data Fusion for Kernel k-Means Clustering with Application to Cancer Biology. NIPS 2014.

    Trivedi, Rai, Daume, DuVall. Multiview Clustering with Incomplete Views. NIPS workshop 2010 (the alignment filling).

    Examples
    --------
    >>> from conspectus import MKKM, missing
    >>> from conspectus.datasets import make_views
    >>> data = make_views(200, (5, 8), 3, seed=0)
    >>> views = missing.remove(data.X, missing.random_subsets(200, 2, 0.5, seed=0))
    >>> model = MKKM(3, fill="mean", random_state=0).fit(views)
    >>> float(model.view_weights_.sum().round(6))
    1.0
    """

    paper: ClassVar[str] = (
        "Goenen, Margolin. Localized Data Fusion for Kernel k-Means Clustering with Application to Cancer Biology. "
        "NIPS 2014; fillings as in the EE-IMVC paper."
    )
    bibtex: ClassVar[str] = """@inproceedings{gonen2014localized,
  author = {G{\\"o}nen, Mehmet and Margolin, Adam A.},
  title = {Localized Data Fusion for Kernel k-Means Clustering with Application to Cancer Biology},
  booktitle = {Advances in Neural Information Processing Systems},
  volume = {27},
  year = {2014}
}"""
    requires: ClassVar[Requires] = Requires(matrices=2, per_view=True, instead="EEIMVC or fill='mean'")
    cost: ClassVar[str] = "O(n); O(n^3) with fill='knn'"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelClusterer._parameter_constraints,
        **IterativeClusterer._parameter_constraints,
        "fill": [StrOptions(set(FILLS))],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        fill: str = "zero",
        kernel: Kernel = "gaussian",
        normalize: bool = True,
        approximation: str = "auto",
        n_landmarks: int | str = "auto",
        rank: int | str = "auto",
        prepare: Any = None,
        max_iter: int = 100,
        tol: float | None = 1e-4,
        n_init: int = 10,
        random_state: Any = None,
        verbose: bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.fill = fill
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

    @property
    def max_samples(self) -> int | None:
        """Neighbours are looked for among kernel matrices only."""
        return DENSE_SAMPLES if self.fill == "knn" else None

    def _exact(self, views: Views) -> bool:
        if self.fill != "knn":
            return super()._exact(views)
        if self.approximation == "features":
            raise InputError("fill='knn' looks for neighbours among kernel matrices: use approximation='exact'")
        return True

    def _embed(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        route = self._of_matrices if self._exact(views) else self._of_features
        return route(views, rng, start)

    def _iterate(self, kernels: KernelSet, views: Views, start: Checkpoint | None) -> tuple[State, Any]:
        iterates = steps(kernels, views.n_views, self._k, None if start is None else start.state)
        # An indefinite filling has no objective that must fall.
        state, trace = self._run(iterates, start, direction=None if self.fill == "knn" else "down", min_iter=3)
        self.view_weights_ = state.g
        return state, trace

    def _of_matrices(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        kernels, sides = exact_kernels(views, self.kernel, self.normalize)
        missing = [views.missing(v) for v in range(views.n_views)]
        filled = FILLS[self.fill](kernels.K, missing, self._k)
        state, trace = self._iterate(DenseKernels(filled, kernels.observed), views, start)
        H, values, g = state.H, state.values, state.used
        consensus: ConsensusMap | None = None
        if self.fill == "zero":
            consensus = ConsensusMap(sides, kernels.split(H, values, g**2))
        elif self.fill == "mean":
            consensus = _map_of_means(kernels, sides, H, values, g)
        elif self.fill == "alignment":
            source, _ = kernels.leading(np.ones(views.n_views), self._k)
            joining = IncompleteKernels(kernels.K, missing, RIDGE).joining(H, values, g, source)
            consensus = ConsensusMap(sides, joining.A)
        return Embedding(consensus, H=unit_rows(H), trace=trace, state=state)

    def _of_features(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        sides = self._sides(views, rng)
        if self.fill == "alignment":
            incomplete = incomplete_features(views, sides, RIDGE)
            source, _ = incomplete.completed(None).leading(np.ones(views.n_views), self._k)
            kernels = incomplete.completed(source)
            state, trace = self._iterate(kernels, views, start)
            A = kernels.split(state.H, state.values, state.used**2)
            return Embedding(ConsensusMap(sides, A), H=unit_rows(state.H), trace=trace, state=state)
        fill = feature_means(views, sides) if self.fill == "mean" else None
        of_gram = feature_kernels(views, sides, fill)
        state, trace = self._iterate(of_gram, views, start)
        A = of_gram.split(state.H, state.values, state.used**2)
        constants = None if fill is None else tuple(row @ a for row, a in zip(fill, A))
        return Embedding(ConsensusMap(sides, A, constants=constants), trace=trace, state=state)


def _map_of_means(kernels: DenseKernels, sides: tuple[Side, ...], H: Float, values: Float, g: Float) -> ConsensusMap:
    """k_p(x)'H = k_p(x, o)(H_o + 1 1'H_u / n_o); an unseen view has the mean row of its kernel."""
    A, constants = [], []
    for K, o, w in zip(kernels.K, kernels.observed, g**2):
        unseen = H.sum(axis=0) - H[o].sum(axis=0)
        A.append(w * (H[o] + unseen / len(o)) * inverse(values))
        constants.append(K[np.ix_(o, o)].mean(axis=0) @ A[-1])
    return ConsensusMap(sides, tuple(A), constants=tuple(constants))
