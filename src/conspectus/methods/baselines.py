"""The papers' baselines that are a well-known method under a wrapper."""

from __future__ import annotations

from typing import Any

from sklearn.cluster import KMeans

from conspectus.methods.wrappers import BestSingleView, Concatenated
from conspectus.registry import Composition


def _best_single_view(n_clusters: int = 8, *, n_init: int = 10, **wrapper: Any) -> BestSingleView:
    return BestSingleView(KMeans(n_clusters, n_init=n_init), **wrapper)


def _concatenated(n_clusters: int = 8, *, n_init: int = 10, **wrapper: Any) -> Concatenated:
    return Concatenated(KMeans(n_clusters, n_init=n_init), **wrapper)


BSV = Composition(
    "BSV",
    "BSV",
    _best_single_view,
    paper="Best single view: k-means on one mean-filled view; a baseline of most papers.",
)
ConcatKMeans = Composition(
    "ConcatKMeans",
    "Concat",
    _concatenated,
    paper="k-means on the mean-filled views side by side; a baseline of most papers.",
)
