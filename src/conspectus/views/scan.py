"""Read each view once: which rows are blank, and that the rest are finite numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from conspectus._typing import Array, Bool, Int
from conspectus.errors import InputError
from conspectus.numerics.backend import namespace, to_numpy
from conspectus.views.blocks import take
from conspectus.views.containers import Source
from conspectus.views.say import sample_label, view_label

ROWS = 8192


def scan(v: int, source: Source, rows: Int, ids: Array, partial: str, masked: bool) -> tuple[Array, Int]:
    """Return the source and each sample's row after blank rows were taken out and half-blank ones were settled."""
    data = source.data
    if sparse.issparse(data):
        _refuse_nonfinite_sparse(v, source, rows, ids)
        return data, rows
    blank, torn = _nan_rows(v, source, rows, ids)
    if masked and blank.any():
        sample = sample_label(int(np.flatnonzero(blank)[0]), ids)
        raise InputError(f"{view_label(v, source.name)}: {sample} is seen by the mask, but its row is NaN: mask it out")
    rows = np.where(blank, -1, rows)
    if not torn.any():
        return data, rows
    if partial == "drop-row":
        return data, np.where(torn, -1, rows)
    if partial == "mean":
        return _mean_filled(v, source, rows)
    raise InputError(_torn_message(v, source, rows, ids, torn))


def _blocks(data: Array, rows: Int) -> Iterator[tuple[Int, Array]]:
    """The samples that have a row, a block at a time, with their rows."""
    samples = np.flatnonzero(rows >= 0)
    for start in range(0, len(samples), ROWS):
        part = samples[start : start + ROWS]
        yield part, take(data, rows[part])


def _nan_rows(v: int, source: Source, rows: Int, ids: Array) -> tuple[Bool, Bool]:
    """Which samples' rows are all NaN, and which only in part; an infinity is refused."""
    blank, torn = np.zeros(len(rows), dtype=bool), np.zeros(len(rows), dtype=bool)
    if source.data.dtype.kind in "iub" if isinstance(source.data, np.ndarray) else False:
        return blank, torn
    xp = namespace(source.data)
    for part, block in _blocks(source.data, rows):
        if not xp.isdtype(block.dtype, "real floating") or bool(xp.all(xp.isfinite(block))):
            continue
        nan = to_numpy(xp.isnan(block))
        blank[part] = nan.all(axis=1)
        torn[part] = nan.any(axis=1) & ~blank[part]
        infinite = np.flatnonzero(to_numpy(xp.any(xp.isinf(block), axis=1)))
        if len(infinite):
            raise InputError(
                f"{view_label(v, source.name)}: {sample_label(int(part[infinite[0]]), ids)} holds infinity (inf): "
                "put a number or NaN in its place"
            )
    return blank, torn


def _torn_message(v: int, source: Source, rows: Int, ids: Array, torn: Bool) -> str:
    """Say how many rows are partly NaN, and the ways out."""
    first = int(np.flatnonzero(torn)[0])
    nan = to_numpy(namespace(source.data).isnan(take(source.data, rows[[first]])))
    where = f"{view_label(v, source.name)}: {sample_label(first, ids)}"
    return (
        f"{where} is partly NaN ({int(nan.sum())} of {nan.size} entries; {int(torn.sum())} such rows): a row is seen "
        "whole or not at all; use partial='mean' to put in the columns' means, or partial='drop-row' to take these "
        "rows as unseen"
    )


def _mean_filled(v: int, source: Source, rows: Int) -> tuple[Array, Int]:
    """Put each column's mean over the rows that have it in the place of NaN, in a copy."""
    xp = namespace(source.data)
    samples = np.flatnonzero(rows >= 0)
    block = take(source.data, rows[samples])
    known = ~xp.isnan(block)
    counts = xp.sum(xp.astype(known, block.dtype), axis=0)
    empty = np.flatnonzero(to_numpy(counts == 0))
    if len(empty):
        name = source.columns[int(empty[0])] if source.columns else int(empty[0])
        raise InputError(f"{view_label(v, source.name)}: column {name!r} has no value in any seen row: drop it")
    zero = xp.zeros_like(block)
    mean = xp.sum(xp.where(known, block, zero), axis=0) / counts
    kept = np.full(len(rows), -1, dtype=np.int64)
    kept[samples] = np.arange(len(samples))
    return xp.where(known, block, mean), kept


def _refuse_nonfinite_sparse(v: int, source: Source, rows: Int, ids: Array) -> None:
    """A sparse view has a row for every sample it has seen, and every stored entry is a number."""
    for part, block in _blocks(source.data, rows):
        bad = np.flatnonzero(~np.isfinite(block.data))
        if len(bad):
            i = int(np.searchsorted(block.indptr, bad[0], side="right") - 1)
            raise InputError(
                f"{view_label(v, source.name)}: {sample_label(int(part[i]), ids)} holds NaN or inf in a sparse matrix: "
                "say which samples are unseen with mask=, or with ids= for each view"
            )


def scan_square(v: int, source: Source, rows: Int, ids: Array, masked: bool) -> Int:
    """Return each sample's row in a kernel; entries of unseen samples are never read."""
    if source.absent:
        return rows
    if not masked:
        seen = rows >= 0
        blank = to_numpy(namespace(source.data).all(namespace(source.data).isnan(source.data), axis=1))
        rows = np.where(seen & blank[np.where(seen, rows, 0)], -1, rows)
    if source.data.shape[0] == source.data.shape[1]:
        kept = np.flatnonzero(rows >= 0)
        block = to_numpy(take(source.data, rows[kept]))[:, rows[kept]]
        bad = np.flatnonzero(~np.isfinite(block).all(axis=1))
        if len(bad):
            raise InputError(
                f"{view_label(v, source.name)}: {sample_label(int(kept[bad[0]]), ids)} has NaN or inf beside a sample "
                "that the view has seen: give the whole row and column as NaN, or mask the sample out"
            )
        if not np.allclose(block, block.T, rtol=1e-6, atol=1e-9 * max(1.0, float(np.abs(block).max(initial=0.0)))):
            raise InputError(f"{view_label(v, source.name)} is not symmetric: a kernel or distance matrix must be")
    return rows
