"""``conspectus demo``: real digits, half of them incomplete, from data to picture in one command."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from conspectus.cli.model import build_model, fit_watched
from conspectus.cli.output import whole_file, write_labels
from conspectus.errors import InputError, MissingExtraError

COMPLETE, MASK_SEED = 0.5, 1004


def run(out: str, method: str | None, seed: int) -> None:
    """Load, remove views, cluster, compare with the known classes, and leave files to open."""
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--out {out} is a file: name a folder")
    started = time.perf_counter()
    click.echo("Handwritten digits of the UCI repository (mfeat), each described six times; half lose views ...")
    views, y = incomplete_digits()
    name, model = build_model(method, clusters=10, seed=seed, parameters={})
    fit_watched(name, model, views)
    seconds = time.perf_counter() - started
    folder.mkdir(parents=True, exist_ok=True)
    write_labels(folder / "labels.csv", model)
    scores = tell(name, model, views, y, seconds)
    picture = draw(folder / "clusters.png", name, model, views, scores["acc"])
    click.echo(f"Open {picture} and {folder / 'labels.csv'}" if picture else f"Open {folder / 'labels.csv'}")


def incomplete_digits() -> tuple[Any, Any]:
    """Return the digits with a random half of the samples lacking a random part of their views, and the classes."""
    from conspectus.datasets import load_mfeat
    from conspectus.missing import random_subsets, remove

    digits = load_mfeat()
    seen = random_subsets(digits.n, len(digits.X), COMPLETE, MASK_SEED)
    return remove(digits.X, seen), digits.y


def tell(name: str, model: Any, views: Any, y: Any, seconds: float) -> dict[str, float]:
    """Print the summary, and how well the clusters agree with the known classes."""
    from conspectus.metrics import evaluate
    from conspectus.reporting.summary import summary_text

    summary_text(name, model, views, seconds)
    scores = evaluate(y, model.labels_)
    click.echo(
        f"Against the ten known digits: accuracy {scores['acc']:.1%}, NMI {scores['nmi']:.3f}, "
        f"adjusted Rand index {scores['ari']:.3f}"
    )
    return scores


def draw(path: Path, name: str, model: Any, views: Any, accuracy: float) -> Path | None:
    """Leave the picture, or say what it needs."""
    from conspectus.reporting.pictures import clustering_picture

    title = f"2,000 handwritten digits, half of them incomplete: {accuracy:.1%} in the right cluster"
    note = f"{name}; data: UCI Multiple Features (CC BY 4.0)"
    click.echo("Drawing ...")
    try:
        figure = clustering_picture(model.embedding_, model.labels_, views.seen, views.names, title=title, note=note)
    except MissingExtraError as error:
        click.echo(f"No picture: {error}")
        return None
    with whole_file(path) as part:
        figure.savefig(part, format="png")
    return path
