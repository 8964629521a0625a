"""The door: what users have becomes `Views`, checked once and never again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from conspectus._typing import Array, Bool, Int
from conspectus.errors import InputError, InputTypeError
from conspectus.views.containers import Source, is_many, sources_of
from conspectus.views.join import align
from conspectus.views.say import sample_label, some, view_label
from conspectus.views.scan import scan, scan_square
from conspectus.views.table import Views

PARTIAL = ("raise", "mean", "drop-row")
ZERO_ROWS = ("keep", "unseen")


def as_views(
    X: Any,
    mask: Any = None,
    *,
    ids: Any = None,
    names: Sequence[str] | None = None,
    on: Any = None,
    partial: str = "raise",
    zero_rows: str = "keep",
    square: bool = False,
) -> Views:
    """Bring incomplete multi-view data into the one form that every method reads.

    Data of several views come as matrices with blank rows, as tables that list different samples, or as matrices and
    a mask. All of them say the same thing: which sample has a row in which view, and where that row is.

    Parameters
    ----------
    X : list, tuple or dict of 2-D arrays, frames or sparse matrices; Views; or one 2-D array
        The views. In arrays, a row of NaN is a sample that the view has not seen; None is a view that has seen
        nothing. DataFrames (pandas, polars, Arrow) are joined by their index or by a key column: the samples are the
        union of the ids, in order of first appearance. One plain 2-D array is one view.
    mask : array of bool, shape (n_samples, n_views), optional
        Whether each view has seen each sample. The content of other rows is never read.
    ids : sequence, or one sequence a view, optional
        The names of the samples. One sequence for each view joins arrays and sparse matrices as frames are joined.
    names : sequence of str, optional
        The names of the views; by default the keys of a dict, else view0, view1, ...
    on : str or one str a view, optional
        The key column of frames.
    partial : {"raise", "mean", "drop-row"}
        What to do with a row of which only some entries are NaN: refuse, put in the column's mean over the rows that
        have it, or take the sample as not seen by the view.
    zero_rows : {"keep", "unseen"}
        Whether an all-zero row of a dense view with at least 10 columns, of a sample that has a non-zero row in
        another view, is data or stands for "not seen".
    square : bool
        The views are kernels or distances, indexed by samples on both axes (for new samples: new by training).

    Returns
    -------
    Views

    Raises
    ------
    InputError, InputTypeError
        With the view, the sample and the remedy.

    Examples
    --------
    >>> import numpy as np
    >>> from conspectus import as_views
    >>> gene = np.array([[1.0, 2.0], [np.nan, np.nan], [3.0, 1.0]])
    >>> image = np.array([[0.5], [0.1], [np.nan]])
    >>> views = as_views({"gene": gene, "image": image})
    >>> views.seen.tolist()
    [[True, True], [False, True], [True, False]]
    """
    views = open_door(X, mask, ids=ids, names=names, on=on, partial=partial, zero_rows=zero_rows, square=square)
    require_seen(views)
    return views


def open_door(
    X: Any,
    mask: Any = None,
    *,
    ids: Any = None,
    names: Sequence[str] | None = None,
    on: Any = None,
    partial: str = "raise",
    zero_rows: str = "keep",
    square: bool = False,
) -> Views:
    """Do what `as_views` does, but let samples pass that no view has seen: predict answers them with -1."""
    _one_of("partial", partial, PARTIAL)
    _one_of("zero_rows", zero_rows, ZERO_ROWS)
    if isinstance(X, Views):
        if not (mask is None and ids is None and names is None and on is None):
            raise InputError("X is Views already: mask, ids, names and on go to as_views when they are made")
        return unseen_zero_rows(X) if zero_rows == "unseen" else X
    if isinstance(X, (list, tuple, dict)) and not len(X):
        raise InputError("X holds no views: give at least one matrix or table")
    found = sources_of(X if is_many(X) else [X], names, on, ids)
    columns = tuple(source.columns for source in found)
    labels = tuple(source.name for source in found)
    table, sample_ids = align(found, ids)
    presence = None if mask is None else _mask(mask, table)
    data, where = [], np.full(table.shape, -1, dtype=np.int64)
    for v, source in enumerate(found):
        rows = table[:, v] if presence is None else np.where(presence[:, v], table[:, v], -1)
        data.append(source.data)
        where[:, v] = rows
        if square:
            where[:, v] = scan_square(v, source, rows, sample_ids, masked=presence is not None)
        else:
            data[v], where[:, v] = scan(v, source, rows, sample_ids, partial, masked=presence is not None)
    frame = next((source.frame for source in found if source.frame), None)
    cols = _square_columns(found, where) if square else None
    views = Views(tuple(data), where, sample_ids, labels, columns, ((),) * len(found), cols=cols, frame=frame)
    return unseen_zero_rows(views) if zero_rows == "unseen" else views


def require_seen(views: Views) -> None:
    """Refuse samples that no view has seen."""
    lost = np.flatnonzero(~views.seen.any(axis=1))
    if len(lost):
        raise InputError(
            f"{sample_label(int(lost[0]), views.ids)} is seen in no view"
            + (f" ({len(lost)} such samples)" if len(lost) > 1 else "")
            + ": there is nothing to cluster it by; leave it out"
        )


def require_rows(views: Views) -> None:
    """Refuse views that have seen nothing."""
    for v, name in enumerate(views.names):
        if not views.seen[:, v].any():
            raise InputError(f"{view_label(v, name)} has no rows: leave the view out")


def zero_row_counts(views: Views) -> tuple[Bool, Int]:
    """Return which rows stand for an absent sample by the rule of all-zero rows, and how many each view has.

    An all-zero row of a dense view counts when the view has at least 10 columns and the sample has a non-zero row in
    another view; a sample whose rows are all zero keeps them.
    """
    if views.square:
        return np.zeros(views.seen.shape, dtype=bool), np.zeros(views.n_views, dtype=np.int64)
    zero = views.map(_zero_entries)
    nonzero_elsewhere = (views.seen & ~zero).any(axis=1)
    wide = np.array([width >= 10 for width in views.widths])
    absent = zero & nonzero_elsewhere[:, None] & wide
    return absent, absent.sum(axis=0)


def unseen_zero_rows(views: Views) -> Views:
    """Take the rows that `zero_row_counts` finds as not seen."""
    from dataclasses import replace

    absent, counts = zero_row_counts(views)
    return replace(views, where=np.where(absent, -1, views.where)) if counts.any() else views


def _zero_entries(block: Views) -> Bool:
    """Which samples have a row of zeros, in each view."""
    return np.stack([block.scatter(v, _zero_rows(block.data(v))) for v in range(block.n_views)], axis=1)


def _zero_rows(block: Array) -> Bool:
    """Which rows of a block hold nothing but zeros."""
    if sparse.issparse(block):
        return np.asarray(abs(block).sum(axis=1)).reshape(-1) == 0
    from conspectus.numerics.backend import namespace, to_numpy

    return np.asarray(to_numpy(namespace(block).all(block == 0, axis=1)), dtype=bool)


def _mask(mask: Any, table: Int) -> Bool:
    """Check a presence mask against the samples and views."""
    presence = np.asarray(mask)
    if presence.shape != table.shape:
        raise InputError(
            f"mask has shape {presence.shape}, but there are {table.shape[0]} samples and {table.shape[1]} views: "
            "give one row a sample and one column a view, True where the view has seen the sample"
        )
    if presence.dtype != bool:
        if presence.dtype.kind not in "iuf" or not np.isin(presence, (0, 1)).all():
            raise InputTypeError(f"mask holds {presence.dtype}, not booleans: give True where the view saw the sample")
        presence = presence.astype(bool)
    return presence & (table >= 0)


def _square_columns(found: Sequence[Source], where: Int) -> Int:
    """The columns that belong to the training samples: the rows' own, or all of a block of new samples."""
    if all(source.data.shape[0] == source.data.shape[1] for source in found if source.data.shape[0]):
        return where.copy()
    widths = {int(source.data.shape[1]) for source in found if source.data.shape[0]}
    if len(widths) > 1:
        raise InputError(
            f"kernels of new samples must have one column a training sample, but the views have {some(sorted(widths))}"
        )
    return np.repeat(np.arange(widths.pop())[:, None], len(found), axis=1)


def _one_of(name: str, value: Any, allowed: Sequence[str]) -> None:
    """Refuse a word that an option does not know."""
    if value not in allowed:
        raise InputError(f"{name}={value!r} is not known: choose from {', '.join(map(repr, allowed))}")
