"""Filling unseen rows, for methods that know complete data only. A filling invents data: it is a baseline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from conspectus._typing import Array
from conspectus.errors import InputError
from conspectus.layout import Layout
from conspectus.numerics.backend import namespace
from conspectus.views.door import open_door
from conspectus.views.say import close
from conspectus.views.table import Views

Filler = Callable[[Views, int], Array]
"""Returns the rows of the samples that view v has not seen: one for each, or one for all."""


def _mean_rows(views: Views, v: int) -> Array:
    return views.statistics(v).mean[None, :]


def _zero_rows(views: Views, v: int) -> Array:
    return np.zeros((1, len(views.statistics(v).mean)))


FILLS: dict[str, Filler] = {"mean": _mean_rows, "zero": _zero_rows}


class FillViews(TransformerMixin, BaseEstimator):
    """Put rows in the place of those that a view has not seen, so that methods for complete data can be compared.

    Parameters
    ----------
    fill : {"mean", "zero"}
        "mean": the mean of the rows that the view has seen; "zero": zeros.

    Attributes
    ----------
    rows_ : list of arrays
        For each view, the row that new samples get where the view has not seen them.

    Examples
    --------
    >>> import numpy as np
    >>> from conspectus import FillViews
    >>> views = FillViews("mean").fit_transform([np.array([[1.0], [3.0], [np.nan]]), np.ones((3, 2))])
    >>> views.data(0).tolist()
    [[1.0], [3.0], [2.0]]
    """

    def __init__(self, fill: str = "mean") -> None:
        self.fill = fill

    def fit(self, X: Any, y: Any = None) -> FillViews:
        """Compute the rows that fill each view."""
        views = open_door(X)
        if self.fill not in FILLS:
            raise InputError(f"fill={self.fill!r} is not known{close(self.fill, FILLS)}; there are {', '.join(FILLS)}")
        self.layout_ = Layout.of(views)
        self.rows_ = [FILLS[self.fill](views, v) for v in range(views.n_views)]
        return self

    def transform(self, X: Any) -> Views:
        """Return the samples of `X` with every view complete."""
        check_is_fitted(self)
        return filled(self.layout_.match(open_door(X)), self.rows_)


def filled(views: Views, rows: list[Array]) -> Views:
    """Return complete views: the unseen samples of view v get the rows ``rows[v]``, in order, or its only row."""
    sources, where = [], np.empty_like(views.where)
    for v in range(views.n_views):
        data, missing = views.data(v), views.missing(v)
        sources.append(_under(data, rows[v]))
        where[views.observed(v), v] = np.arange(data.shape[0])
        where[missing, v] = data.shape[0] + (np.arange(len(missing)) if len(rows[v]) > 1 else 0)
    return replace(views, sources=tuple(sources), where=where, steps=((),) * views.n_views)


def _under(data: Array, rows: Array) -> Array:
    """Lay rows under the data, in their kind and precision."""
    if sparse.issparse(data):
        return sparse.vstack([data, sparse.csr_array(rows.astype(data.dtype))], format="csr")
    xp = namespace(data)
    device = {} if isinstance(data, np.ndarray) else {"device": data.device}
    return xp.concat([data, xp.asarray(rows, dtype=data.dtype, **device)])
