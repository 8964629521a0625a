"""Data sets by name: the one that is shipped, the files of ``$CONSPECTUS_DATA``, and named parts of either."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from conspectus._typing import Bool, Int
from conspectus.datasets.dataset import Dataset
from conspectus.datasets.entries import ENTRIES, NOT_SHARED, Entry
from conspectus.datasets.files import arrays, read
from conspectus.errors import InputError

VARIABLE = "CONSPECTUS_DATA"
SHIPPED = Path(__file__).parent / "data"


def load_mfeat() -> Dataset:
    """The UCI Multiple Features digits, which come with the package: 2,000 samples, six views, ten classes.

    Returns
    -------
    Dataset
        Its views are ``fou`` (76 Fourier coefficients), ``fac`` (216 profile correlations), ``kar`` (64 Karhunen-Loève
        coefficients), ``pix`` (240 pixel averages), ``zer`` (47 Zernike moments) and ``mor`` (6 morphological
        features). By Robert P. W. Duin, CC BY 4.0.

    Examples
    --------
    >>> from conspectus.datasets import load_mfeat
    >>> load_mfeat().y[::200].tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    return read(SHIPPED / "mfeat.npz")


def load(name: str) -> Dataset:
    """A data set by name.

    Parameters
    ----------
    name : str
        A file ``name.npz`` of the folder that the environment variable ``CONSPECTUS_DATA`` names, or a named part of
        one (see `available`). ``"mfeat"`` is always there.

    Returns
    -------
    Dataset
    """
    entry = ENTRIES.get(name, Entry(name))
    path = _files().get(entry.file)
    if path is None:
        raise InputError(_unknown(name, entry))
    return entry.part(read(path), name)


def available() -> list[str]:
    """Names that `load` takes here and now.

    Returns
    -------
    list of str
        The shipped data set, the files of ``$CONSPECTUS_DATA``, and the named parts of these.
    """
    files = _files()
    return sorted({*files, *(name for name, entry in ENTRIES.items() if entry.file in files)})


def masks(name: str) -> dict[float, Bool]:
    """Presence masks that a data set's users have published, to run on exactly the same missing views.

    Parameters
    ----------
    name : str
        The data set; its masks are ``masks/name.npz`` in the folder ``$CONSPECTUS_DATA``.

    Returns
    -------
    dict of float to array of bool, shape (n, V)
        By the share of samples that have all views.
    """
    contents = arrays(_extra(f"{name}.npz", f"no masks are known for {name!r}"))
    return {float(key.removeprefix("per")): mask for key, mask in contents.items() if key.startswith("per")}


def folds(name: str) -> Int:
    """The random orders of the samples that GPMVC's authors used for their partial examples.

    Parameters
    ----------
    name : str
        A data set with such orders, or a part of its views.

    Returns
    -------
    array of int, shape (30, n)
        One order a row, for `conspectus.missing.partial_examples`.
    """
    file = ENTRIES.get(name, Entry(name)).file
    path = _files().get(file)
    contents = arrays(path) if path else {}
    if "folds_gpmvc" not in contents:
        contents = arrays(_extra(f"{file}_gpmvc_folds.npz", f"no orders are known for {name!r}"))
    return contents["folds_gpmvc"].astype(np.int64)


def _folder() -> Path | None:
    name = os.environ.get(VARIABLE)
    return Path(name).expanduser() if name else None


def _files() -> dict[str, Path]:
    """Data sets by file name; the folder's own mfeat goes before the shipped one."""
    folder = _folder()
    return {path.stem: path for where in (SHIPPED, folder) if where for path in sorted(where.glob("*.npz"))}


def _extra(file: str, complaint: str) -> Path:
    """A file beside the data sets, or an error that says where it is looked for."""
    folder = _folder()
    if folder is None or not (folder / "masks" / file).is_file():
        raise InputError(f"{complaint}: they are looked for in masks/{file} of the folder ${VARIABLE} ({_setting()})")
    return folder / "masks" / file


def _unknown(name: str, entry: Entry) -> str:
    known = f" ({NOT_SHARED[name]})" if name in NOT_SHARED else ""
    wanted = f"; it is a part of {entry.file}.npz" if name in ENTRIES else ""
    return (
        f"there is no data set {name!r}{known} here{wanted}: available are {', '.join(available())}; put "
        f"{entry.file}.npz, in the format of docs/datasets.md, into the folder ${VARIABLE} ({_setting()})"
    )


def _setting() -> str:
    return f"now {_folder()}" if _folder() else "not set now"
