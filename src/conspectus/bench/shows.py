"""What an experiment shows of its rows: tables, figures, comparisons, each declared as data and made from a frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

from conspectus.bench import compare, figures
from conspectus.bench.results import oracle_runs, single_runs
from conspectus.bench.store import SCORES
from conspectus.bench.tables import PERCENT, RENDER, Table, called, table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Piece:
    """One thing to show.

    Attributes
    ----------
    name : str
        The stem of its files.
    title : str
        Its heading.
    text : str
        Markdown.
    tables : tuple of Table
        Written as Markdown, LaTeX and CSV.
    figure : matplotlib Figure or None
        Written as PNG and PDF.
    """

    name: str
    title: str
    text: str
    tables: tuple[Table, ...] = ()
    figure: Any = None


class Show(Protocol):
    """From the rows of an experiment to a piece; `drawn` False leaves matplotlib alone."""

    def make(self, frame: pd.DataFrame, *, drawn: bool = True) -> Piece:
        """Make it."""
        ...


@dataclass(frozen=True)
class TableOf:
    """Mean and deviation of metrics: methods down, settings across; with the single runs of k-means when asked."""

    metrics: tuple[str, ...] = ("acc", "nmi")
    columns: tuple[str, ...] = ("data",)
    singles: bool = False
    rows: str = "method"

    def make(self, frame: pd.DataFrame, *, drawn: bool = True) -> Piece:
        """One table a metric."""
        frame = with_singles(frame) if self.singles else frame
        made = tuple(table(frame, metric, self.columns, self.rows) for metric in self.metrics)
        text = "\n".join(f"{called(one.metric)}\n\n{RENDER['md'](one)}" for one in made)
        return Piece("table", "", text, made)


@dataclass(frozen=True)
class CurvesOf:
    """Metrics against a column: a figure, and the same numbers as a table for each panel."""

    x: str = "ratio"
    metrics: tuple[str, ...] = ("acc", "nmi")
    log: str = ""
    where: tuple[str, float] | None = None
    panel: str | None = None
    x_name: str = ""
    by_ratio: str = ""

    def make(self, frame: pd.DataFrame, *, drawn: bool = True) -> Piece:
        """Panels by data set (or one `panel` for all), rows of panels by metric, of the rows `where` a column is so.

        A line is a method, or with `by_ratio` a method at a ratio, which is called so.
        """
        frame = frame if self.where is None else frame[frame[self.where[0]] == self.where[1]]
        frame = frame if self.panel is None else frame.assign(data=self.panel)
        if self.by_ratio:
            lines = frame["method"] + f", {self.by_ratio} " + frame["ratio"].map("{:.0%}".format)
            frame = frame.assign(method=lines).sort_values("ratio", kind="stable")
        made = tuple(self._table(frame, metric, ("data", self.x)) for metric in self.metrics)
        text = "\n".join(
            f"{', '.join(filter(None, (name, called(metric))))}\n\n{RENDER['md'](self._table(part, metric, (self.x,)))}"
            for metric in self.metrics
            for name, part in frame.groupby("data", sort=False)
        )
        figure = figures.curves(frame, self.x, self.metrics, log=self.log, x_name=self.x_name) if drawn else None
        return Piece(f"curves-{self.x.split('.')[-1]}", "", text, made, figure)

    def _table(self, frame: pd.DataFrame, metric: str, columns: tuple[str, ...]) -> Table:
        return replace(table(frame, metric, columns), marked=not self.by_ratio)


@dataclass(frozen=True)
class HeatmapOf:
    """A metric over two parameters."""

    x: str
    y: str
    metric: str = "acc"

    def make(self, frame: pd.DataFrame, *, drawn: bool = True) -> Piece:
        """One map a data set."""
        frame = frame.dropna(subset=[self.x, self.y])
        made = tuple(
            replace(table(part, self.metric, (self.x,), self.y), marked=False)
            for _, part in frame.groupby("data", sort=False)
        )
        names = frame["data"].drop_duplicates()
        text = "\n".join(
            f"{name}, {called(self.metric)}: {self.y.split('.')[-1]} down, {self.x.split('.')[-1]} across\n\n"
            + RENDER["md"](one)
            for name, one in zip(names, made)
        )
        figure = figures.heatmap(frame, self.x, self.y, self.metric) if drawn and len(frame) else None
        return Piece("heatmap", "", text, made, figure)


@dataclass(frozen=True)
class ConvergenceOf:
    """The objective after each iteration."""

    def make(self, frame: pd.DataFrame, *, drawn: bool = True) -> Piece:
        """The longest run of each method on each data set."""
        held = frame[frame["objective"].notna()]
        longest = held["objective"].map(len).sort_values(ascending=False, kind="stable").index
        first = held.loc[longest].groupby(["data", "method"], sort=False).head(1).sort_index()
        text = markdown_rows(
            ("data", "method", "iterations", "first", "last", "largest step against the trend", "ended by"),
            [_trend(row) for row in first.to_dict("records")],
        )
        figure = figures.convergence(first) if drawn and len(first) else None
        return Piece("convergence", "", text, (), figure)


@dataclass(frozen=True)
class RanksOf:
    """Mean ranks with Nemenyi's critical difference."""

    metric: str = "acc"
    blocks: tuple[str, ...] = ("data", "ratio")

    def make(self, frame: pd.DataFrame, *, drawn: bool = True) -> Piece:
        """Ranked over the blocks in which all have a value."""
        found = compare.ranks(frame, self.metric, self.blocks)
        lines = [(name, f"{rank:.2f}") for name, rank in found.mean.items()]
        text = markdown_rows(("method", "mean rank"), lines) + (
            f"\n{found.blocks} blocks; Friedman p = {found.p_value:.2g}; critical difference {found.critical:.2f} "
            "(Nemenyi, 5 %).\n"
        )
        if found.left_out:
            text += f"Not ranked, for they have a value in too few blocks: {', '.join(found.left_out)}.\n"
        drawable = drawn and found.blocks > 1 and len(found.mean) > 1
        title = f"Mean ranks by {called(self.metric)}"
        return Piece(f"ranks-{self.metric}", title, text, (), figures.critical(found) if drawable else None)


