"""``conspectus bench``: list, run and show the papers' experiments."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from conspectus.bench.experiments import Experiment
    from conspectus.bench.run import Report, Watch
    from conspectus.bench.store import Store

OUT = click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default=Path("results"), show_default=True,
    help="Folder of the store (store.sqlite), the tables and the figures.",
)  # fmt: skip
ORACLE = click.option("--oracle", is_flag=True, help="Also show what was chosen with the labels, marked as such.")
QUICK = click.option("--quick", is_flag=True, help="2 masks, 2 ratios, at most 500 samples, 10 s a task.")
METHOD = click.option(
    "--method", "methods", multiple=True, metavar="NAME",
    help="Add a method to the grid: a name of `conspectus methods` or module:Class.",
)  # fmt: skip
DATA = click.option(
    "--data", "files", multiple=True, type=click.Path(dir_okay=False, path_type=Path), metavar="FILE.npz",
    help="Add a data set of your own: X0, X1, ... and the classes y.",
)  # fmt: skip
MASKS = click.option("--masks", type=click.IntRange(min=1), help="Only so many masks of each setting.")


@click.group()
def bench() -> None:
    """Run the experiments of the papers and see ours beside the printed numbers.

    Example: conspectus bench run apmc-table1 --jobs 2
    """


@bench.command("list")
def list_() -> None:
    """List the experiments."""
    from rich.console import Console
    from rich.table import Table

    from conspectus.bench.experiments import ALL

    table = Table("experiment", "tasks", "what", "missing here", box=None)
    for experiment in ALL.values():
        plan = experiment.plan
        absent = ", ".join([*plan.methods, *plan.data])
        table.add_row(experiment.name, str(len(plan.tasks)), experiment.title, absent)
    Console().print(table)


@bench.command()
@click.argument("name")
@QUICK
@OUT
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Tasks at once.")
@click.option("--fresh", is_flag=True, help="Compute again what the store has.")
@METHOD
@DATA
@MASKS
@click.option("--only", multiple=True, metavar="NAME", help="Run only this method of the grid; may be repeated.")
@click.option("--time-limit", type=click.FloatRange(min=0, min_open=True), help="Seconds a task. [600; quick: 10]")
@ORACLE
def run(
    name: str,
    quick: bool,
    out: Path,
    jobs: int,
    fresh: bool,
    methods: tuple[str, ...],
    files: tuple[Path, ...],
    masks: int | None,
    only: tuple[str, ...],
    time_limit: float | None,
    oracle: bool,
) -> None:
    """Run an experiment; what the store has is not run again.

    Stopped by Ctrl-C or killed, it goes on where it was when the same command is given again.

    Example: conspectus bench run apmc-figure3 --quick --jobs 2
    """
    from conspectus.bench.experiments import QUICK_BUDGET, QUICK_SECONDS
    from conspectus.bench.run import run as run_tasks
    from conspectus.bench.store import Store

    experiment = _experiment(name, quick, methods, files, masks)
    tasks = [task for task in experiment.plan.tasks if not only or task.method.name in only]
    if only and not tasks:
        there = ", ".join(dict.fromkeys(task.method.name for task in experiment.plan.tasks))
        raise click.UsageError(f"{name} has no method {', '.join(only)}: it has {there}")
    for line in experiment.plan.words():
        click.echo(line, err=True)
    limit = time_limit or (QUICK_SECONDS if quick else 600.0)
    store, begin = Store(out / "store.sqlite"), time.monotonic()
    with _progress(len(tasks)) as watch:
        try:
            budget = QUICK_BUDGET if quick else None
            report = run_tasks(tasks, store, jobs=jobs, limit=limit, budget=budget, fresh=fresh, watch=watch)
        except KeyboardInterrupt:
            store.close()
            click.echo(f"stopped; what was finished is in {out}, and the same command goes on from there", err=True)
            raise SystemExit(130) from None
    click.echo(_said(report, time.monotonic() - begin), err=True)
    _show(experiment, store, out, quick=quick, oracle=oracle)


@bench.command()
@click.argument("name")
@QUICK
@OUT
@METHOD
@DATA
@MASKS
@ORACLE
def show(
    name: str,
    quick: bool,
    out: Path,
    methods: tuple[str, ...],
    files: tuple[Path, ...],
    masks: int | None,
    oracle: bool,
) -> None:
    """Print an experiment's tables from the store, beside the paper's, and write its figures.

    Example: conspectus bench show apmc-table1
    """
    from conspectus.bench.store import Store

    _stored(out)
    experiment = _experiment(name, quick, methods, files, masks)
    _show(experiment, Store(out / "store.sqlite"), out, quick=quick, oracle=oracle)


@bench.command()
@OUT
@click.option(
    "--file", "path", type=click.Path(dir_okay=False, path_type=Path), default=Path("docs/reproduction.md"),
    show_default=True, help="The page to write.",
)  # fmt: skip
def page(out: Path, path: Path) -> None:
    """Write the page that puts every experiment of the store beside its paper.

    Example: conspectus bench page --file docs/reproduction.md
    """
    from conspectus.bench.reproduction import write
    from conspectus.bench.store import Store

    _stored(out)
    names = write(Store(out / "store.sqlite"), path)
    click.echo(f"{path}: {', '.join(names) if names else 'no experiment has rows yet'}")


def _experiment(
    name: str, quick: bool, methods: tuple[str, ...], files: tuple[Path, ...], masks: int | None
) -> Experiment:
    """The experiment with what the user adds to it; every fault is a usage error of one line."""
    from conspectus.bench.experiments import named
    from conspectus.bench.grid import Method
    from conspectus.bench.methods import find
    from conspectus.bench.sources import own
    from conspectus.errors import InputError

    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # module:Class is looked for where the user stands
    try:
        experiment = named(name).joined((Method(each, own_defaults=True) for each in methods), map(own, files))
        for method in methods:
            find(method)
    except InputError as error:
        raise click.UsageError(str(error)) from None
    experiment = experiment.quick() if quick else experiment
    return experiment.first(masks) if masks else experiment


def _show(experiment: Experiment, store: Store, out: Path, *, quick: bool, oracle: bool) -> None:
    from importlib.util import find_spec

    from conspectus.bench.pages import page

    drawn = find_spec("matplotlib") is not None
    made = page(experiment, store, drawn=drawn, oracle=oracle)
    click.echo(made.text)
    folder = out / (f"{experiment.name}-quick" if quick else experiment.name)
    files = made.write(folder)
    figures = "" if drawn else " (no figures: pip install 'conspectus[bench]')"
    click.echo(f"{len(files)} files in {folder}{figures}", err=True)
    store.close()


def _stored(out: Path) -> None:
    if not (out / "store.sqlite").is_file():
        raise click.UsageError(f"{out} has no store.sqlite: run an experiment with --out {out} first")


def _said(report: Report, seconds: float) -> str:
    parts = [f"{report.run} tasks run in {seconds:.0f} s", f"{report.reused} taken from the store"]
    parts += [f"{report.left} not run, for the time of --quick was up"] if report.left else []
    parts += [f"{count} x {name}" for name, count in report.errors.most_common()]
    return "; ".join(parts)


@contextmanager
def _progress(total: int) -> Iterator[Watch]:
    """A bar with the remaining time on a terminal; nothing elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
        shown = bar.add_task("tasks", total=total)
        yield lambda done, total, row: bar.update(shown, completed=done, total=total)
