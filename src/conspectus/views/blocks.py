"""Rows out of any source, and the two ways in which the results of blocks are put together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

from conspectus._typing import Array, Int
from conspectus.numerics.backend import namespace


def take(source: Array, rows: Int) -> Array:
    """Return rows of a source; a stretch of neighbouring rows is a slice, which a file reads at once."""
    if len(rows) and rows[-1] - rows[0] == len(rows) - 1 and (len(rows) < 3 or bool((np.diff(rows) == 1).all())):
        return rows_of(source, slice(int(rows[0]), int(rows[-1]) + 1))
    if isinstance(source, np.ndarray) or sparse.issparse(source):
        return source[rows]
    xp = namespace(source)
    return xp.take(source, xp.asarray(rows, device=source.device), axis=0)


def rows_of(a: Array, part: slice) -> Array:
    """Return a stretch of rows; the array API wants every axis named."""
    return a[part] if sparse.issparse(a) else a[part, ...]


def stack(parts: Iterable[Any], n: int) -> Any:
    """Lay the rows that blocks returned under each other; tuples are stacked part by part."""
    rest = iter(parts)
    first = next(rest)
    if isinstance(first, tuple):
        kind = type(first)
        columns = [list(column) for column in zip(*chain([first], rest))]
        del first
        stacked = []
        while columns:  # each column's blocks are let go when it is whole
            stacked.append(stack(columns.pop(0), n))
        return kind(*stacked) if hasattr(kind, "_fields") else tuple(stacked)
    if sparse.issparse(first):
        return sparse.vstack([first, *rest], format="csr")
    if isinstance(first, np.ndarray):
        return _fill(first, rest, n)
    return namespace(first).concat([first, *rest])


def _fill(first: Array, rest: Iterator[Array], n: int) -> Array:
    """Stack NumPy rows into one allocation: the blocks are not held a second time."""
    if len(first) == n:
        return first
    whole = np.empty((n, *first.shape[1:]), dtype=first.dtype)
    start = 0
    for part in chain([first], rest):
        whole[start : start + len(part)] = part
        start += len(part)
    return whole


def add(total: Any, part: Any) -> Any:
    """Add the statistics of a block to the sum so far; dense ones in float64."""
    if isinstance(part, dict):
        return {key: add(None if total is None else total[key], value) for key, value in part.items()}
    if isinstance(part, (tuple, list)):
        sums = [add(None if total is None else total[i], value) for i, value in enumerate(part)]
        return type(part)(*sums) if hasattr(part, "_fields") else type(part)(sums)
    if not sparse.issparse(part):
        part = namespace(part).astype(part, namespace(part).float64) if hasattr(part, "shape") else float(part)
    return part if total is None else total + part
