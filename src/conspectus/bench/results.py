"""The rows of an experiment as one table: labels from its grids, values from the store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from conspectus.bench.grid import Task
from conspectus.bench.methods import revision
from conspectus.bench.store import COLUMNS, SCORES, Store

if TYPE_CHECKING:
    import pandas as pd

NOT_RUN = "not run"


def frame(tasks: Iterable[Task], store: Store) -> pd.DataFrame:
    """One row a task: how tables call it, its parameters (``param.*``), and what the store has under its key.

    Parameters
    ----------
    tasks : iterable of Task
        Of one or several grids.
    store : Store
        Where the rows are.

    Returns
    -------
    DataFrame
        With a column ``why`` that says why a row has no scores.
    """
    import pandas as pd

    keys = {task.key(revision(task.method.name)): task for task in tasks}
    rows = store.latest(keys)
    lines = [{"key": key, **_labels(task), **_values(rows.get(key))} for key, task in keys.items()]
    return pd.DataFrame(lines)


def single_runs(frame: pd.DataFrame, suffix: str = ", single runs") -> pd.DataFrame:
    """The runs of k-means on each embedding as rows of their own: what a paper's "mean of 20 runs" means."""
    import pandas as pd

    lines = [
        {**row, **scores, "method": row["method"] + suffix}
        for row in frame.to_dict("records")
        for scores in (row["singles"] if isinstance(row["singles"], list) else [dict.fromkeys(SCORES)])
    ]
    return pd.DataFrame(lines, columns=frame.columns)


def oracle_runs(frame: pd.DataFrame) -> pd.DataFrame:
    """Add ``oracle_<metric>``: the best of the single runs of each row, chosen with the labels."""
    best = {
        f"oracle_{name}": [
            max((run[name] for run in runs), default=None) if isinstance(runs, list) else None
            for runs in frame["singles"]
        ]
        for name in SCORES
    }
    return frame.assign(**best)


def oracle_settings(frame: pd.DataFrame, metric: str, keep: Sequence[str]) -> pd.DataFrame:
    """Of several settings of one thing the best mean, chosen with the labels: `keep` names the columns that stay.

    The metric comes back as ``oracle_<metric>``, and ``setting`` says which was chosen.
    """
    means = frame.groupby([*keep, "params"], sort=False, dropna=False)[metric].mean().dropna().reset_index()
    best = means.loc[means.groupby(list(keep), sort=False, dropna=False)[metric].idxmax()]
    return best.rename(columns={metric: f"oracle_{metric}", "params": "setting"}).reset_index(drop=True)


def _labels(task: Task) -> dict[str, Any]:
    parts = {"data": task.data.title, "method": task.method.title, "missing": task.missing.label}
    cell = task.data.title if task.ratio is None else f"{task.data.title} {task.ratio:g}"
    seeds = {"ratio": task.ratio, "mask": task.mask, "start": task.start, "cell": cell}
    params = {f"param.{name}": value for name, value in task.method.params.items()}
    size = {f"data.{name}": value for name, value in task.data.params.items()}
    text = ", ".join(f"{name}={value}" for name, value in task.method.params.items())
    printed = {"printed": ";".join(filter(None, (task.data.printed or task.data.title, task.missing.printed)))}
    named = {"printed_method": task.method.printed or task.method.name, "instead_of": task.data.instead_of}
    return {**parts, **seeds, "params": text, **params, **size, **printed, **named}


def _values(row: dict[str, Any] | None) -> dict[str, Any]:
    if row is None:
        return {**dict.fromkeys(COLUMNS[1:]), "why": NOT_RUN}
    why = f"{row['error']}: {row['message']}" if row["error"] else None
    return {**{name: row[name] for name in COLUMNS[1:]}, "why": why}
