"""The papers' baselines that are a well-known method under a wrapper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.cluster import KMeans

from conspectus.methods.factors.nmf import GNMF, NMF
from conspectus.methods.wrappers import BestSingleView, Concatenated
from conspectus.registry import Composition


def _best_single_view(n_clusters: int = 8, *, n_init: int = 10, **wrapper: Any) -> BestSingleView:
    return BestSingleView(KMeans(n_clusters, n_init=n_init), **wrapper)


def _concatenated(n_clusters: int = 8, *, n_init: int = 10, **wrapper: Any) -> Concatenated:
    return Concatenated(KMeans(n_clusters, n_init=n_init), **wrapper)


def _best_single_factors(method: type[NMF], n_clusters: int, parameters: dict[str, Any]) -> BestSingleView:
    wrapper, inner = _split(parameters)
    return BestSingleView(method(n_clusters, **inner), **{"select": "inertia", **wrapper})


def _concatenated_factors(method: type[NMF], n_clusters: int, parameters: dict[str, Any]) -> Concatenated:
    wrapper, inner = _split(parameters)
    return Concatenated(method(n_clusters, **inner), **{"prepare": "nonnegative+sum", **wrapper})


def _split(parameters: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters of the wrapper, and of the method that it wraps."""
    own = {"select", "fill", "prepare", "random_state"}
    return (
        {name: value for name, value in parameters.items() if name in own},
        {name: value for name, value in parameters.items() if name not in own},
    )


def _factors(name: str, label: str, build: Callable[..., Any], method: type[NMF], words: str) -> Composition:
    """A baseline of GPMVC's comparisons."""

    def built(n_clusters: int = 8, **parameters: Any) -> Any:
        return build(method, n_clusters, parameters)

    return Composition(
        name, label, built, paper=f"{method.paper} Here {words}.", bibtex=method.bibtex, cost=method.cost
    )


BestViewNMF = _factors("BestViewNMF", "BestView-NMF", _best_single_factors, NMF, "on one mean-filled view")
BestViewGNMF = _factors("BestViewGNMF", "BestView-GNMF", _best_single_factors, GNMF, "on one mean-filled view")
ConcatNMF = _factors("ConcatNMF", "Concat-NMF", _concatenated_factors, NMF, "on the mean-filled views side by side")
ConcatGNMF = _factors("ConcatGNMF", "Concat-GNMF", _concatenated_factors, GNMF, "on the mean-filled views side by side")

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
