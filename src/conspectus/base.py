"""The estimator, written once: door, preparation, a method's embedding, labels, prediction."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from conspectus._typing import Array, Bool, Float, Int
from conspectus.errors import DataWarning, InputError
from conspectus.frames import result_frame
from conspectus.layout import Layout
from conspectus.loop import Checkpoint, Steps, Trace, run
from conspectus.numerics.backend import to_numpy
from conspectus.numerics.kmeans import kmeans
from conspectus.numerics.rows import class_means
from conspectus.prepare import PrepareViews
from conspectus.requires import Requires, check
from conspectus.rules import CentroidRule, ClassMeanRule
from conspectus.views.containers import is_many
from conspectus.views.door import open_door, require_rows, require_seen
from conspectus.views.findings import warn_about
from conspectus.views.table import Views


@dataclass(frozen=True)
class Embedding:
    """What a method returns: coordinates in which clusters are compact, and the way in which samples get there.

    Attributes
    ----------
    map : callable or None
        Embeds the rows of any Views over any non-empty subset of the views; None where the mathematics has no map.
    H : ndarray, shape (n_samples, r), optional
        The rows of the training samples, exactly as k-means sees them; by default ``views.map(map)``.
    labels : ndarray, optional
        Labels that the method itself gives, in the place of k-means; the centroids are then the class means of `H`.
    trace, state : optional
        Of the outermost run of an iterative method.
    centres : ndarray, optional
        Centroids that belong to `labels`, where they are not the class means.
    """

    map: Callable[[Views], Array] | None
    H: Array | None = None
    labels: Int | None = None
    trace: Trace | None = None
    state: Any = None
    centres: Array | None = None


class IncompleteClusterer(ClusterMixin, BaseEstimator):
    """Clusters samples described by several views, none of which has seen every sample.

    A method is a subclass with one method of its own, ``_embed(views, rng, start)``, which returns an `Embedding`.
    Everything that users see (`fit`, `predict`, `confidence`, `to_frame`) is here.

    Attributes
    ----------
    labels_ : ndarray of int, shape (n_samples,)
        The cluster of each sample, in the order of `ids_`.
    ids_ : ndarray, shape (n_samples,)
        The sample's id: the union of the tables' ids, in order of first appearance.
    embedding_ : ndarray, shape (n_samples, r)
        The coordinates that k-means saw.
    views_seen_ : ndarray of bool, shape (n_samples, n_views)
        Which view has seen which sample.
    preparation_ : PrepareViews
        What was done to each view; ``preparation_.notes_`` says it in words.
    """

    paper: ClassVar[str] = ""
    """Authors, title, venue and year of the paper that the method is from."""
    bibtex: ClassVar[str] = ""
    requires: ClassVar[Requires] = Requires()
    """What the method asks of the data; checked once, by `fit`."""
    cost: ClassVar[str] = "O(n)"
    """How time and memory grow with the number of samples."""
    revision: ClassVar[int] = 1
    """Raised when the results of the method change, so that stored experiments are computed again."""
    iterative: ClassVar[bool] = False
    has_map: ClassVar[bool] = True
    """Whether new samples are embedded by the method's own formula; else they get the nearest class mean."""
    sparse_input: ClassVar[bool] = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "prepare": [str, list, tuple, dict, HasMethods(["fit", "transform"]), None],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def _embed(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        raise NotImplementedError

    # --- what users call

    def fit(self, X: Any, y: Any = None, *, start: Checkpoint | None = None) -> Any:
        """Cluster the samples.

        Parameters
        ----------
        X : Views, or anything that `as_views` takes
            The samples.
        y : ignored
            There for scikit-learn's conventions.
        start : Checkpoint, optional
            ``state_`` of an earlier fit on the same data that was stopped: go on where it was.
        """
        self._validate_params()
        if start is not None and not self.iterative:
            raise InputError(f"{type(self).__name__} has no iterations: it cannot go on from start=")
        views = self._open(X, reset=True)
        self._check(views)
        warn_about(views)
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=2)
        self.preparation_ = PrepareViews(self._preparation).fit(views)
        prepared = self.preparation_.transform(views)
        with threadpool_limits(
            1
        ):  # blocks and restarts run in parallel, one BLAS thread inside: labels never depend on it
            try:
                embedding = self._embed(prepared, RandomState(seeds[0]), start)
            except KeyboardInterrupt as stop:
                self.state_ = getattr(stop, "checkpoint", None)
                raise
            self._finish(prepared, embedding, int(seeds[1]))
        return self

    def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> Int:
        """Cluster the samples and return their labels."""
        return np.asarray(self.fit(X, y, **fit_params).labels_)

    def predict(self, X: Any) -> Int:
        """Return the cluster of each new sample, from whatever views it was seen in; -1 for a sample seen in none."""
        labels, _, _ = self._place(X)
        return labels

    def confidence(self, X: Any = None) -> Float:
        """Return how much nearer each sample lies to its cluster than to the next, from 0 to 1.

        The margin (d2 - d1) / (d2 + d1) of the distances to the two nearest centroids. It ranks samples; it is no
        probability. Without `X`: of the training samples.
        """
        if X is None:
            check_is_fitted(self)
            return np.asarray(self._margin)
        labels, d1, d2 = self._place(X)
        return np.where(labels < 0, 0.0, _margin(d1, d2))

    def to_frame(self) -> Any:
        """Return ids, labels and confidence as a table of the library that the views came from, else pandas."""
        check_is_fitted(self)
        return result_frame(self.ids_, self.labels_, self.confidence(), self._frame)

    # --- how it is done

    @property
    def _k(self) -> int:
        """How many clusters to make."""
        return int(self.n_clusters)

    @property
    def _preparation(self) -> Any:
        """What is done to the views first; nothing to kernels and distances."""
        return None if self._precomputed else getattr(self, "prepare", None)

    @property
    def _precomputed(self) -> bool:
        """Whether the views are kernels or distances between samples."""
        return "precomputed" in (getattr(self, "kernel", None), getattr(self, "metric", None))

    def _open(self, X: Any, *, reset: bool) -> Views:
        """Bring X through scikit-learn's checks where it is one plain matrix, and through the door."""
        if not isinstance(X, Views) and not is_many(X) and not self._precomputed and _plain(X):
            ids = np.asarray(X.index) if hasattr(X, "iloc") and X.index.is_unique else None
            frame = "pandas" if hasattr(X, "iloc") else None
            X = validate_data(
                self,
                X,
                reset=reset,
                dtype=[np.float64, np.float32],
                accept_sparse="csr" if self.sparse_input else False,
                ensure_min_samples=1 + reset,
            )
            views = self._receive(open_door([X], ids=ids), reset=reset)
            if not reset:
                return self._layout.match(views)
            self._frame: str | None = frame
            return views
        views = self._receive(open_door(X, square=self._precomputed), reset=reset)
        if not reset:
            return self._layout.match(views)
        self._frame = views.frame
        self.n_features_in_ = views.shape[1]
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return views

    def _receive(self, views: Views, *, reset: bool) -> Views:
        """Read the views in another way than the door does, where a method has its own idea of what is unseen."""
        return views

    def _check(self, views: Views) -> None:
        """Refuse what no method can cluster, then what this one cannot."""
        require_seen(views)
        require_rows(views)
        if self._k > len(views):
            raise InputError(f"n_clusters={self._k}, but there are only {len(views)} samples: ask for fewer")
        check(self, views)

    def _finish(self, views: Views, embedding: Embedding, seed: int) -> None:
        """Give labels and keep what a fitted model is."""
        H = views.map(embedding.map) if embedding.H is None and embedding.map is not None else embedding.H
        if H is None:
            raise TypeError("an Embedding needs rows or a map")
        if embedding.labels is None:
            labels, centres, self.inertia_ = kmeans(H, self._k, n_init=getattr(self, "n_init", 10), seed=seed)
        else:
            labels = np.asarray(to_numpy(embedding.labels), dtype=np.int64)
            centres = class_means(H, labels, self._k) if embedding.centres is None else embedding.centres
        self._rule: CentroidRule | ClassMeanRule
        if embedding.map is None:
            self._rule = ClassMeanRule.fit(views, labels, self._k)
        else:
            self._rule = CentroidRule(embedding.map, centres)
        self.labels_, self.ids_, self.embedding_ = np.asarray(to_numpy(labels), dtype=np.int64), views.ids, H
        self.views_seen_: Bool = views.seen
        self._layout = Layout.of(views)
        self._margin = _margin(*CentroidRule.distances(H, centres)[1:])
        if embedding.trace is not None:
            self.trace_, self.n_iter_ = embedding.trace, max(embedding.trace.n_iter, 1)
            self.state_ = Checkpoint(embedding.state, embedding.trace)

    def _place(self, X: Any) -> tuple[Int, Float, Float]:
        """Labels and squared distances to the two nearest centroids, for new samples."""
        check_is_fitted(self)
        views = self._open(X, reset=False)
        seen = views.seen.any(axis=1)
        labels = np.full(len(views), -1, dtype=np.int64)
        d1, d2 = np.zeros(len(views)), np.zeros(len(views))
        if seen.any():
            with threadpool_limits(1):
                prepared = self.preparation_.transform(views.rows(np.flatnonzero(seen)))
                labels[seen], d1[seen], d2[seen] = (to_numpy(part) for part in prepared.map(self._rule.place))
        if not seen.all():
            warnings.warn(
                f"{int((~seen).sum())} samples are seen in no view: their label is -1", DataWarning, stacklevel=3
            )
        return labels, d1, d2

    # --- scikit-learn

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "labels_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.sparse_input
        tags.input_tags.positive_only = self.requires.nonnegative and self._preparation is None
        tags.input_tags.pairwise = self._precomputed
        return tags


