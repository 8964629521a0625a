"""A look at the data before any clustering: what is missing where, what is odd, what preparation would do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from conspectus._typing import Array
from conspectus.errors import InputError
from conspectus.numerics.backend import to_numpy
from conspectus.prepare import PrepareViews
from conspectus.views.door import open_door, zero_row_counts
from conspectus.views.findings import findings
from conspectus.views.say import some
from conspectus.views.table import Views


@dataclass(frozen=True)
class Fault:
    """Something that keeps a table from being clustered as it is.

    Attributes
    ----------
    view : str
        The table.
    kind : str
        What it is, in two words.
    text : str
        Where it is, and what to do.
    """

    view: str
    kind: str
    text: str


def inspect(views: Views) -> Any:
    """Return a frame that says of each view what a person should know before clustering.

    Parameters
    ----------
    views : Views

    Returns
    -------
    pandas.DataFrame
        One row a view: columns, seen and missing samples, all-zero rows (and how many of them stand for an absent
        sample), constant columns, repeated rows, least, typical (median column spread) and greatest size of the
        entries, remarks, and what ``prepare="auto"`` would do and why.
    """
    import pandas as pd

    remarks = findings(views)
    notes = {} if views.square else PrepareViews("auto").fit(views).notes_
    absent = zero_row_counts(views)[1]
    rows = []
    for v, name in enumerate(views.names):
        row: dict[str, Any] = {"columns": views.widths[v]}
        row |= {"seen": len(views.observed(v)), "missing": len(views.missing(v))}
        if not views.square:
            row |= _sizes(views, v) | {"absent_rows": int(absent[v])}
        row["remarks"] = "; ".join(finding.text for finding in remarks if finding.view == v)
        row["auto"] = notes.get(name, "kernels are taken as they are")
        rows.append(row)
    return pd.DataFrame(rows, index=pd.Index(views.names, name="view"))


def _sizes(views: Views, v: int) -> dict[str, Any]:
    """What the numbers of a view look like."""
    facts = views.statistics(v)
    return {
        "zero_rows": facts.zero_rows,
        "constant_columns": int(facts.constant.sum()),
        "repeated_rows": repeated_rows(views.data(v)),
        "least": float(facts.low.min()),
        "spread": float(np.median(facts.sd)),
        "greatest": float(facts.high.max()),
    }


def repeated_rows(X: Array) -> int:
    """Return how many rows are equal to an earlier one."""
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        X.sum_duplicates()
        X.eliminate_zeros()
        cut = [slice(a, b) for a, b in zip(X.indptr[:-1], X.indptr[1:])]
        return len(cut) - len({(X.indices[part].tobytes(), X.data[part].tobytes()) for part in cut})
    rows = np.ascontiguousarray(to_numpy(X) + 0.0)  # -0 and 0 are equal
    return len(rows) - len({row.tobytes() for row in rows})


# --- tables that the door would refuse


def mend(tables: Mapping[str, Any], partial: str = "raise") -> tuple[dict[str, Any], list[Fault]]:
    """Return tables without what the door would refuse, and everything that was refused.

    The door stops at the first fault; here each fault is told and taken out, so that the next one is found.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame or array
        The views; frames are indexed by sample.
    partial : {"raise", "mean", "drop-row"}
        What `as_views` will do with rows that are blank in part: they are faults under "raise" only.
    """
    faults: list[Fault] = []
    mended = {}
    for name, table in tables.items():
        for mend_one in MENDERS + [_torn_rows] * (partial == "raise"):
            table, found = mend_one(table)
            faults += [Fault(name, kind, text) for kind, text in found]
        if table.shape[0] and table.shape[1]:
            mended[name] = table
        else:
            faults.append(Fault(name, "nothing left", "no row and no column of numbers is left: leave the table out"))
    faults += list(_between(mended, partial))
    return mended, faults


Mended = tuple[Any, list[tuple[str, str]]]


def _text_columns(table: Any) -> Mended:
    """Columns that hold no numbers."""
    if not hasattr(table, "columns"):
        return table, []
    words = [name for name in table.columns if table[name].dtype.kind not in "iufb"]
    if not words:
        return table, []
    text = f"{_count(len(words), 'column')} without numbers ({some(words)}): drop or one-hot encode"
    return table.drop(columns=words), [("text columns", text)]


def _no_ids(table: Any) -> Mended:
    """Rows that belong to nobody."""
    if not hasattr(table, "index"):
        return table, []
    nobody = np.asarray(table.index.isna()) | (table.index.astype(str).str.strip() == "")
    if not nobody.any():
        return table, []
    text = f"{_count(int(nobody.sum()), 'row')} without id (row {int(np.flatnonzero(nobody)[0])}): give ids, or drop"
    return table[~nobody], [("missing ids", text)]


def _repeated_ids(table: Any) -> Mended:
    """Ids that stand twice."""
    if not hasattr(table, "index") or table.index.is_unique:
        return table, []
    again = table.index.duplicated()
    who = some(table.index[again].unique())
    text = f"{_count(int(again.sum()), 'row')} with an id that stood before ({who}): merge or drop them"
    return table[~again], [("repeated ids", text)]


def _infinities(table: Any) -> Mended:
    """Entries that are no numbers of any size."""
    values = np.asarray(table, dtype=float)
    bad = np.isinf(values)
    if not bad.any():
        return table, []
    text = (
        f"{_count(int(bad.sum()), 'infinite entry', 'infinite entries')} ({_first(table, bad)}): put numbers or blanks"
    )
    return _with(table, np.where(bad, np.nan, values)), [("infinite", text)]


def _torn_rows(table: Any) -> Mended:
    """Rows that are blank in part."""
    values = np.asarray(table, dtype=float)
    nan = np.isnan(values)
    torn = nan.any(axis=1) & ~nan.all(axis=1)
    if not torn.any():
        return table, []
    text = (
        f"{_count(int(torn.sum()), 'row')} blank in part ({_first(table, nan & torn[:, None])}): "
        "use --partial mean (partial='mean') or --partial drop-row"
    )
    return _with(table, np.where(torn[:, None], np.nan, values)), [("blank in part", text)]


MENDERS: list[Callable[[Any], Mended]] = [_text_columns, _no_ids, _repeated_ids, _infinities]


def _between(tables: dict[str, Any], partial: str) -> Iterator[Fault]:
    """What is wrong between tables that are each in order: told by the door itself."""
    kept = dict(tables)
    while len(kept) > 1:
        try:
            open_door(kept, partial=partial)
            return
        except InputError as error:
            name = next((n for n in reversed(kept) if repr(n) in str(error).split(":")[0]), list(kept)[-1])
            yield Fault(name, "does not join", str(error))
            del kept[name]


def _with(table: Any, values: Array) -> Any:
    """The same table with other entries."""
    if not hasattr(table, "columns"):
        return values
    return type(table)(values, index=table.index, columns=table.columns)


def _first(table: Any, bad: Array) -> str:
    """Name the first place of many."""
    i, j = np.argwhere(bad)[0]
    row = table.index[i] if hasattr(table, "index") else int(i)
    column = table.columns[j] if hasattr(table, "columns") else int(j)
    return f"first in row {row!r}, column {column!r}"


def _count(n: int, one: str, many: str | None = None) -> str:
    return f"{n:,} {one if n == 1 else many or one + 's'}"
