"""From a data set's name to the problem that a method is given, and to the labels that score it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from conspectus import datasets
from conspectus import missing as protocols
from conspectus._typing import Array, Bool, Float, Int
from conspectus.bench.grid import Data, Missing, Params
from conspectus.datasets import Dataset
from conspectus.errors import InputError

NEED_CLASSES = ("absent_views", "not_at_random")


@dataclass(frozen=True)
class Problem:
    """What a method is given (`views`, `k`) and what only the scores may use (`y`)."""

    views: Any
    y: Int
    k: int
    unseen: list[int]


def problem(data: Data, missing: Missing, ratio: float | None, seed: int | None) -> Problem:
    """Read the data, remove views by the protocol, and go through the library's door."""
    from conspectus.views import as_views

    whole, rows = read(data)
    if whole.y is None:
        raise InputError(f"{data.name} has no classes: an experiment needs y to score a clustering")
    seen = whole.presence & presence(data, whole, rows, missing, ratio, seed)
    X = kernels(whole, data.kernel) if data.kernel else whole.X
    views = as_views(X, mask=seen, square=whole.square or bool(data.kernel))
    return Problem(views, whole.y, len(np.unique(whole.y)), (~seen).sum(axis=0).tolist())


def there(data: Data) -> bool:
    """Whether the data set can be had here."""
    return _is_file(data.name) or _is_generator(data.name) or data.name in datasets.available()


def had(data: Data) -> Data | None:
    """The data set, or what stands in for it, or None."""
    if there(data) or not data.stand_in:
        return data if there(data) else None
    label, printed = f"{data.title} ({data.stand_in})", data.printed or data.title
    return replace(data, name=data.stand_in, label=label, printed=printed, stand_in="", instead_of=data.title)


def own(path: str | Path) -> Data:
    """A file of one's own as a data set; its content is part of the task."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    return Data(str(path.resolve()), label=path.stem, params={"digest": sha256(path.read_bytes()).hexdigest()[:16]})


def read(data: Data) -> tuple[Dataset, Int]:
    """The data set, and which samples of the stored one it holds."""
    whole = _stored(data)
    rows = _drawn(whole.n, data.sample)
    return (whole if len(rows) == whole.n else whole.subset(rows=rows)), rows


def kernels(data: Dataset, kind: str) -> dict[str, Float]:
    """Kernels of complete views, centred and normalised before anything is removed, as EE-IMVC's released code does.

    That lets what is removed later leak into what is kept, and so it is here and in no method: the paper's numbers
    can only be met with the paper's protocol. ``"gaussian"`` is exp(-d^2 / mean(d)^2).
    """
    from conspectus.numerics.kernels import (
        centre_kernel,
        gaussian_kernel,
        linear_kernel,
        mean_pairwise_distance,
        normalise_kernel,
    )

    def made(X: Array) -> Float:
        if kind == "linear":
            return linear_kernel(X)
        return gaussian_kernel(X, width=mean_pairwise_distance(X) / np.sqrt(2))

    if data.square:
        return {name: normalise_kernel(centre_kernel(np.asarray(K))) for name, K in data.X.items()}
    return {name: normalise_kernel(centre_kernel(made(X))) for name, X in data.X.items()}


def presence(data: Data, whole: Dataset, rows: Int, missing: Missing, ratio: float | None, seed: int | None) -> Bool:
    """Which sample keeps which view under the protocol."""
    n, V = whole.presence.shape
    if missing.protocol == "own":
        return np.ones((n, V), dtype=bool)
    if missing.protocol in STORED:
        return STORED[missing.protocol](data.name, rows, V, float(ratio or 0.0), int(seed or 0), missing.params)
    protocol: Callable[..., Bool] | None = getattr(protocols, missing.protocol, None)
    if protocol is None:
        raise InputError(f"there is no protocol {missing.protocol!r} in conspectus.missing")
    classes = {"y": whole.y} if missing.protocol in NEED_CLASSES else {}
    return protocol(n, V, ratio, seed, **classes, **missing.params)


def _folds(name: str, rows: Int, V: int, ratio: float, seed: int, params: Params) -> Bool:
    """GPMVC's protocol on the orders that its authors stored with the data; `seed` is the number of the order."""
    order = datasets.folds(name)[seed]
    kept = np.searchsorted(rows, order[np.isin(order, rows)])
    return protocols.partial_examples(len(rows), V, ratio, fold=kept, **params)


def _published(name: str, rows: Int, V: int, ratio: float, seed: int, params: Params) -> Bool:
    """The masks that SIMVC-SA's authors stored, one a ratio, which is the share of samples that have all views."""
    return np.asarray(datasets.masks(name)[ratio][rows])


STORED: dict[str, Callable[[str, Int, int, float, int, Params], Bool]] = {"folds": _folds, "published": _published}
"""Protocols whose draws are files beside the data."""


def _stored(data: Data) -> Dataset:
    if _is_generator(data.name):
        made: Dataset = getattr(datasets, data.name)(**data.params)
        return made
    return datasets.read(data.name) if _is_file(data.name) else datasets.load(data.name)


def _drawn(n: int, sample: int | None) -> Int:
    """All samples, or so many of them, the same ones at every call."""
    if sample is None or n <= sample:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, sample, replace=False))


def _is_file(name: str) -> bool:
    return name.endswith(".npz")


def _is_generator(name: str) -> bool:
    return name.startswith("make_") and hasattr(datasets, name)
