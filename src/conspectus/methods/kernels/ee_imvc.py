"""EE-IMVC and EE-R-IMVC: efficient and effective (regularised) incomplete multi-view clustering.

    Liu et al. Efficient and Effective Regularized Incomplete Multi-View Clustering. TPAMI 2021.

    max  sum_p beta_p tr(H' H_p W_p) + lam tr(H' H_0),     H_p = [H_p^(o); H_p^(u)]
    over H'H = I,  W_p'W_p = I,  H_p^(u)'H_p^(u) = I,  beta >= 0 with |beta| = 1

H_p^(o) is the base partition of view p on the rows that it has seen, and is kept; H_p^(u) are imputed rows; H_0 is a
prior partition (lam = 0: EE-IMVC, else EE-R-IMVC). Every block has a closed form:

    H       = polar(T),  T = sum_p beta_p H_p W_p + lam H_0                            (7)
    W_p     = polar(H_p' H)                                                            (8)
    H_p^(u) = polar(H^(u) W_p')                                                        (9)
    beta    = v / |v|,   v_p = tr(H' H_p W_p)                                          (10)

Imputed rows enter only as H_p^(u) W_p = H^(u) B_p with B_p = [H^(u)'H^(u)]^(-1/2), whatever W_p is: the k x k matrix
B_p is stored in their place. With fewer unseen rows than k, H_p^(u)'H_p^(u) = I cannot hold, and the maximiser over
|H_p^(u)|_2 <= 1 (of which the orthonormal matrices are the extreme points) is the same formula with a pseudo-inverse.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import RandomState
from sklearn.utils._param_validation import Interval, StrOptions

from conspectus._typing import Float, Int
from conspectus.base import Embedding, IterativeClusterer
from conspectus.errors import InputError
from conspectus.loop import Callback, Checkpoint
from conspectus.methods.kernels.base_partitions import Partitions, warn_of_weak_links
from conspectus.methods.kernels.bound import bound_terms, reconstruction_error
from conspectus.methods.kernels.estimator import KernelClusterer
from conspectus.methods.kernels.maps import ConsensusMap
from conspectus.methods.kernels.observed import Kernel
from conspectus.methods.kernels.prior import Prior
from conspectus.numerics.backend import row_blocks
from conspectus.numerics.orthogonal import polar
from conspectus.numerics.rows import unit_rows
from conspectus.numerics.spectral import directions_from_gram
from conspectus.registry import Composition
from conspectus.views.table import Views

BIBTEX = """@article{liu2021eeimvc,
  author = {Liu, Xinwang and Li, Miaomiao and Tang, Chang and Xia, Jingyuan and Xiong, Jian and Liu, Li and
    Kloft, Marius and Zhu, En},
  title = {Efficient and Effective Regularized Incomplete Multi-View Clustering},
  journal = {IEEE Transactions on Pattern Analysis and Machine Intelligence},
  volume = {43},
  number = {8},
  pages = {2634--2646},
  year = {2021}
}"""

Matrices = tuple[Float, ...]


class State(NamedTuple):
    """H, rotations W, imputations B (H_p^(u) W_p = H^(u) B_p) and view weights beta."""

    H: Float
    W: Matrices
    B: Matrices
    beta: Float


def steps(
    Hs: Sequence[Float],
    missing: Sequence[Int],
    W: Sequence[Float],
    H0: Float | None = None,
    lam: float = 0.0,
    start: State | None = None,
) -> Iterator[tuple[float, State]]:
    """Iterate Algorithm 1 from rotations `W`, imputed rows of 0 and equal weights, or from `start`.

    Parameters
    ----------
    Hs : sequence of ndarrays, shape (n_samples, k)
        Base partitions, zero in the rows of unseen samples.
    missing : sequence of arrays of int
        The unseen samples of each view.
    W : sequence of ndarrays, shape (k, k)
        First rotations.
    H0, lam : ndarray of shape (n_samples, k), float
        Prior and its weight.
    start : State, optional
        Where an earlier run stopped.
    """
    V = range(len(Hs))
    if start is None:
        zero = np.zeros((Hs[0].shape[1],) * 2)
        start = State(np.zeros_like(Hs[0]), tuple(W), (zero,) * len(Hs), np.full(len(Hs), len(Hs) ** -0.5))
    state = start
    while True:
        old = [state.H[u] @ B for u, B in zip(missing, state.B)]  # H_p^(u) W_p
        H = polar(fused(Hs, missing, state, H0, lam, old), state.H)  # eq. (7)
        P = [Hs[p].T @ H for p in V]
        unseen = [H[u] for u in missing]
        W_new = tuple(polar(P[p] + state.W[p] @ (old[p].T @ unseen[p]), state.W[p]) for p in V)  # eq. (8)
        roots = [inverse_root(rows) for rows in unseen]  # eq. (9)
        v = np.array([float((P[p] * W_new[p]).sum()) + roots[p][1] for p in V])
        beta = v / np.linalg.norm(v) if v.any() else state.beta  # eq. (10)
        state = State(H, W_new, tuple(B for B, _ in roots), beta)
        prior = 0.0 if H0 is None else lam * float((H * H0).sum())
        yield float(beta @ v) + prior, state


def fused(
    Hs: Sequence[Float],
    missing: Sequence[Int],
    state: State,
    H0: Float | None = None,
    lam: float = 0.0,
    imputed: Sequence[Float] | None = None,
) -> Float:
    """T = sum_p beta_p H_p W_p + lam H_0."""
    imputed = [state.H[u] @ B for u, B in zip(missing, state.B)] if imputed is None else imputed
    T = np.zeros_like(Hs[0]) if H0 is None else lam * H0
    rotations = [b * W for b, W in zip(state.beta, state.W)]
    for part in row_blocks(len(T), 8192):  # products of a block stay in the cache
        for H_p, R in zip(Hs, rotations):
            T[part] += H_p[part] @ R
    for u, rows, b in zip(missing, imputed, state.beta):
        T[u] += b * rows
    return T


def inverse_root(rows: Float) -> tuple[Float, float]:
    """Return (X'X)^(-1/2), on the range of X, and the sum of the singular values of X."""
    values, Q = np.linalg.eigh(rows.T @ rows)
    if values[0] > 1e-12 * values[-1]:
        s = np.sqrt(values)
    else:  # the eigenvalues of X'X do not tell small singular values from 0
        _, s, Qt = np.linalg.svd(rows, full_matrices=False)
        Q = Qt.T
    inverse = np.where(s > 1e-13 * s.max(initial=0.0), 1 / np.where(s > 0, s, 1), 0)
    return np.asarray((Q * inverse) @ Q.T), float(s.sum())


def identity(Hs: Sequence[Float]) -> Matrices:
    """The paper's first rotations."""
    return (np.eye(Hs[0].shape[1]),) * len(Hs)


def align(Hs: Sequence[Float], H0: Float | None = None) -> Matrices:
    """Rotate the base partitions towards their common leading directions C (towards H_0, where it is given).

    Columns of H_p are eigenvectors, whose signs and order mean nothing across views, so that sums of H_p begin with an
    arbitrary number of terms that cancel. C = the k leading left singular vectors of [H_1 ... H_m], W_p = polar(H_p'C);
    all that this needs is the Gram matrix of [H_1 ... H_m].
    """
    k = Hs[0].shape[1]
    G = np.block([[H_p.T @ H_q for H_q in Hs] for H_p in Hs])
    V, s = directions_from_gram(G, k)
    V = V * np.where(s > 0, 1 / np.where(s > 0, s, 1), 0)
    if H0 is not None:
        V = V @ polar(V.T @ np.vstack([H_p.T @ H0 for H_p in Hs]))
    return tuple(polar(G[p * k : (p + 1) * k] @ V) for p in range(len(Hs)))


class EEIMVC(KernelClusterer, IterativeClusterer):
    """Cluster by a consensus of base partitions, imputing what a view says about samples that it has not seen.

    Each view is clustered alone, by kernel k-means in relaxed form, on the samples that it has seen. A consensus H, a
    rotation and a weight for each view, and the partitions' rows of unseen samples are then found together. The
    observed rows are never altered, and the imputed rows are never stored: an iteration costs O(n).

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    kernel : {"gaussian", "linear", "polynomial", "cosine", "precomputed"} or callable
        "gaussian": exp(-d^2 / (2 s^2)), s the mean distance of the observed rows' pairs (of 2,000 rows drawn at random
        where there are more). "polynomial": (x.y + 1)^2. "precomputed": the views are kernels of all samples
        (``as_views(..., square=True)``), of which only entries between seen samples are read. A callable gets two
        matrices of rows and returns the kernel between them.
    normalize : bool
        Centre each kernel and scale its diagonal to 1, over the rows that the view has seen. False takes kernels as
        they are.
    prior : None, "average", "mkkm" or array of shape (n_samples, n_clusters)
        H_0. None: EE-IMVC. "average": the leading eigenvectors of the mean kernel, unseen entries 0; "mkkm": those of
        multiple kernel k-means; an array: any matrix with orthonormal columns, such as scaled class indicators
        (new samples then have no prior). Not always a gain: H_0 pulls towards its own quality.
    prior_weight : float
        lam of the paper; of no account without a prior.
    init : {"align", "identity"}
        First rotations: "align" turns the base partitions towards their common directions; "identity" is the paper's,
        which depends on the arbitrary signs of eigenvectors.
    approximation : {"auto", "exact", "features"}
        "exact" forms the kernel matrix of each view. "features" works in O(n) with explicit features: exact for linear
        and cosine kernels of at most 1,024 columns, else Nystroem. "auto": exact while no view has seen more than
        2,000 samples, and for given kernels.
    n_landmarks, rank : int or "auto"
        Of the Nystroem features: landmarks drawn from the observed rows (256 or 10 `n_clusters`, whichever is more),
        and leading directions kept (64 or 4 `n_clusters`).
    predict_mode : {"observed", "fixpoint"}
        How `predict` treats views that have not seen a new sample: "observed" leaves them out, "fixpoint" imputes them
        from the sample's own row, as the training does.
    prepare : see `PrepareViews`
        By default None: rows as they are.
    max_iter, tol : int, float
        The loop ends after `max_iter` iterations or at a relative change of the objective below `tol`.
    n_init : int
        Starts of k-means on the rows of H, scaled to unit length.
    random_state : int, RandomState or None
        Seed of the landmarks and of k-means.
    verbose : bool
        Show progress.
    callback : callable or None
        Called as ``callback(iteration, objective, state)``; True stops.

    Attributes
    ----------
    labels_, ids_, embedding_, views_seen_, trace_, state_, n_iter_
        See `IncompleteClusterer` and `IterativeClusterer`.
    view_weights_ : ndarray, shape (n_views,)
        beta, of unit length. Views with more unseen rows tend to weigh more, for imputed rows agree with H.
    rotations_ : list of ndarrays, shape (n_clusters, n_clusters)
        W_p.
    bound_ : BoundTerms
        The reconstruction error of the training samples and the other terms of the paper's generalisation bound
        (sec. 4); see `BoundTerms` for why they are no guarantee.

    References
    ----------
    Liu, Li, Tang, Xia, Xiong, Liu, Kloft, Zhu. Efficient and Effective Regularized Incomplete Multi-View Clustering.
    IEEE Transactions on Pattern Analysis and Machine Intelligence, 2021.

    Examples
    --------
    >>> from conspectus import EEIMVC, missing
    >>> from conspectus.datasets import load_mfeat
    >>> digits = load_mfeat()
    >>> X = [digits.X[name] for name in ("fou", "pix", "mor")]
    >>> mask = missing.absent_views(2000, 3, 0.3, seed=0, y=digits.y)
    >>> model = EEIMVC(10, approximation="features", random_state=0).fit(missing.remove(X, mask))
    >>> bool(model.trace_.objective[-1] > model.trace_.objective[0])
    True
    """

    paper: ClassVar[str] = (
        "Liu, Li, Tang, Xia, Xiong, Liu, Kloft, Zhu. Efficient and Effective Regularized Incomplete Multi-View "
        "Clustering. TPAMI 2021."
    )
    bibtex: ClassVar[str] = BIBTEX
    cost: ClassVar[str] = "O(n)"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelClusterer._parameter_constraints,
        **IterativeClusterer._parameter_constraints,
        "prior": [StrOptions({"average", "mkkm"}), "array-like", None],
        "prior_weight": [Interval(Real, 0, None, closed="left")],
        "init": [StrOptions({"align", "identity"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: Kernel = "gaussian",
        normalize: bool = True,
        prior: Any = None,
        prior_weight: float = 1.0,
        init: str = "align",
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
        self.kernel = kernel
        self.normalize = normalize
        self.prior = prior
        self.prior_weight = prior_weight
        self.init = init
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
        warn_of_weak_links(views, self._k)
        base, prior = self._base(views, rng)
        H0, lam = (None, 0.0) if prior is None else (prior.H, float(self.prior_weight))
        missing = [views.missing(v) for v in range(views.n_views)]
        W = align(base.H, H0 if lam else None) if self.init == "align" else identity(base.H)
        iterates = steps(base.H, missing, W, H0, lam, None if start is None else start.state)
        state, trace = self._run(iterates, start, direction="up", min_iter=3)
        self.view_weights_, self.rotations_ = state.beta, list(state.W)
        self._fused = fused(base.H, missing, state)
        T = self._fused if H0 is None else self._fused + lam * H0
        consensus = consensus_map(base, prior, lam, state, inverse_root(T)[0], self.predict_mode)
        return Embedding(consensus, H=unit_rows(state.H), trace=trace, state=state)

    def _base(self, views: Views, rng: RandomState) -> tuple[Partitions, Prior | None]:
        """Base partitions, and the prior where there is one."""
        given = None if self.prior is None or isinstance(self.prior, str) else check_prior(self.prior, views, self._k)
        which = self.prior if isinstance(self.prior, str) else None
        base, prior = self._partitions(views, rng, which)
        return base, prior if given is None else Prior(given, None)

    def _finish(self, views: Views, embedding: Embedding, seed: int) -> None:
        super()._finish(views, embedding, seed)
        error = reconstruction_error(self._fused, self.labels_, self._k)
        self.bound_ = bound_terms(error, len(views), views.n_views, self._k)
        del self._fused


def check_prior(prior: Any, views: Views, k: int) -> Float:
    """Check the shape of a given H_0."""
    H0 = np.asarray(prior, dtype=np.float64)
    if H0.shape != (len(views), k):
        raise InputError(
            f"prior has shape {H0.shape}: give one row a sample and one column a cluster, {(len(views), k)}"
        )
    if not np.isfinite(H0).all():
        raise InputError("prior holds NaN or inf: give a number for every sample and cluster")
    return H0


def consensus_map(base: Partitions, prior: Prior | None, lam: float, state: State, S: Float, mode: str) -> ConsensusMap:
    """h(x) = [sum_{p in O} beta_p h_p(x) W_p + lam h_0(x) + sum_{p not in O} beta_p h(x) B_p] S,  S = (T'T)^(-1/2)."""
    A = [b * R @ W for b, R, W in zip(state.beta, base.R, state.W)]
    if prior is not None and prior.R is not None:
        A = [a + lam * R for a, R in zip(A, prior.R)]
    E = tuple(b * B @ S for b, B in zip(state.beta, state.B)) if mode == "fixpoint" else None
    return ConsensusMap(base.sides, tuple(a @ S for a in A), E)


def _regularised(n_clusters: int = 8, *, prior: Any = "average", **parameters: Any) -> EEIMVC:
    return EEIMVC(n_clusters, prior=prior, **parameters)


EERIMVC = Composition("EERIMVC", "EE-R-IMVC", _regularised, paper=EEIMVC.paper, bibtex=BIBTEX, cost=EEIMVC.cost)