@dataclass(frozen=True)
class PairedOf:
    """One method minus every other, cell by cell and set by set."""

    reference: str
    metric: str = "acc"
    cell: tuple[str, ...] = ("data", "ratio")

    def make(self, frame: pd.DataFrame, *, drawn: bool = True) -> Piece:
        """Differences with standard errors over cells and over sets."""
        title = f"{self.reference} minus the others, {called(self.metric)}"
        if self.reference not in set(frame["method"]):
            return Piece(f"paired-{self.metric}", title, f"{self.reference} has no rows yet.\n")
        found = compare.paired(frame, self.metric, self.reference, self.cell)
        scale = 100.0 if self.metric in PERCENT else 1.0
        lines = [
            (
                name,
                f"{row['by cell'] * scale:+.1f} ({row['se by cell'] * scale:.1f})",
                f"{row['cells']:.0f}",
                f"{row['by set'] * scale:+.1f} ({row['se by set'] * scale:.1f})",
                f"{row['ahead']:.0f} of {row['sets']:.0f}",
            )
            for name, row in found.iterrows()
            if row["cells"]
        ]
        text = markdown_rows(("other", "by cell (se)", "cells", "by set (se)", "ahead on"), lines)
        return Piece(f"paired-{self.metric}", title, text)


@dataclass(frozen=True)
class ImputedOf:
    """How many numbers a method fills in or keeps for the unseen entries, against n."""

    def make(self, frame: pd.DataFrame, *, drawn: bool = True) -> Piece:
        """By formula, from the unseen rows of each view."""
        sizes = frame.dropna(subset=["n"]).groupby("data", sort=False).head(1)
        lines = [(row["data"], *(f"{count:,}" for count in _imputed(row))) for row in sizes.to_dict("records")]
        head = (
            "data",
            "kernel entries (MKKM-IK, MKKM-IK-MKC)",
            "all base partitions (LF-IMVC)",
            "unseen rows (EE, EE-R)",
        )
        return Piece("imputed", "Imputed variables", markdown_rows(head, lines))


@dataclass(frozen=True)
class MeansOf:
    """Means over data sets, each set counted once: the last line of a large table."""

    metrics: tuple[str, ...] = ("acc", "nmi")

    def make(self, frame: pd.DataFrame, *, drawn: bool = True) -> Piece:
        """Methods with the most data sets first, then the best first."""
        cells = frame.groupby(["method", "data", "cell"], sort=False)[list(self.metrics)].mean()
        sets = cells.groupby(level=["method", "data"], sort=False).mean().dropna(how="all")
        means = sets.groupby(level="method", sort=False).agg(["mean", "count"])
        first = self.metrics[0]
        order = means.sort_values([(first, "count"), (first, "mean")], ascending=False)
        lines = [
            (name, int(row[(first, "count")]), *(f"{100 * row[(metric, 'mean')]:.2f}" for metric in self.metrics))
            for name, row in order.iterrows()
        ]
        text = markdown_rows(("method", "data sets", *map(called, self.metrics)), lines)
        return Piece("means", "Means over data sets", text)


def with_singles(frame: pd.DataFrame) -> pd.DataFrame:
    """Behind the rows of every method the single runs of k-means on its embedding."""
    import pandas as pd

    parts = [frame, single_runs(frame)]
    order = {name: place for place, name in enumerate(frame["method"].drop_duplicates())}
    both = pd.concat([part.astype(object) for part in parts if len(part)], ignore_index=True)
    place = both["method"].map(lambda name: order.get(name.removesuffix(", single runs"), len(order)))
    return both.iloc[place.argsort(kind="stable")].reset_index(drop=True).infer_objects()


def with_oracles(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of their own for what was chosen with the labels: the best of the single runs of each fit, by metric."""
    import pandas as pd

    best = oracle_runs(frame)
    chosen = {name: best[f"oracle_{name}"] for name in SCORES}
    rows = best.assign(**chosen, method=best["method"] + ", oracle best run")
    rows = rows[rows["singles"].map(lambda runs: isinstance(runs, list))]
    return pd.concat([frame, rows[frame.columns]], ignore_index=True)


def markdown_rows(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A plain Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def _trend(row: dict[str, Any]) -> tuple[object, ...]:
    """How an objective went: it has a direction, and the steps against it are shown, not hidden."""
    values = row["objective"]
    sign = 1.0 if values[-1] >= values[0] else -1.0
    steps = [sign * (a - b) / max(abs(a), 1e-300) for a, b in pairwise(values)]
    worst = f"{max(steps):.1e}" if max(steps, default=0.0) > 0 else "none"
    return row["data"], row["method"], len(values), f"{values[0]:.6g}", f"{values[-1]:.6g}", worst, row["stop"]


def _imputed(row: dict[str, Any]) -> tuple[int, int, int]:
    n, k, unseen = int(row["n"]), int(row["k"]), row["unseen"]
    kernels = sum(n * n - (n - u) ** 2 for u in unseen)
    return kernels, n * k * len(unseen), k * sum(unseen)
