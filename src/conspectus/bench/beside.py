"""Ours beside the printed: every number of a paper's table, with the difference, misses included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from conspectus.bench.printed import PrintedCell, printed
from conspectus.bench.results import oracle_runs, single_runs
from conspectus.bench.tables import PERCENT

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Pair:
    """A printed number and ours, in percent (seconds as they are); None where there is none, and `note` says why."""

    cell: PrintedCell
    ours: float | None
    std: float | None
    single: float | None
    single_std: float | None
    oracle: float | None
    note: str

    @property
    def difference(self) -> float | None:
        """Ours minus the printed; the single runs' mean where the paper reports a mean of runs and we have it."""
        mine = self.ours if self.single is None else self.single
        return None if mine is None or self.cell.percent is None else mine - self.cell.percent


@dataclass(frozen=True)
class Reading:
    """How to find our rows for a printed number: what the ratio is called, which NMI the paper means, what we lack."""

    experiment: str
    ratio: str = ""
    nmi: str = "nmi"
    absent: tuple[str, ...] = ()
    """Data sets and methods that are not there."""


def beside(reading: Reading, frame: pd.DataFrame, *, oracle: bool = False) -> list[Pair]:
    """Put our rows beside the numbers that the paper prints for the same setting.

    Parameters
    ----------
    reading : Reading
        Which experiment, and how its paper names things.
    frame : DataFrame
        The experiment's rows.
    oracle : bool, default=False
        Also the best of the single runs, and of the settings that a paper chose with the labels.

    Returns
    -------
    list of Pair
        In the order of the paper; a printed number that we have nothing for is there, too.
    """
    facts = [_facts(row, reading.ratio) for row in frame.to_dict("records")]
    columns = {name: [fact[place] for fact in facts] for place, name in enumerate(("dataset", "known_as", "facts"))}
    parts = dict(list(frame.assign(**columns).groupby(["dataset", "known_as"])))
    return [_pair(cell, reading, _Rows(parts, frame, reading.ratio), oracle) for cell in printed(reading.experiment)]


def summary(pairs: Sequence[Pair]) -> str:
    """Mean, root mean square and range of the differences, in one line."""
    differences = np.array([pair.difference for pair in pairs if pair.difference is not None])
    if not len(differences):
        return "No cell has both numbers yet."
    mean, spread = differences.mean(), np.sqrt(np.mean(differences**2))
    return (
        f"{len(differences)} of {len(pairs)} printed numbers have ours beside them: mean difference {mean:+.2f}, "
        f"root mean square {spread:.2f}, range {differences.min():+.2f} to {differences.max():+.2f}."
    )


def by_method(pairs: Sequence[Pair]) -> str:
    """The same for each method, as a Markdown table; a method that was not tuned as in its paper shows here."""
    lines = []
    for method in dict.fromkeys(pair.cell.method for pair in pairs):
        mine = [pair.difference for pair in pairs if pair.cell.method == method and pair.difference is not None]
        if mine:
            spread = float(np.sqrt(np.mean(np.square(mine))))
            lines.append([method, str(len(mine)), f"{np.mean(mine):+.2f}", f"{spread:.2f}"])
    head = ["method", "numbers", "mean difference", "root mean square"]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *lines]) + "\n"


