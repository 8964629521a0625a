"""What users keep views in: arrays, frames, sparse matrices, MuData. Each becomes a `Source`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from array_api_compat import is_array_api_obj
from scipy import sparse

from conspectus._typing import Array
from conspectus.errors import InputError, InputTypeError
from conspectus.views.say import close, some, view_label


@dataclass(frozen=True)
class Source:
    """One view as it came in: its matrix, and the ids and column names it may have."""

    name: str
    data: Array
    ids: Array | None = None
    columns: tuple[str, ...] | None = None
    frame: str | None = None
    fresh: bool = False
    """The ids are only the numbers 0, 1, ... that a table gets when nobody gave it an index."""
    absent: bool = False
    """None was given: the view has seen nothing."""


def is_many(X: Any) -> bool:
    """Whether X is several views: a mapping, MuData, or a list with an element that is 2-D or None."""
    if isinstance(X, Mapping) and not sparse.issparse(X):
        return True
    if _is_mudata(X):
        return True
    return isinstance(X, (list, tuple)) and any(_is_view(element) for element in X)


def _is_view(element: Any) -> bool:
    """Whether an element of a list is a view of its own: 2-D (or deeper), or None."""
    if element is None or sparse.issparse(element) or _is_frame(element):
        return True
    if isinstance(element, (list, tuple)):
        return len(element) > 0 and isinstance(element[0], (list, tuple, np.ndarray))
    return getattr(element, "ndim", 0) >= 2


def _is_frame(element: Any) -> bool:
    return nw.dependencies.is_into_dataframe(element) or nw.dependencies.is_pandas_series(element)


def _is_mudata(X: Any) -> bool:
    return type(X).__name__ == "MuData" and hasattr(X, "mod")


def sources_of(X: Any, names: Sequence[str] | None, on: Any, ids: Any) -> list[Source]:
    """Read every view of a container."""
    if _is_mudata(X):
        X = dict(X.mod)
    if isinstance(X, Mapping):
        keys = [f"view{key}" if isinstance(key, (int, np.integer)) else str(key) for key in X]
        elements = list(X.values())
    else:
        elements = list(X)
        keys = [f"view{v}" for v in range(len(elements))]
    keys = keys if names is None else _names(names, len(elements))
    on = _per_view("on", on, keys)
    own = _own_ids(ids, keys)
    found = [_source(v, key, element, on[v], own[v]) for v, (key, element) in enumerate(zip(keys, elements))]
    keyed = [source.ids is not None for source in found if not source.absent]
    if any(keyed) and not all(keyed):
        v = next(v for v, source in enumerate(found) if source.ids is None and not source.absent)
        raise InputTypeError(
            f"{view_label(v, keys[v])} is an array without sample ids, but another view is a table with ids: "
            "give all views as tables, or all as arrays (table.to_numpy())"
        )
    return found


def _names(names: Sequence[str], n_views: int) -> list[str]:
    """Check the names that a user gives to the views."""
    names = [str(name) for name in names]
    if len(names) != n_views or len(set(names)) != n_views:
        raise InputError(f"names has {some(names)} for {n_views} views: give one name a view, each once")
    return names


def _per_view(what: str, value: Any, keys: list[str]) -> list[Any]:
    """One value for all views, or one for each."""
    if isinstance(value, Mapping):
        return [value.get(key) for key in keys]
    if isinstance(value, (list, tuple)):
        if len(value) != len(keys):
            raise InputError(f"{what} has {len(value)} entries for {len(keys)} views: give one a view, or one for all")
        return list(value)
    return [value] * len(keys)


def _own_ids(ids: Any, keys: list[str]) -> list[Any]:
    """The ids of each view, where they were given one sequence a view."""
    if isinstance(ids, Mapping):
        return [ids.get(key) for key in keys]
    if ids_per_view(ids):
        return _per_view("ids", list(ids), keys)
    return [None] * len(keys)


def ids_per_view(ids: Any) -> bool:
    """Whether ids holds one sequence for each view."""
    if isinstance(ids, Mapping):
        return True
    return isinstance(ids, (list, tuple)) and len(ids) > 0 and all(_is_sequence(element) for element in ids)


def _is_sequence(element: Any) -> bool:
    return element is None or (hasattr(element, "__len__") and not isinstance(element, (str, bytes, tuple)))


def _source(v: int, key: str, element: Any, on: str | None, ids: Any) -> Source:
    """Read one view."""
    if element is None:
        return Source(key, np.zeros((0, 0)), absent=True)
    if type(element).__name__ == "AnnData":
        return Source(key, _matrix(v, key, element.X), np.asarray(element.obs_names), tuple(element.var_names))
    if _is_frame(element):
        return _frame(v, key, element, on)
    if on is not None:
        raise InputTypeError(f"on={on!r} names a key column, but {view_label(v, key)} is an array: use ids=")
    data = _matrix(v, key, element)
    if ids is not None:
        ids = np.asarray(ids)
        if len(ids) != data.shape[0]:
            raise InputError(f"{view_label(v, key)} has {data.shape[0]} rows, but {len(ids)} ids: give one id a row")
    return Source(key, data, ids)


def _matrix(v: int, key: str, element: Any) -> Array:
    """Check one matrix: its kind, its two axes, its entries' type."""
    where = view_label(v, key)
    if sparse.issparse(element):
        if element.ndim != 2:
            raise InputError(f"{where} has {element.ndim} axes: give samples as rows and features as columns")
        return _real(where, sparse.csr_array(element))
    if not isinstance(element, np.ndarray) and not is_array_api_obj(element):
        element = _array(where, element)
    if element.ndim != 2:
        raise InputError(
            f"{where} has {element.ndim} axes, not two: give samples as rows and features as columns"
            + (" (for one feature: x.reshape(-1, 1))" if element.ndim == 1 else "")
        )
    if element.shape[1] == 0:
        raise InputError(f"{where} has no columns: leave the view out")
    return _real(where, element)


