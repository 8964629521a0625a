"""Name to module, and nothing else: listing the methods imports none of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from conspectus.errors import InputError, did_you_mean

DEFAULT = "AnchorConsensus"
"""The method that the command line uses unless told otherwise."""

METHODS: dict[str, str] = {
    "AnchorConsensus": "conspectus.methods.anchors.anchor_consensus",
    "APMC": "conspectus.methods.anchors.apmc",
    "FIMVCVIA": "conspectus.methods.anchors.fimvc_via",
    "EEIMVC": "conspectus.methods.kernels.ee_imvc",
    "EERIMVC": "conspectus.methods.kernels.ee_imvc",
    "GPMVC": "conspectus.methods.factors.gpmvc",
    "NMF": "conspectus.methods.factors.nmf",
    "GNMF": "conspectus.methods.factors.nmf",
    "ABS2IMC": "conspectus.methods.anchors.abs2_imc",
    "SIMVCSA": "conspectus.methods.anchors.simvc_sa",
    "SOMEAS": "conspectus.methods.anchors.some_as",
    "LFIMVC": "conspectus.methods.kernels.lf_imvc",
    "MKKM": "conspectus.methods.kernels.mkkm",
    "MKKMIK": "conspectus.methods.kernels.mkkm_ik",
    "MKKMIKMKC": "conspectus.methods.kernels.mkkm_ik_mkc",
    "AverageKernelKMeans": "conspectus.methods.kernels.average_kernel",
    "V3H": "conspectus.methods.graphs.v3h",
    "AWP": "conspectus.methods.graphs.awp",
    "NEMO": "conspectus.methods.graphs.nemo",
    "IMG": "conspectus.methods.graphs.img",
    "PVC": "conspectus.methods.factors.pvc",
    "DAIMC": "conspectus.methods.factors.daimc",
    "MIC": "conspectus.methods.factors.mic",
    "MultiNMF": "conspectus.methods.factors.multi_nmf",
    "AverageSC": "conspectus.methods.graphs.average_sc",
    "ConcatSC": "conspectus.methods.graphs.average_sc",
    "CentroidSC": "conspectus.methods.graphs.co_regularized",
    "PairwiseSC": "conspectus.methods.graphs.co_regularized",
    "BSV": "conspectus.methods.baselines",
    "ConcatKMeans": "conspectus.methods.baselines",
    "BestViewNMF": "conspectus.methods.baselines",
    "BestViewGNMF": "conspectus.methods.baselines",
    "ConcatNMF": "conspectus.methods.baselines",
    "ConcatGNMF": "conspectus.methods.baselines",
}

_own: dict[str, Any] = {}


@dataclass(frozen=True)
class Composition:
    """A method that is another one under a wrapper, with a name of its own.

    Attributes
    ----------
    name : str
        Its name in the registry.
    label : str
        What the papers call it.
    build : callable
        ``build(n_clusters, **parameters)`` returns the estimator.
    paper, cost : str
        As of a method.
    revision : int
        As of a method.
    """

    name: str
    label: str
    build: Callable[..., Any]
    paper: str = ""
    bibtex: str = ""
    cost: str = "O(n)"
    revision: int = 1

    @property
    def requires(self) -> Any:
        """What the composed method asks of the data."""
        return self.build(2).requires

    @property
    def has_map(self) -> bool:
        """Whether new samples are embedded by the method's own formula."""
        return bool(self.build(2).has_map)

    def __call__(self, n_clusters: int = 8, **parameters: Any) -> Any:
        return self.build(n_clusters, **parameters)


def names() -> list[str]:
    """Return the names of all methods."""
    return [*METHODS, *_own]


def get(name: str) -> Any:
    """Return the class or composition of that exact name."""
    return _own[name] if name in _own else getattr(import_module(METHODS[name]), name)


def all_methods() -> dict[str, Any]:
    """Return every method by name: classes and compositions, those that were registered included.

    Examples
    --------
    >>> import conspectus
    >>> "APMC" in conspectus.all_methods()
    True
    """
    return {name: get(name) for name in names()}


def register(method: Any) -> Any:
    """Add a method of one's own: the checks, the experiments and the command line then see it.

    Parameters
    ----------
    method : subclass of IncompleteClusterer, or Composition
        It is known by its name; usable as a decorator.
    """
    name = method.name if isinstance(method, Composition) else method.__name__
    if name in METHODS:
        raise InputError(f"{name} is the name of a method of the library: give yours another one")
    _own[name] = method
    return method


def find(name: str) -> Any:
    """Return a method by name in any case, or by ``module:Class``."""
    if ":" in name:
        return _outside(name)
    known = {key.lower(): key for key in names()}
    plain = name.lower().replace("-", "").replace("_", "")
    if plain not in known:
        meant = did_you_mean(plain, known.values())
        raise InputError(f"there is no method {name!r} (`conspectus methods` lists all){meant}")
    return get(known[plain])


def _outside(name: str) -> Any:
    """A class of the user's own, named as module:Class."""
    module, _, attribute = name.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise InputError(f"cannot import {name!r}: {error}") from error
