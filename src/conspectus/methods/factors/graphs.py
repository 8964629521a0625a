"""The graph on the rows of each view: nearest neighbours, or given by the user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from conspectus.errors import InputError
from conspectus.numerics.graphs import knn_graph
from conspectus.views.say import view_label
from conspectus.views.table import Views

KINDS = {"binary", "heat", "cosine"}


def graph_of(views: Views, v: int, X: Any, graph: str | Sequence[Any], n_neighbors: int) -> sparse.csr_array:
    """Return W on the rows `X` that view v has seen; of a given graph on all samples, their block."""
    if isinstance(graph, str):
        return knn_graph(X, n_neighbors, graph)  # type: ignore[arg-type]
    if len(graph) != views.n_views:
        raise InputError(f"graph has {len(graph)} matrices for {views.n_views} views: give one a view")
    given, label = sparse.csr_array(graph[v]).astype(np.float64), view_label(v, views.names[v])
    if given.shape != (len(views), len(views)):
        raise InputError(f"graph of {label} has shape {given.shape}: it must have a row and a column for each sample")
    rows = views.observed(v)
    W = sparse.csr_array(given[rows][:, rows])
    if W.nnz and (W.data.min() < 0 or abs(W - W.T).max() > 1e-9 * abs(W).max()):
        raise InputError(f"graph of {label} must be symmetric and nonnegative: use (W + W.T) / 2 of its absolute value")
    return W


def per_view(value: float | Sequence[float], n_views: int, name: str) -> list[float]:
    """Return a nonnegative number for each view."""
    values = [float(value)] * n_views if np.isscalar(value) else [float(x) for x in value]  # type: ignore[arg-type,union-attr]
    if len(values) != n_views or min(values) < 0:
        raise InputError(f"{name}={value!r} must be a nonnegative number, or one for each of the {n_views} views")
    return values
