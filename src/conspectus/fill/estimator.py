"""Filling unseen rows, for methods that know complete data only. A filling invents data: it is a baseline."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from conspectus._typing import Array
from conspectus.errors import InputError
from conspectus.fill.fillers import Learn, mean_rows, nearest_rows, zero_rows
from conspectus.fill.low_rank import completed, without_outliers
from conspectus.layout import Layout
from conspectus.numerics.backend import namespace
from conspectus.views.door import open_door
from conspectus.views.say import close
from conspectus.views.table import Views

FILLS: dict[str, Learn] = {
    "mean": mean_rows,
    "zero": zero_rows,
    "knn": nearest_rows,
    "alm_mc": completed,
    "alm_rpca": without_outliers,
}


class FillViews(TransformerMixin, BaseEstimator):
    """Put rows in the place of those that a view has not seen, so that methods for complete data can be compared.

    Parameters
    ----------
    fill : {"mean", "zero", "knn", "alm_mc", "alm_rpca"}
        "mean": the mean of the rows that the view has seen. "zero": zeros. "knn": the mean over the nearest samples
        that the view has seen, compared by the views that saw both. "alm_mc": low-rank completion of all views side by
        side, with the least nuclear norm that agrees with the entries seen (Lin, Chen, Ma 2010). "alm_rpca": means
        first, then the low-rank part of the incomplete samples by robust PCA, as in released code that is said to
        complete.
    n_neighbors : int
        Of "knn".

    Attributes
    ----------
    filler_ : callable
        ``filler_(views, v)`` returns the rows of the samples that view v has not seen.

    Examples
    --------
    >>> import numpy as np
    >>> from conspectus import FillViews
    >>> views = FillViews("mean").fit_transform([np.array([[1.0], [3.0], [np.nan]]), np.ones((3, 2))])
    >>> views.data(0).tolist()
    [[1.0], [3.0], [2.0]]
    """

    def __init__(self, fill: str = "mean", *, n_neighbors: int = 5) -> None:
        self.fill = fill
        self.n_neighbors = n_neighbors

    def fit(self, X: Any, y: Any = None) -> FillViews:
        """Learn from the samples of `X` what unseen rows are filled with."""
        self._learn(open_door(X))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Views:
        """Return the samples of `X` with every view complete.

        Of "alm_mc" and "alm_rpca" these are the rows of the low-rank matrix itself; `transform` takes every sample for
        a new one, whose rows follow from that matrix and what was seen of the sample.
        """
        views = open_door(X)
        own = self._learn(views)
        return self.transform(views) if own is None else filled(views, own)

    def transform(self, X: Any) -> Views:
        """Return the samples of `X` with every view complete."""
        check_is_fitted(self)
        views = self.layout_.match(open_door(X))
        return filled(views, [self.filler_(views, v) for v in range(views.n_views)])

    def _learn(self, views: Views) -> list[Array] | None:
        if self.fill not in FILLS:
            raise InputError(f"fill={self.fill!r} is not known{close(self.fill, FILLS)}; there are {', '.join(FILLS)}")
        self.layout_ = Layout.of(views)
        self.filler_, own = FILLS[self.fill](views, self.n_neighbors)
        return own


def complete(views: Views, fill: Any) -> tuple[FillViews, Views]:
    """Fill views as a method's parameter `fill` asks, a name or a `FillViews`; return what fills new samples, too."""
    filler = clone(fill) if isinstance(fill, FillViews) else FillViews(fill)
    return filler, filler.fit_transform(views)


def filled(views: Views, rows: list[Array]) -> Views:
    """Return complete views: the unseen samples of view v get the rows ``rows[v]``, in order, or its only row."""
    sources, where = [], np.empty_like(views.where)
    for v in range(views.n_views):
        data, missing = views.data(v), views.missing(v)
        sources.append(_under(data, rows[v]))
        where[views.observed(v), v] = np.arange(data.shape[0])
        where[missing, v] = data.shape[0] + (np.arange(len(missing)) if rows[v].shape[0] > 1 else 0)
    return replace(views, sources=tuple(sources), where=where, steps=((),) * views.n_views)


def _under(data: Array, rows: Array) -> Array:
    """Lay rows under the data, in their kind and precision."""
    if sparse.issparse(data):
        return sparse.vstack([data, sparse.csr_array(rows.astype(data.dtype))], format="csr")
    xp = namespace(data)
    device = {} if isinstance(data, np.ndarray) else {"device": data.device}
    return xp.concat([data, xp.asarray(rows, dtype=data.dtype, **device)])
