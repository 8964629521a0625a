"""Methods around other methods: one view, all views side by side, or filled views."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.utils._param_validation import HasMethods, StrOptions

from conspectus._typing import Array, Float, Int
from conspectus.base import Embedding, IncompleteClusterer
from conspectus.errors import DataWarning, InputTypeError
from conspectus.fill import FillViews, complete
from conspectus.loop import Checkpoint
from conspectus.numerics.backend import to_numpy
from conspectus.numerics.rows import class_means
from conspectus.requires import Requires
from conspectus.views.door import as_views
from conspectus.views.table import Views


@dataclass(frozen=True)
class Side:
    """The filled rows of some views, side by side, as one matrix."""

    filler: FillViews
    views: tuple[int, ...]

    def __call__(self, views: Views) -> Array:
        return self.lay(self.filler.transform(views))

    def lay(self, whole: Views) -> Array:
        """Lay the chosen views of complete samples side by side."""
        parts = [whole.data(v) for v in self.views]
        if any(sparse.issparse(part) for part in parts):
            return sparse.hstack(parts, format="csr")
        return parts[0] if len(parts) == 1 else np.hstack([to_numpy(part) for part in parts])


@dataclass(frozen=True)
class Through:
    """A method's own map of what a wrapper makes of the views."""

    arrange: Callable[[Views], Any]
    map: Callable[[Views], Array]

    def __call__(self, views: Views) -> Array:
        made = self.arrange(views)
        return self.map(made if isinstance(made, Views) else as_views(made))


