"""Which row of each view belongs to which sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conspectus._typing import Array, Int
from conspectus.errors import InputError
from conspectus.views.containers import Source, ids_per_view
from conspectus.views.say import some, view_label


def align(found: Sequence[Source], ids: Any) -> tuple[Int, Array]:
    """Return each sample's row in each view (-1: none) and the samples' ids."""
    present = [source for source in found if not source.absent]
    if not present:
        raise InputError("no view holds anything: every view is None")
    if present[0].ids is None:
        return _by_position(found, ids)
    if all(source.fresh for source in present) and len({len(source.ids) for source in present}) == 1:  # type: ignore[arg-type]
        return _by_position(found, ids)
    if ids is not None and not ids_per_view(ids):
        raise InputError("the tables have ids of their own: leave ids= out, or name their key column with on=")
    return _by_id(found)


def _by_position(found: Sequence[Source], ids: Any) -> tuple[Int, Array]:
    """Row i of every view is sample i."""
    lengths = {int(source.data.shape[0]) for source in found if not source.absent}
    if len(lengths) > 1:
        first = next(source for source in found if not source.absent)
        v, other = next((v, s) for v, s in enumerate(found) if not s.absent and s.data.shape[0] != first.data.shape[0])
        raise InputError(
            f"{view_label(found.index(first), first.name)} has {first.data.shape[0]} rows and "
            f"{view_label(v, other.name)} has {other.data.shape[0]}: give every view one row a sample "
            "(NaN where it was not seen), or tables with ids"
        )
    n = lengths.pop()
    table = np.stack([np.full(n, -1) if source.absent else np.arange(n) for source in found], axis=1)
    return table, _sample_ids(ids, n)


def _sample_ids(ids: Any, n: int) -> Array:
    """Check the ids that go with arrays."""
    if ids is None:
        return np.arange(n)
    ids = np.asarray(ids)
    if ids.ndim != 1 or len(ids) != n:
        raise InputError(f"ids has shape {ids.shape}, but there are {n} samples: give one id a sample")
    _refuse_duplicates(ids, "ids")
    return ids


def _refuse_duplicates(ids: Array, where: str) -> None:
    """An id names one sample."""
    first: dict[Any, int] = {}
    for i, value in enumerate(ids.tolist()):
        if value in first:
            raise InputError(
                f"{where}: the id {value!r} stands in rows {first[value]} and {i}: an id names one sample; "
                "drop or merge one of the rows"
            )
        first[value] = i


def _by_id(found: Sequence[Source]) -> tuple[Int, Array]:
    """Join the views by the ids of their rows: the union, in order of first appearance."""
    keyed = [(v, source, source.ids.tolist()) for v, source in enumerate(found) if source.ids is not None]
    fresh = [source for _, source, _ in keyed if source.fresh]
    if fresh and len(keyed) > 1 and len(fresh) == len(keyed):
        rows = ", ".join(f"{view_label(v, s.name)} has {len(ids)}" for v, s, ids in keyed)
        raise InputError(
            f"the tables have different lengths ({rows}) and no ids: rows cannot be matched by number; "
            "name the key column with on=, or set an index"
        )
    position: dict[Any, int] = {}
    for v, source, ids in keyed:
        _refuse_missing(ids, view_label(v, source.name))
        _refuse_duplicates(np.asarray(source.ids, dtype=object), view_label(v, source.name))
        for value in ids:
            position.setdefault(value, len(position))
    _refuse_strangers([(v, source, ids) for v, source, ids in keyed])
    table = np.full((len(position), len(found)), -1, dtype=np.int64)
    for v, _, ids in keyed:
        table[[position[value] for value in ids], v] = np.arange(len(ids))
    return table, _as_array(list(position))


def _as_array(values: list[Any]) -> Array:
    """Ids as one array that keeps each value as it is."""
    if all(isinstance(value, str) for value in values) or len({type(value) for value in values}) == 1:
        array = np.asarray(values)
        if array.ndim == 1:
            return array
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _refuse_missing(ids: list[Any], where: str) -> None:
    """A row without an id belongs to nobody."""
    for i, value in enumerate(ids):
        if value is None or value != value:
            raise InputError(f"{where}: row {i} has no id: give it one, or drop the row")


def _refuse_strangers(keyed: list[tuple[int, Source, list[Any]]]) -> None:
    """Refuse a table that shares no id with any other, and say what may have gone wrong."""
    for v, source, ids in keyed:
        others = [(u, other, theirs) for u, other, theirs in keyed if u != v and theirs]
        if not ids or not others or any(not set(ids).isdisjoint(theirs) for _, _, theirs in others):
            continue
        u, other, theirs = others[0]
        raise InputError(
            f"{view_label(v, source.name)} shares no id with {view_label(u, other.name)}: the first has {some(ids)}, "
            f"the second {some(theirs)}; {_advice(source, ids, other, theirs)}"
        )


def _advice(source: Source, ids: list[Any], other: Source, theirs: list[Any]) -> str:
    """What people have when no id is shared: spaces and types, or a table on its side."""
    if not {str(value).strip() for value in ids}.isdisjoint(str(value).strip() for value in theirs):
        return "they match as stripped text: make them so, with df.index = df.index.map(str).str.strip()"
    if source.columns and not set(source.columns).isdisjoint(map(str, theirs)):
        return f"the columns of {source.name!r} match them: transpose that table (df.T)"
    if other.columns and not set(other.columns).isdisjoint(map(str, ids)):
        return f"the columns of {other.name!r} match them: transpose that table (df.T)"
    return "check that the ids mean the same samples"
