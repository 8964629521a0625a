"""From a name in a grid to a method, and to the revision that its results are stored under."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from typing import Any

from conspectus.bench.grid import EVERYTHING, Grid, Method, Params
from conspectus.registry import find as find_registered
from conspectus.registry import names


@cache
def find(name: str) -> Callable[..., Any]:
    """The class or composition of a registry name or of ``module:Class``."""
    found: Callable[..., Any] = find_registered(name)
    return found


def known(name: str) -> bool:
    """Whether the method is there (yet), and the library that it needs."""
    if ":" not in name:
        return name in names()
    needs = getattr(find(name), "needs", None)
    return needs is None or find_spec(needs) is not None


def build(method: Method, n_clusters: int, seed: int) -> Any:
    """The estimator of a task."""
    model = find(method.name)(n_clusters, random_state=seed, **method.params)
    if not method.filled:
        return model
    from conspectus.methods.wrappers import Filled

    return Filled(model, fill=method.filled, random_state=seed)


@cache
def revision(name: str) -> str:
    """The method's `revision`, a composition's with those of its parts; else a digest of the class's source text."""
    factory = find(name)
    stated = getattr(factory, "revision", None)
    if stated is None:
        return _digest(factory)
    parts = _parts(factory(2)) if hasattr(factory, "build") else []
    return ".".join(map(str, [stated, *parts]))


def _parts(model: Any) -> list[Any]:
    """The revisions of what a composition is made of, from the outside in."""
    inner = getattr(model, "estimator", None)
    return [getattr(model, "revision", ""), *([] if inner is None else _parts(inner))]


def complete(grid: Grid) -> tuple[Grid, tuple[str, ...]]:
    """Put the whole registry for ``"*"`` and the common parameters where they are taken; name what is not there yet."""
    methods = _expanded(grid.methods)
    there = tuple(_with(method, grid.common) for method in methods if known(method.name))
    absent = dict.fromkeys(_called(method) for method in methods if not known(method.name))
    return replace(grid, methods=there, common={}), tuple(absent)


def _called(method: Method) -> str:
    return method.title if ":" in method.name else method.name


def _expanded(methods: tuple[Method, ...]) -> tuple[Method, ...]:
    if all(method.name != EVERYTHING for method in methods):
        return methods
    named = tuple(method for method in methods if method.name != EVERYTHING)
    return named + tuple(Method(name) for name in sorted(set(names()) - {method.name for method in named}))


def _with(method: Method, common: Params) -> Method:
    if method.own_defaults:
        return method
    taken = {name: value for name, value in common.items() if _takes(method.name, name, value)}
    return replace(method, params={**taken, **method.params})


def _takes(name: str, parameter: str, value: Any) -> bool:
    """Whether a method can be made with that parameter; compositions hand some of theirs on, so that one has to try."""
    try:
        find(name)(2, **{parameter: value})
    except TypeError:
        return False
    return True


def _digest(factory: Callable[..., Any]) -> str:
    try:
        text = inspect.getsource(inspect.getmodule(factory) or factory)
    except (OSError, TypeError):
        return "unknown"
    return hashlib.sha256(text.encode()).hexdigest()[:12]