def _array(where: str, element: Any) -> Array:
    """Make an array of what is neither an array nor a table."""
    try:
        return np.asarray(element)
    except ValueError as error:
        raise InputError(f"{where} is not a matrix ({error}): give rows of equal length") from error


def _real(where: str, matrix: Array) -> Array:
    """Refuse what is not real numbers; convert objects that hold numbers."""
    if not isinstance(matrix, np.ndarray) and not sparse.issparse(matrix):
        return matrix
    kind = matrix.dtype.kind
    if kind in "fiub":
        return matrix
    if kind == "c":
        raise InputError(
            f"Complex data not supported: {where} holds complex numbers; give their absolute values or parts"
        )
    if kind == "O":
        try:
            return np.asarray(matrix, dtype=np.float64)
        except (TypeError, ValueError) as error:
            i, j = next((i, j) for i, row in enumerate(matrix) for j, cell in enumerate(row) if not _number(cell))
            raise InputError(
                f"{where} holds {matrix[i, j]!r} in row {i}, column {j}, which is no number ({_argument(error)}): "
                "drop or one-hot encode that column"
            ) from error
    raise InputError(f"{where} holds {matrix.dtype}, not numbers: drop or one-hot encode its columns")


def _argument(error: Exception) -> str:
    """Words that scikit-learn's users look for when an object is neither a string nor a number."""
    return str(error)


def _number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def _frame(v: int, key: str, element: Any, on: str | None) -> Source:
    """Read one table: its ids, its column names, its numbers."""
    where = view_label(v, key)
    if nw.dependencies.is_pandas_series(element):
        element = element.to_frame()
    table = nw.from_native(element, eager_only=True)
    library = table.implementation.name.lower()
    fresh = False
    if on is not None:
        if on not in table.columns:
            raise InputError(f"{where} has no column {on!r}{close(on, table.columns)}; it has {some(table.columns)}")
        ids = table.get_column(on).to_numpy()
        table = table.drop(on)
    elif library == "pandas":
        ids, fresh = element.index.to_numpy(), _is_fresh(element.index)
    else:
        ids, fresh = np.arange(len(table)), True
    if not table.columns:
        raise InputError(f"{where} has no columns: leave the view out")
    return Source(key, _numbers(where, table), ids, tuple(map(str, table.columns)), library, fresh)


def _is_fresh(index: Any) -> bool:
    """Whether a pandas index is 0, 1, ..., as made when nobody gave one."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def _numbers(where: str, table: Any) -> Array:
    """The numeric matrix of a table, in its own precision."""
    for name, kind in table.schema.items():
        if not (kind.is_numeric() or kind == nw.Boolean or kind == nw.Object or kind == nw.Unknown):
            raise InputError(f"{where}: column {name!r} holds {kind}, not numbers: drop or one-hot encode it")
    single = all(kind == nw.Float32 for kind in table.schema.values())
    columns = np.empty((len(table), len(table.columns)), dtype=np.float32 if single else np.float64, order="F")
    for j, series in enumerate(table.iter_columns()):  # table[0] would be a row
        try:
            columns[:, j] = _column(series)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{where}: column {series.name!r} is not numeric ({error}): drop or one-hot encode it"
            ) from error
    return np.ascontiguousarray(columns)


def _column(series: Any) -> Array:
    """A column as floats; what the table marks as missing becomes NaN."""
    if series.dtype == nw.Object or series.dtype == nw.Unknown:
        return np.asarray([np.nan if value is None else float(value) for value in series.to_list()])
    if series.dtype != nw.Float32:
        series = series.cast(nw.Float64)
    values = series.to_numpy()
    return np.asarray([np.nan if x is None else x for x in values]) if values.dtype == object else values
