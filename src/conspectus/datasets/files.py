"""One file, one data set: the ``.npz`` format of ``docs/datasets.md``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from conspectus._typing import Array, Int
from conspectus.datasets.dataset import Dataset
from conspectus.errors import InputError

Contents = Mapping[str, Array]


def read(path: str | Path) -> Dataset:
    """Read a data set from a file of the documented format.

    All numbers become float64, whatever small type the file holds them in, and all views are dense, counts of words as
    well. Rows of NaN (samples that a view has not seen) stay.

    Parameters
    ----------
    path : str or Path
        An ``.npz`` archive with the views ``X0, X1, ...`` (or the kernels ``K0, K1, ...``), and, if they are known, the
        classes ``y``, a presence ``mask`` and a JSON text ``meta``.

    Returns
    -------
    Dataset
    """
    path = Path(path)
    contents = arrays(path)
    try:
        return _dataset(path.stem, contents)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def arrays(path: Path) -> dict[str, Array]:
    """Everything in an archive; nothing is unpickled."""
    try:
        archive = np.load(path, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            raise ValueError("it is one array")
        with archive:
            return {name: archive[name] for name in archive.files}
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except (BadZipFile, ValueError, OSError, EOFError) as error:
        raise InputError(f"{path} is no .npz archive of plain arrays ({error}): write it with numpy.savez") from None


def _dataset(name: str, contents: Contents) -> Dataset:
    meta = _meta(contents)
    kernel, X = _views(contents, meta.get("views"))
    y, labels = _classes(contents.get("y"), meta.get("labels"))
    data = Dataset(
        name=name,
        X=X,
        y=y,
        mask=contents.get("mask"),
        kind="kernel" if kernel else meta.get("kind", "dense"),
        k=meta.get("k") if y is None else len(np.unique(y)),
        labels=labels,
        source=meta.get("source", ""),
        licence=meta.get("licence", ""),
    )
    return _checked(data)


def _meta(contents: Contents) -> dict[str, Any]:
    try:
        meta = json.loads(str(contents.get("meta", "{}")))
    except json.JSONDecodeError as error:
        raise InputError(f"meta is not JSON ({error})") from None
    if not isinstance(meta, dict):
        raise InputError("meta is not a JSON object: write {...}")
    return meta


def _views(contents: Contents, names: list[str] | None) -> tuple[bool, dict[str, Array]]:
    """Whether they are kernels, and the views in the order of their numbers."""
    found = {(m[1], int(m[2])): contents[m[0]] for key in contents if (m := re.fullmatch(r"([XK])(\d+)", key))}
    letters = {letter for letter, _ in found}
    if len(letters) != 1:
        raise InputError(f"views are called X0, X1, ... or kernels K0, K1, ...; the file holds {', '.join(contents)}")
    letter = letters.pop()
    V = len(found)
    if {number for _, number in found} != set(range(V)):
        raise InputError(f"the views are not numbered {letter}0 to {letter}{V - 1}")
    names = [f"view{v + 1}" for v in range(V)] if names is None else names
    if len(set(names)) != V or len(names) != V:
        raise InputError(f"meta names the views {', '.join(names)}, and there are {V}: give each its own name")
    return letter == "K", {name: _numbers(found[letter, v], f"{letter}{v}") for v, name in enumerate(names)}


def _numbers(x: Array, name: str) -> Array:
    if x.ndim != 2 or x.dtype.kind not in "biuf" or not x.size:
        raise InputError(f"{name} must be a non-empty table of real numbers, not {x.dtype} of shape {x.shape}")
    return x.astype(np.float64, copy=False)


def _classes(y: Array | None, labels: list[str] | None) -> tuple[Int | None, tuple[str, ...] | None]:
    """Classes as whole numbers, and their names."""
    if y is None or y.dtype.kind in "biu":
        return None if y is None else y.astype(np.int64), tuple(labels) if labels else None
    names, codes = np.unique(y, return_inverse=True)
    return codes.astype(np.int64), tuple(map(str, names))


def _checked(data: Dataset) -> Dataset:
    n, V = data.n, len(data.X)
    for name, x in data.X.items():
        if len(x) != n or (data.square and x.shape != (n, n)):
            expected = f"({n}, {n})" if data.square else f"{n} rows"
            raise InputError(f"view {name} is of shape {x.shape} and should have {expected}")
    if data.y is not None and data.y.shape != (n,):
        raise InputError(f"y is of shape {data.y.shape} for {n} samples")
    if data.mask is not None and (data.mask.shape != (n, V) or data.mask.dtype != np.bool_):
        raise InputError(
            f"the mask is {data.mask.dtype} of shape {data.mask.shape} and should be bool of shape ({n}, {V})"
        )
    return data
