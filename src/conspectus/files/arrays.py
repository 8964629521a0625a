"""Arrays in NPY and NPZ. Nothing is ever unpickled."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conspectus.errors import InputError
from conspectus.files.table import Table, id_text, stem_of


def read_npy(path: Path, id_name: str | None, transpose: bool) -> Iterator[Table]:
    import numpy as np

    _require_no_pickle(path)
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    yield Table(stem_of(path), array.T if transpose else array, path)


def _require_no_pickle(path: Path) -> None:
    with path.open("rb") as file:
        start = file.read(128)
    if start.startswith(b"\x80") or b"|O" in start:
        raise InputError(
            f"{path} holds pickled objects, which can run code when they are read: save an array of numbers instead"
        )
    if not start.startswith(b"\x93NUMPY"):
        raise InputError(f"{path} is not an NPY file: save it with numpy.save")


def read_npz(path: Path, id_name: str | None, transpose: bool) -> Iterator[Table]:
    import numpy as np

    if not zipfile.is_zipfile(path):
        raise InputError(f"{path} is not an NPZ file, or is cut short: save it with numpy.savez")
    with np.load(path, allow_pickle=False) as stored:
        if {"format", "shape", "data"} <= set(stored.files):
            from scipy import sparse

            views, ids = {stem_of(path): sparse.load_npz(path)}, None
        else:
            views, ids = _arrays(path, stored), _stored(path, stored, "ids") if "ids" in stored.files else None
    for name, array in views.items():
        yield Table(name, _indexed(path, name, array.T if transpose else array, ids), path)


def _arrays(path: Path, stored: Any) -> dict[str, Any]:
    """Return the views of an NPZ: X0, X1, ..., named as its ``meta`` says, or else every array but ``ids``."""
    numbered = sorted((name for name in stored.files if re.fullmatch(r"X\d+", name)), key=lambda name: int(name[1:]))
    chosen = numbered or [name for name in stored.files if name != "ids"]
    if not chosen:
        raise InputError(f"{path} holds no array: it needs one for each view")
    arrays = [_stored(path, stored, name) for name in chosen]
    flat = next((name for name, array in zip(chosen, arrays) if array.ndim != 2), None)
    if flat is not None:
        raise InputError(f"{path}: '{flat}' is not a table of samples × columns: save only the views, and 'ids'")
    names = _names_in_meta(path, stored) if numbered else chosen
    if len(arrays) == 1 and not numbered:
        names = [stem_of(path)]
    return dict(zip(names if len(names) == len(arrays) else chosen, arrays))


def _names_in_meta(path: Path, stored: Any) -> list[str]:
    if "meta" not in stored.files:
        return []
    try:
        return [str(name) for name in json.loads(str(_stored(path, stored, "meta")))["views"]]
    except (ValueError, KeyError, TypeError):
        return []


def _stored(path: Path, stored: Any, name: str) -> Any:
    try:
        return stored[name]
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        remedy = "text: numpy.array(ids, dtype=str)" if name == "ids" else "an array of numbers"
        raise InputError(
            f"{path}: '{name}' holds pickled objects, which can run code when they are read: save {remedy}"
        ) from None


def _indexed(path: Path, name: str, array: Any, ids: Any) -> Any:
    if ids is None:
        return array
    import pandas as pd

    if len(ids) != len(array):
        raise InputError(
            f"{path}: there are {len(ids)} ids for the {len(array)} rows of '{name}': save one id for each row"
        )
    texts = [value.decode() if isinstance(value, bytes) else id_text(value) for value in ids.tolist()]
    names = [f"{name}{j}" for j in range(array.shape[1])]
    return pd.DataFrame(array, index=pd.Index(texts, dtype=object, name="id"), columns=names)
