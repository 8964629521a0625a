"""From a method's name and the options to a fitted model."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from conspectus.errors import InputError, did_you_mean

OPTIONS = {"n_clusters": "--clusters", "random_state": "--seed", "zero_rows": "--zero-rows"}
WORDS = {"true": True, "false": False, "none": None}


def build_model(
    method: str | None, clusters: int, seed: int, parameters: Mapping[str, Any], zero_rows: str | None = None
) -> tuple[str, Any]:
    """Return the method's name as the registry writes it, and the method with its parameters set."""
    from conspectus import registry

    wanted = method or registry.DEFAULT
    if ":" in wanted and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # where a person's own module is
    entry = registry.find(wanted)
    name = getattr(entry, "name", None) or entry.__name__
    model = entry(n_clusters=clusters)
    given = model.get_params()
    for parameter in parameters:
        _require_known(name, parameter, given)
    values = {key: text if key == "prepare" else _value(text) for key, text in parameters.items()}
    options = {"random_state": seed} | ({} if zero_rows is None else {"zero_rows": zero_rows})
    return name, model.set_params(**{key: value for key, value in options.items() if key in given}, **values)


def _require_known(method: str, parameter: str, given: Mapping[str, Any]) -> None:
    if parameter in OPTIONS:
        raise InputError(f"{parameter} is not set with --param: it comes from {OPTIONS[parameter]}")
    if parameter not in given:
        others = sorted(name for name in given if name not in OPTIONS and "__" not in name)
        raise InputError(
            f"{method} has no parameter '{parameter}', it has {', '.join(others)}{did_you_mean(parameter, given)}"
        )


def _value(text: str) -> Any:
    """A number, True, None or a list as Python writes it; any other word is itself."""
    if text.casefold() in WORDS:
        return WORDS[text.casefold()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def fit_watched(name: str, model: Any, views: Any, *, quiet: bool = False) -> Any:
    """Fit, and show how far it is, if somebody is there to see it."""
    if quiet or not sys.stderr.isatty():
        return model.fit(views)
    with _watch(model, f"{name}: {len(views):,} samples, {views.n_views} views"):
        return model.fit(views)


def _watch(model: Any, words: str) -> Any:
    if "verbose" in model.get_params():
        model.set_params(verbose=True)  # the loop draws its own bar
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(words)