class IterativeClusterer(IncompleteClusterer):
    """A method that iterates: it can be watched, stopped and gone on with.

    Attributes
    ----------
    trace_ : Trace
        The objective after each iteration and why the run ended.
    n_iter_ : int
        How many iterations were made.
    state_ : Checkpoint
        What ``fit(X, start=model.state_)`` goes on from; kept on Ctrl-C, too.
    """

    iterative: ClassVar[bool] = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IncompleteClusterer._parameter_constraints,
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "verbose": ["verbose"],
        "callback": [callable, None],
    }

    def _run(self, steps: Steps, start: Checkpoint | None, **options: Any) -> tuple[Any, Trace]:
        """Run the method's generator under the one loop, with what the user asked for."""
        watched: dict[str, Any] = {"max_iter": self.max_iter, "tol": self.tol, "verbose": bool(self.verbose)}
        return run(steps, start=start, callback=self.callback, **{**watched, **options})


def _plain(X: Any) -> bool:
    """Whether scikit-learn's own checks apply: not to Torch or CuPy arrays, nor to frames that it does not know."""
    return (
        isinstance(X, (np.ndarray, list, tuple))
        or sparse.issparse(X)
        or hasattr(X, "iloc")
        or not (hasattr(X, "__array_namespace__") or hasattr(X, "device") or hasattr(X, "schema"))
    )


def _margin(d1: Array, d2: Array) -> Float:
    """How clear the nearest centroid is; 1 where there is only one, 0 where two are equally near."""
    near, far = np.sqrt(to_numpy(d1)), np.sqrt(to_numpy(d2))
    with np.errstate(invalid="ignore"):
        margin = np.where(np.isinf(far), 1.0, (far - near) / np.where(far > 0, far + near, 1.0))
    return np.asarray(margin, dtype=np.float64)


__all__ = ["Embedding", "IncompleteClusterer", "IterativeClusterer"]