def markdown(pairs: Sequence[Pair], *, oracle: bool = False) -> str:
    """All pairs as one Markdown table."""
    head = ["data set", "setting", "method", "metric", "printed", "ours", "ours, single runs", "difference", "note"]
    head[7:7] = ["ours, oracle"] if oracle else []
    lines = [head, ["---"] * len(head), *(_line(pair, oracle) for pair in pairs)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _line(pair: Pair, oracle: bool) -> list[str]:
    cell = pair.cell
    best = [_number(pair.oracle)] if oracle else []
    mine = [_number(pair.ours, pair.std), _number(pair.single, pair.single_std), *best]
    difference = "" if pair.difference is None else f"{pair.difference:+.2f}"
    scale = 1.0 if cell.value in (None, 0.0) else cell.percent / cell.value  # type: ignore[operator]
    theirs = _number(cell.percent, None if cell.std is None else cell.std * scale)
    return [cell.dataset, cell.setting, cell.method, cell.metric, theirs, *mine, difference, pair.note]


def _number(value: float | None, std: float | None = None) -> str:
    if value is None:
        return ""
    return f"{value:.2f}" if std is None or np.isnan(std) else f"{value:.2f} ± {std:.2f}"


def _facts(row: dict[str, object], ratio: str) -> tuple[str, str, dict[str, str]]:
    """Data set, method and setting of a row in the words of the printed files."""
    dataset, *pairs = f"{row['printed']}".split(";")
    method, *own = f"{row['printed_method']}".split(";")
    facts = dict(pair.split("=", 1) for pair in (*pairs, *own))
    value = row["ratio"]
    known = ratio and value is not None and value == value
    return dataset, method, {**facts, ratio: f"{value:g}"} if known else facts


@dataclass(frozen=True)
class _Rows:
    """The rows of an experiment by data set and method."""

    parts: dict[tuple[str, str], pd.DataFrame]
    frame: pd.DataFrame
    ratio: str

    def of(self, dataset: str, method: str, settings: dict[str, str]) -> pd.DataFrame:
        """Rows with exactly these settings; a printed mean over the ratios takes them all."""
        part = self.parts.get((dataset, method))
        if part is None:
            return self.frame.iloc[:0]
        wanted = {name: value for name, value in settings.items() if (name, value) != (self.ratio, "aggregated")}
        free = {self.ratio} - set(wanted)
        return part[[{n: v for n, v in facts.items() if n not in free} == wanted for facts in part["facts"]]]


def _pair(cell: PrintedCell, reading: Reading, rows: _Rows, oracle: bool) -> Pair:
    metric = reading.nmi if cell.metric == "nmi" else cell.metric
    settings = {name: value for name, value in cell.settings.items() if not name.startswith("minus")}
    mine = rows.of(cell.dataset, cell.method, settings)
    if cell.difference:
        gain = _gain(cell, reading, rows, mine, metric)
        return Pair(cell, gain, None, None, None, None, _note(cell, mine, reading))
    best = _oracle(cell, settings, rows, metric) if oracle else None
    return Pair(cell, *_mean(mine, metric), *_mean(single_runs(mine), metric), best, _note(cell, mine, reading))


def _gain(cell: PrintedCell, reading: Reading, rows: _Rows, mine: pd.DataFrame, metric: str) -> float | None:
    """What the method gains on the one that the paper subtracts, in the same setting."""
    kept = {name: value for name, value in cell.settings.items() if name == reading.ratio}
    other = {name[6:]: value for name, value in cell.settings.items() if name.startswith("minus_")}
    theirs = rows.of(cell.dataset, cell.settings["minus"], {**kept, **other})
    ours, lost = _mean(mine, metric)[0], _mean(theirs, metric)[0]
    return None if ours is None or lost is None else ours - lost


def _mean(rows: pd.DataFrame, metric: str) -> tuple[float | None, float | None]:
    """Mean over ratios first, then mean and deviation over the runs."""
    if metric not in rows or not rows[metric].notna().any():
        return None, None
    scale = 100.0 if metric in PERCENT else 1.0
    rows = rows.dropna(subset=[metric])
    run = rows.groupby(["ratio", "mask", "start"], dropna=False).cumcount()
    runs = rows.assign(run=run).groupby(["mask", "start", "run"], dropna=False)[metric].mean() * scale
    return float(runs.mean()), float(runs.std(ddof=1)) if len(runs) > 1 else None


def _oracle(cell: PrintedCell, settings: dict[str, str], rows: _Rows, metric: str) -> float | None:
    """The best run of each fit; where a paper chose a parameter with the labels, the best of its settings."""
    found = []
    for chosen in ({}, {"oracle": "settings"}):
        mine = rows.of(cell.dataset, cell.method, {**settings, **chosen})
        means = (_mean(oracle_runs(part), f"oracle_{metric}")[0] for _, part in mine.groupby("params"))
        found += [mean for mean in means if mean is not None]
    return 100.0 * max(found) if found else None


def _note(cell: PrintedCell, rows: pd.DataFrame, reading: Reading) -> str:
    """What the transcription says, what stands in for the data, and why we have nothing."""
    lacking = [f"{name} is not there" for name in (cell.dataset, cell.method) if name in reading.absent]
    instead = [f"{name} is not there" for name in rows["instead_of"].unique() if name]
    other = [f"ours on {row}" for row in rows.loc[rows["instead_of"] != "", "data"].unique()]
    why = rows["why"].dropna().unique().tolist() if len(rows) and rows["why"].notna().all() else []
    return "; ".join(filter(None, [cell.note, *lacking, *instead, *other, *(str(reason) for reason in why[:1])]))