class _Wrapper(IncompleteClusterer):
    """What the wrappers share: the inner clusterer, its preparation, its number of clusters."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit_predict"]), None],
        "fill": [str, FillViews],
        "prepare": IncompleteClusterer._parameter_constraints["prepare"],
        "random_state": ["random_state"],
    }

    def __init__(
        self, estimator: Any = None, *, fill: Any = "mean", prepare: Any = "inherit", random_state: Any = None
    ) -> None:
        self.estimator = estimator
        self.fill = fill
        self.prepare = prepare
        self.random_state = random_state

    @property
    def _k(self) -> int:
        """How many clusters the inner clusterer makes."""
        return int(self._inner().n_clusters)

    @property
    def requires(self) -> Requires:  # type: ignore[override]
        """What the inner method asks of the data; wrapped, it sees one complete view."""
        return replace(getattr(self._inner(), "requires", Requires()), max_views=None, common_samples=False)

    @property
    def has_map(self) -> bool:  # type: ignore[override]
        """Whether the inner clusterer embeds new samples by its own formula."""
        return bool(getattr(self._inner(), "has_map", True))

    @property
    def _preparation(self) -> Any:
        return getattr(self._inner(), "prepare", None) if self.prepare == "inherit" else self.prepare

    def _inner(self) -> Any:
        return KMeans(8, n_init=10) if self.estimator is None else self.estimator

    def _fitted_inner(self, X: Any, rng: RandomState) -> Any:
        """Fit a copy of the inner clusterer on complete, prepared data."""
        inner = clone(self._inner())
        parameters = inner.get_params(deep=False)
        if "random_state" in parameters:
            inner.set_params(random_state=rng.randint(2**31 - 1))
        if isinstance(inner, IncompleteClusterer):
            inner.set_params(prepare=None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # said once, of the data as the user gave them
            return inner.fit(X)

    def _embedding(self, inner: Any, arrange: Callable[[Views], Any], X: Any) -> Embedding:
        """Coordinates and labels of the fitted inner clusterer."""
        if not isinstance(inner, IncompleteClusterer):
            return Embedding(arrange, H=X, labels=inner.labels_)
        own_map = getattr(inner._rule, "map", None)
        return Embedding(
            None if own_map is None else Through(arrange, Through(inner.preparation_.transform, own_map)),
            H=inner.embedding_,
            labels=inner.labels_,
            centres=getattr(inner._rule, "centres", None),
        )


class Concatenated(_Wrapper):
    """Cluster all views side by side after filling unseen rows: what one does who knows no multi-view method.

    Parameters
    ----------
    estimator : clusterer, optional
        Any scikit-learn clusterer with `n_clusters`, or a method of this library; by default k-means with 8 clusters.
    fill : str or FillViews
        How unseen rows are filled; see `FillViews`.
    prepare : see `PrepareViews`
        Done to each view before it is filled; by default what the inner method does ("inherit").
    random_state : int, RandomState or None
        Seed of the inner clusterer.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> from conspectus import Concatenated
    >>> X = [np.array([[0.2], [0.1], [9.0], [np.nan]]), np.array([[1.0], [1.1], [5.0], [5.1]])]
    >>> labels = Concatenated(KMeans(2, n_init=5), random_state=0).fit_predict(X)
    >>> bool(labels[0] == labels[1] != labels[2])
    True
    """

    def _embed(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        filler, whole = complete(views, self.fill)
        side = Side(filler, tuple(range(views.n_views)))
        X = side.lay(whole)
        return self._embedding(self._fitted_inner(X, rng), side, X)


class BestSingleView(_Wrapper):
    """Cluster one view only, its unseen rows filled: the baseline that any use of several views has to beat.

    Parameters
    ----------
    estimator : clusterer, optional
        Any scikit-learn clusterer with `n_clusters`, or a method of this library; by default k-means with 8 clusters.
    select : {"rows", "inertia"} or int
        Which view, without looking at labels: the one that has seen the most samples (the first of equals), or the one
        with the least scatter within clusters as a share of its total scatter; or a position.
    fill, prepare, random_state
        As for `Concatenated`.

    Attributes
    ----------
    view_ : int
        The view that was chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> from conspectus import BestSingleView
    >>> X = [np.array([[0.2], [np.nan], [9.0], [np.nan]]), np.array([[1.0], [1.1], [5.0], [5.1]])]
    >>> model = BestSingleView(KMeans(2, n_init=5), random_state=0).fit(X)
    >>> model.view_
    1
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_Wrapper._parameter_constraints,
        "select": [StrOptions({"rows", "inertia"}), int],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        select: str | int = "rows",
        fill: Any = "mean",
        prepare: Any = "inherit",
        random_state: Any = None,
    ) -> None:
        super().__init__(estimator, fill=fill, prepare=prepare, random_state=random_state)
        self.select = select

    def _embed(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        filler, whole = complete(views, self.fill)
        if self.select == "inertia":
            candidates = [self._try(filler, v, whole, rng) for v in range(views.n_views)]
            self.view_ = int(np.argmin([share for share, _ in candidates]))
            return candidates[self.view_][1]
        self.view_ = int(views.seen.sum(axis=0).argmax()) if self.select == "rows" else int(self.select)
        return self._try(filler, self.view_, whole, rng)[1]

    def _try(self, filler: FillViews, v: int, whole: Views, rng: RandomState) -> tuple[float, Embedding]:
        """Cluster view v; return the share of its scatter that stays within clusters."""
        side = Side(filler, (v,))
        X = side.lay(whole)
        inner = self._fitted_inner(X, rng)
        return scatter_within(X, inner.labels_, self._k), self._embedding(inner, side, X)


class Filled(_Wrapper):
    """Run a multi-view method for complete data on filled views.

    Parameters
    ----------
    estimator : method of this library
        What clusters the filled views.
    fill, prepare, random_state
        As for `Concatenated`.

    Examples
    --------
    >>> import numpy as np
    >>> from conspectus import APMC, Filled
    >>> X = [np.array([[0.2, 1], [0.1, 1], [9.0, 1], [9.1, 2]]), np.array([[1.0], [1.1], [5.0], [np.nan]])]
    >>> int(Filled(APMC(2, n_neighbors=2), random_state=0).fit(X).views_seen_.sum())
    7
    """

    @property
    def requires(self) -> Requires:  # type: ignore[override]
        """What the inner method asks of the data."""
        return replace(getattr(self._inner(), "requires", Requires()), common_samples=False)

    def _embed(self, views: Views, rng: RandomState, start: Checkpoint | None) -> Embedding:
        if not isinstance(self._inner(), IncompleteClusterer):
            raise InputTypeError(
                "Filled takes a multi-view method: use Concatenated or BestSingleView for other clusterers"
            )
        filler, whole = complete(views, self.fill)
        return self._embedding(self._fitted_inner(whole, rng), filler.transform, whole)

    def _inner(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        from conspectus.methods.anchors.apmc import APMC

        return APMC(8)


def scatter_within(X: Array, labels: Int, n_clusters: int) -> float:
    """Return the squared distances to the class means as a share of those to the mean of all."""
    X = X.toarray() if sparse.issparse(X) else to_numpy(X)
    total = float(((X - X.mean(axis=0)) ** 2).sum())
    means: Float = class_means(X, labels, n_clusters)
    return float(((X - means[labels]) ** 2).sum()) / total if total > 0 else 1.0
