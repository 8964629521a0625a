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
from conspectus.cli.reading import Reading
from conspectus.errors import InputError
from conspectus.files import require_files


def run(
    files: Sequence[str],
    clusters: int,
    method: str | None,
    out: str,
    seed: int,
    prepare: Sequence[str],
    param: Sequence[str],
    as_json: bool,
    quiet: bool,
    **how: Any,
) -> None:
    """Check what can be checked at once, then read, cluster, write and tell."""
    started = time.perf_counter()
    target = labels_file(out, files)
    require_files(files)
    reading = Reading(**how)
    parameters = {**one_of_each(param, "--param"), **preparation(prepare)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default", UserWarning)  # of the data and of convergence, not of libraries' futures
        name, model = build_model(method, clusters, seed, parameters, reading.zero_rows)
        views = reading.views(files)
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
