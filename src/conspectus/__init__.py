"""Clustering of samples described by several views, none of which has seen every sample.

Every public name is imported when it is first used, so that ``import conspectus`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from conspectus.registry import METHODS, all_methods, register

__version__ = "0.1.0.dev0"

_PUBLIC = {
    "BestSingleView": "conspectus.methods.wrappers",
    "Checkpoint": "conspectus.loop",
    "Concatenated": "conspectus.methods.wrappers",
    "DataWarning": "conspectus.errors",
    "Embedding": "conspectus.base",
    "FillViews": "conspectus.fill",
    "Filled": "conspectus.methods.wrappers",
    "IncompleteClusterer": "conspectus.base",
    "InputError": "conspectus.errors",
    "InputTypeError": "conspectus.errors",
    "IterativeClusterer": "conspectus.base",
    "PrepareViews": "conspectus.prepare",
    "Requires": "conspectus.requires",
    "Trace": "conspectus.loop",
    "Views": "conspectus.views",
    "as_views": "conspectus.views",
    **METHODS,
}

_MODULES = ("base", "bench", "datasets", "loop", "metrics", "missing", "numerics", "prepare", "registry", "reporting")

__all__ = [*sorted(_PUBLIC), *_MODULES, "__version__", "all_methods", "register"]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(import_module(_PUBLIC[name]), name)
    elif name in _MODULES or name == "views":
        value = import_module(f"conspectus.{name}")
    else:
        raise AttributeError(f"module 'conspectus' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
