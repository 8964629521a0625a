"""``conspectus cluster``: files in, labels out."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Sequence
from typing import Any

import click

from conspectus.cli.group import one_of_each
from conspectus.cli.model import build_model, fit_watched
from conspectus.cli.output import labels_file, warn, write_labels
from conspectus.errors import InputError
from conspectus.files import read_tables, require_files


def run(
    files: Sequence[str],
    clusters: int,
    method: str | None,
    id_column: str | None,
    out: str,
    seed: int,
    prepare: Sequence[str],
    partial: str,
    zero_rows: str,
    transpose: bool,
    transpose_only: Sequence[str],
    param: Sequence[str],
    as_json: bool,
    quiet: bool,
) -> None:
    """Check what can be checked at once, then read, cluster, write and tell."""
    started = time.perf_counter()
    target = labels_file(out, files)
    require_files(files)
    parameters = {**one_of_each(param, "--param"), **preparation(prepare)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        name, model = build_model(method, clusters, seed, parameters)
        views = open_files(files, id_column, transpose or transpose_only, partial, zero_rows)
        fit_watched(name, model, views, quiet=quiet)
    write_labels(target, model)
    said = warn(caught, quiet=quiet)
    if quiet:
        return
    from conspectus.reporting.summary import summary_record, summary_text

    seconds = time.perf_counter() - started
    if as_json:
        click.echo(
            json.dumps(summary_record(name, model, views, seconds) | {"labels_file": str(target), "warnings": said})
        )
    else:
        summary_text(name, model, views, seconds)
        click.echo(f"Labels: {target}")


def open_files(
    files: Sequence[str], id_column: str | None, transpose: bool | Sequence[str], partial: str, zero_rows: str
) -> Any:
    """Read the files and bring them through the door."""
    tables = read_tables(files, id=id_column, transpose=transpose)
    from conspectus.views import as_views

    return as_views(tables, partial=partial, zero_rows=zero_rows)


def preparation(prepare: Sequence[str]) -> dict[str, Any]:
    """Return the parameter that --prepare asks for: one step for all views, or one for each that is named."""
    if not prepare:
        return {}
    if all("=" in step for step in prepare):
        return {"prepare": {view: none(step) for view, step in one_of_each(prepare, "--prepare").items()}}
    if len(prepare) > 1:
        raise InputError("--prepare is given twice: join steps with +, or name the view as in --prepare rna=log1p")
    return {"prepare": none(prepare[0])}


def none(step: str) -> str | None:
    """The word for doing nothing."""
    return None if step.casefold() == "none" else step
