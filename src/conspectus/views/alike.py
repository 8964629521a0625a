"""Bring new samples into the shape of the views that a model was fitted on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from conspectus._typing import Bool
from conspectus.errors import InputError
from conspectus.numerics.backend import namespace, to_numpy
from conspectus.views.say import close, sample_label, some, view_label

if TYPE_CHECKING:
    from conspectus.views.table import Views

Columns = tuple[str, ...] | None


def match(
    views: Views, names: tuple[str, ...], columns: tuple[Columns, ...], widths: tuple[int, ...], training: Bool | None
) -> Views:
    """Return `views` with the views `names`, in that order; absent ones have seen nothing.

    `training` says which view saw which training sample: of kernels and distances, only those columns are read.
    """
    unknown = [name for name in views.names if name not in names]
    if unknown:
        raise InputError(
            f"view {unknown[0]!r} was not there when the model was fitted on {some(names)}{close(unknown[0], names)}; "
            "give the views by those names, or as a list of all of them with None for an absent one"
        )
    where = np.full((len(views), len(names)), -1, dtype=np.int64)
    sources: list[Any] = []
    steps: list[tuple[Any, ...]] = []
    cols: list[Any] = []
    for v, name in enumerate(names):
        if name not in views.names or not views.seen[:, views.names.index(name)].any():
            sources.append(_nothing(views, widths[v]))
            steps.append(())
            cols.append(np.full(widths[v], -1))
            continue
        u = views.names.index(name)
        where[:, v] = views.where[:, u]
        sources.append(views.sources[u] if views.square else _columns(views, u, v, name, columns[v], widths[v]))
        steps.append(views.steps[u])
        if views.cols is not None:
            if len(views.cols) != widths[v]:
                raise InputError(
                    f"{view_label(v, name)} has {len(views.cols)} columns, but the model was fitted on {widths[v]} "
                    "samples: give a block of new samples by training samples"
                )
            cols.append(views.cols[:, u] if training is None else np.where(training[:, v], views.cols[:, u], -1))
    matched = replace(
        views,
        sources=tuple(sources),
        where=where,
        names=names,
        columns=columns,
        steps=tuple(steps),
        cols=np.stack(cols, axis=1) if views.square else None,
    )
    if views.square:
        _refuse_nonfinite(matched)
    return matched


def _nothing(views: Views, width: int) -> Any:
    """A view without rows, in the kind and precision of the others."""
    like = next((s for s in views.sources if not sparse.issparse(s) and s.shape[0]), np.zeros(0))
    if isinstance(like, np.ndarray):
        return np.zeros((0, width), dtype=like.dtype if like.dtype.kind == "f" else np.float64)
    return namespace(like).zeros((0, width), dtype=like.dtype, device=like.device)


def _refuse_nonfinite(views: Views) -> None:
    """A new sample's row of a kernel is known for every training sample that the view has seen."""
    for v, name in enumerate(views.names):
        if not views.seen[:, v].any():
            continue
        bad = np.flatnonzero(~np.isfinite(to_numpy(views.data(v))).all(axis=1))
        if len(bad):
            sample = sample_label(int(views.observed(v)[bad[0]]), views.ids)
            raise InputError(
                f"{view_label(v, name)}: {sample} has NaN or inf beside a training sample that the view has seen: "
                "give its whole row, or a row of NaN for an unseen sample"
            )


def _columns(views: Views, u: int, v: int, name: str, wanted: Columns, width: int) -> object:
    """The source of view `u` with the columns that the model knows, in its order."""
    source, given = views.sources[u], views.columns[u]
    if wanted is not None and given is not None and wanted != given:
        missing = [c for c in wanted if c not in given]
        extra = [c for c in given if c not in wanted]
        if missing or extra:
            what = f"lacks the columns {some(missing)}" if missing else f"has the unknown columns {some(extra)}"
            raise InputError(
                f"{view_label(v, name)} {what}: give the {len(wanted)} columns that the model was fitted on"
            )
        position = {c: i for i, c in enumerate(given)}
        return source[:, np.array([position[c] for c in wanted])]
    if source.shape[1] != width and source.shape[0]:
        raise InputError(
            f"{view_label(v, name)} has {source.shape[1]} columns, but the model was fitted on {width}: "
            "give the same columns in the same order"
        )
    return source
