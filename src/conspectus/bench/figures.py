"""Figures for print: columns wide, colours that every eye can tell apart, markers and dashes besides."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from conspectus.bench.tables import PERCENT, called
from conspectus.errors import optional

if TYPE_CHECKING:
    import pandas as pd

COLUMN, PAGE = 3.5, 7.16  # inches: one and two columns of a journal
HANDLE, LETTER = 0.5, 0.062  # inches of a legend's line and of a letter in it
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C8C00")
"""Okabe and Ito's colours, with the yellow darkened for white paper."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")
DASHES = ("-", "--", "-.", ":")
STYLE = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "savefig.dpi": 300,
}


def save(figure: Any, path: str | Path) -> list[Path]:
    """Write a figure as PNG and as PDF beside each other."""
    files = [Path(path).with_suffix(kind) for kind in (".png", ".pdf")]
    files[0].parent.mkdir(parents=True, exist_ok=True)
    with _style():
        for file in files:
            figure.savefig(file)
    return files


def curves(
    frame: pd.DataFrame, x: str, metrics: Sequence[str], panels: str = "data", log: str = "", x_name: str = ""
) -> Any:
    """A metric against `x` with a line for each method and a band of one standard deviation.

    Parameters
    ----------
    frame : DataFrame
        One row a run.
    x : str
        A column of numbers: the missing ratio, a parameter, iterations, n.
    metrics : sequence of str
        One row of panels each.
    panels : str, default="data"
        One panel for each value of this column.
    log : {"", "x", "y", "xy"}
        Axes with a logarithmic scale.
    x_name : str
        What `x` is called, where its column does not say it.

    Returns
    -------
    matplotlib.figure.Figure
    """
    names, methods = frame[panels].drop_duplicates().tolist(), frame["method"].drop_duplicates().tolist()
    with _style():
        figure, axes = _grid(len(metrics), len(names))
        for row, metric in zip(axes, metrics):
            for axis, name in zip(row, names):
                part = frame[frame[panels] == name]
                _lines(axis, part, x, metric, methods)
                _dress(axis, str(name), x_name or _axis(x), called(metric), log)
        _share(axes)
        _legend(figure, axes, methods)
        return figure


def convergence(frame: pd.DataFrame, panels: str = "data") -> Any:
    """The objective after each iteration, one line a method; a panel for each data set.

    Objectives of different methods are on different scales: each line is divided by its largest absolute value.
    """
    names, methods = frame[panels].drop_duplicates().tolist(), frame["method"].drop_duplicates().tolist()
    with _style():
        figure, axes = _grid(1, len(names))
        for axis, name in zip(axes[0], names):
            part = frame[frame[panels] == name]
            for number, method in enumerate(methods):
                for objective in part.loc[part["method"] == method, "objective"].dropna().head(1):
                    values = np.asarray(objective, dtype=float)
                    steps = np.arange(1, len(values) + 1)
                    axis.plot(steps, values / np.abs(values).max(), label=method, **_look(number, len(values)))
            _dress(axis, str(name), "iteration", "objective / largest", "")
        _share(axes)
        _legend(figure, axes, methods)
        return figure


def heatmap(frame: pd.DataFrame, x: str, y: str, metric: str, panels: str = "data") -> Any:
    """The mean of a metric over two parameters, the value written in each cell; a panel for each data set."""
    names = frame[panels].drop_duplicates().tolist()
    with _style():
        figure, axes = _grid(1, len(names), wide=2.6)
        for axis, name in zip(axes[0], names):
            cells = frame[frame[panels] == name].pivot_table(index=y, columns=x, values=metric, aggfunc="mean")
            _map(axis, cells * (100 if metric in PERCENT else 1))
            axis.set(title=f"{name}: {called(metric)}", xlabel=_axis(x), ylabel=_axis(y))
        return figure


