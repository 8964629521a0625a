"""Which array library, and whether numba: looked up, never imported before it is needed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import array_api_compat
import array_api_compat.numpy
import numpy as np
from scipy.sparse import csr_array, issparse

from .._typing import Array

BLOCK = 512
"""Rows of a distance block: small enough that block and anchors stay in the cache."""

COMPILED_FROM = 8192
"""Rows from which on compiled code pays; the size of a full block of views."""


def namespace(*arrays: Array) -> Any:
    """Find the array API namespace of the arrays; NumPy's for lists, scalars and SciPy's sparse matrices."""
    known = [a for a in arrays if array_api_compat.is_array_api_obj(a) and not issparse(a)]
    return array_api_compat.array_namespace(*known) if known else array_api_compat.numpy


def is_numpy(*arrays: Array) -> bool:
    """Tell whether all arrays are NumPy's, so that code written for NumPy may take over."""
    return all(array_api_compat.is_numpy_array(a) for a in arrays)


def to_numpy(a: Array) -> Any:
    """Copy an array of any library (and any device) into NumPy; a NumPy array is returned as it is."""
    if issparse(a):
        return a.toarray()
    if is_numpy(a) or not array_api_compat.is_array_api_obj(a):
        return np.asarray(a)
    if array_api_compat.is_torch_array(a) or array_api_compat.is_cupy_array(a):
        a = array_api_compat.to_device(a, "cpu")
    return np.asarray(a)


def as_float(a: Array) -> Array:
    """Return ``a`` in floating point: float32 and float64 are kept, everything else becomes float64.

    Lists become NumPy arrays, sparse matrices ``csr_array``; integers are converted, never wrapped around.
    """
    if issparse(a):
        a = csr_array(a)
        return a if a.dtype in (np.float32, np.float64) else a.astype(np.float64)
    xp = namespace(a)
    a = a if array_api_compat.is_array_api_obj(a) else np.asarray(a)
    return a if a.dtype in (xp.float32, xp.float64) else xp.astype(a, xp.float64)


def like(x: Array, other: Array) -> Array:
    """Bring numbers to the array library, the device and the precision of ``other`` (NumPy, if that is sparse)."""
    if issparse(other) or is_numpy(other):
        return to_numpy(x).astype(other.dtype, copy=False)
    return namespace(other).asarray(x, dtype=other.dtype, device=other.device)


def row_blocks(n: int, size: int = BLOCK) -> Iterator[slice]:
    """Cut ``n`` rows into consecutive slices of ``size`` rows."""
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


@cache
def _installed(module: str) -> bool:
    return find_spec(module) is not None


def has_numba(rows: float = np.inf) -> bool:
    """Tell whether compiled code may be used on so many rows.

    The environment variable ``CONSPECTUS_NUMBA`` set to 0 turns it off, set to 1 turns it on for any number of rows.
    Otherwise small data stay in NumPy, because importing numba alone takes half a second. The rule depends on the
    data only, so that the same data give the same bits whatever ran before.
    """
    switch = os.environ.get("CONSPECTUS_NUMBA", "")
    return switch != "0" and (switch == "1" or rows >= COMPILED_FROM) and _installed("numba")


def load_compiled(rows: float) -> None:
    """Load the compiled code for data of so many rows, of which each call will see a block only."""
    if has_numba(rows):
        import_module(f"{__package__}._compiled")