def critical(ranks: Any) -> Any:
    """Mean ranks on a line; bars join methods that are not further apart than the critical difference."""
    mean = ranks.mean
    with _style():
        figure, axes = _grid(1, 1, wide=PAGE, high=0.6 + 0.17 * len(mean))
        axis = axes[0][0]
        heights = np.arange(len(mean), 0, -1)
        axis.hlines(heights, mean - ranks.critical / 2, mean + ranks.critical / 2, color="0.75", lw=3)
        axis.plot(mean, heights, "o", color=COLOURS[0])
        axis.set(yticks=heights, yticklabels=list(mean.index), xlabel="mean rank (1 is best)")
        axis.set_title(
            f"{ranks.blocks} blocks; Friedman p = {ranks.p_value:.2g}; bars that do not overlap differ (Nemenyi, 5 %)"
        )
        return figure


def _lines(axis: Any, part: pd.DataFrame, x: str, metric: str, methods: Sequence[str]) -> None:
    scale = 100.0 if metric in PERCENT else 1.0
    for number, method in enumerate(methods):
        rows = part[part["method"] == method].dropna(subset=[metric])
        if len(rows) and rows[x].isna().all():  # a method without that parameter
            axis.axhline(rows[metric].mean() * scale, label=method, color=COLOURS[number % len(COLOURS)], ls=":")
        groups = rows.dropna(subset=[x]).groupby(x)[metric]
        mean, spread = groups.mean() * scale, groups.std(ddof=1).fillna(0.0) * scale
        if len(mean):
            look = _look(number, len(mean))
            axis.plot(mean.index, mean, label=method, **look)
            axis.fill_between(mean.index, mean - spread, mean + spread, color=look["color"], alpha=0.15, lw=0)


def _look(number: int, points: int) -> dict[str, Any]:
    """Colour, marker and dash by number; long curves carry few markers."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKERS[number % len(MARKERS)],
        "linestyle": DASHES[number // len(COLOURS) % len(DASHES)],
        "markevery": max(points // 10, 1),
    }


def _map(axis: Any, cells: pd.DataFrame) -> None:
    image = axis.imshow(cells.to_numpy(dtype=float), cmap="cividis", origin="lower", aspect="auto")
    axis.set_xticks(range(cells.shape[1]), [f"{value:g}" for value in cells.columns])
    axis.set_yticks(range(cells.shape[0]), [f"{value:g}" for value in cells.index])
    middle = float(np.nanmean(image.get_clim()))
    for i, row in enumerate(cells.to_numpy(dtype=float)):
        for j, value in enumerate(row):
            if not np.isnan(value):
                axis.text(j, i, f"{value:.1f}", ha="center", va="center", color="white" if value < middle else "black")


def _dress(axis: Any, title: str, x: str, y: str, log: str) -> None:
    axis.set(title=title, xlabel=x, ylabel=y)
    axis.grid(alpha=0.3, lw=0.4)
    for letter in log:
        getattr(axis, f"set_{letter}scale")("log")


def _axis(column: str) -> str:
    return "missing ratio" if column == "ratio" else called(column)


def _share(axes: Sequence[Sequence[Any]]) -> None:
    """Titles above the first row only, the names of x below the last."""
    for row in axes[1:]:
        for axis in row:
            axis.set_title("")
    for row in axes[:-1]:
        for axis in row:
            axis.set_xlabel("")
    for row in axes:
        for axis in row[1:]:
            axis.set_ylabel("")


def _legend(figure: Any, axes: Sequence[Sequence[Any]], methods: Sequence[str]) -> None:
    handles = {
        label: handle for row in axes for axis in row for handle, label in zip(*axis.get_legend_handles_labels())
    }
    shown = [method for method in methods if method in handles]
    if len(shown) > 1:
        width = HANDLE + LETTER * max(map(len, shown))
        columns = max(1, min(len(shown), int(figure.get_figwidth() / width)))
        figure.legend([handles[name] for name in shown], shown, loc="outside lower center", ncols=columns)


def _grid(rows: int, columns: int, wide: float | None = None, high: float = 2.3) -> tuple[Any, Sequence[Sequence[Any]]]:
    figures = optional("matplotlib.figure", "bench")
    width = min(PAGE, (wide or (COLUMN if columns == 1 else PAGE / 2)) * columns)
    figure = figures.Figure(figsize=(width, high * rows), layout="constrained")  # type: ignore[attr-defined]
    return figure, figure.subplots(rows, columns, squeeze=False)


def _style() -> Any:
    matplotlib = optional("matplotlib", "bench")
    return matplotlib.rc_context(STYLE)  # type: ignore[attr-defined]
