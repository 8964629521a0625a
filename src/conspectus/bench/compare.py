"""Are the differences between methods more than chance: mean ranks, Friedman and Nemenyi, paired differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

KEPT = 0.8
"""A method is ranked if it has a value in this share of the blocks; the blocks without the others' gaps are used."""


@dataclass(frozen=True)
class Ranks:
    """Mean ranks over blocks (1 is best) and how far two must be apart.

    Attributes
    ----------
    mean : Series
        Mean rank by method, the best first.
    blocks : int
        Blocks in which every ranked method has a value.
    p_value : float
        Of Friedman's test that all methods are alike.
    critical : float
        Nemenyi's critical difference at level .05.
    left_out : tuple of str
        Methods with a value in too few blocks.
    """

    mean: pd.Series
    blocks: int
    p_value: float
    critical: float
    left_out: tuple[str, ...]


def ranks(frame: pd.DataFrame, metric: str, blocks: Sequence[str] = ("data", "ratio"), alpha: float = 0.05) -> Ranks:
    """Rank the methods within each block and average.

    Parameters
    ----------
    frame : DataFrame
        One row a run.
    metric : str
        Of which more is better.
    blocks : sequence of str
        Columns that name a block; the runs in it are averaged first.
    alpha : float, default=0.05
        Level of the critical difference.

    Returns
    -------
    Ranks
    """
    from scipy.stats import friedmanchisquare

    scores = _blocks(frame, metric, blocks)
    kept = scores.loc[:, scores.notna().mean() >= KEPT]
    left_out = tuple(str(name) for name in scores.columns.difference(kept.columns, sort=False))
    kept = kept.dropna()
    mean = kept.rank(axis=1, ascending=False).mean().sort_values()
    enough = kept.shape[1] > 2 and len(kept) > 1
    p_value = float(friedmanchisquare(*kept.to_numpy().T).pvalue) if enough else float("nan")
    return Ranks(mean, len(kept), p_value, critical_difference(kept.shape[1], len(kept), alpha), left_out)


def critical_difference(methods: int, blocks: int, alpha: float = 0.05) -> float:
    """Nemenyi's critical difference of mean ranks: the quantile of the studentised range over sqrt 2, scaled."""
    from scipy.stats import studentized_range

    if methods < 2 or blocks < 1:
        return float("nan")
    q = float(studentized_range.ppf(1 - alpha, methods, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(methods * (methods + 1) / (6 * blocks)))


def paired(frame: pd.DataFrame, metric: str, reference: str, cell: Sequence[str] = ("data", "ratio")) -> pd.DataFrame:
    """The reference minus every other method on the cells that both have, with standard errors.

    Cells of one data set are not independent: the honest error is the one over sets, of the means within each set.

    Parameters
    ----------
    frame : DataFrame
        One row a run.
    metric : str
        The column compared.
    reference : str
        The method that the others are subtracted from.
    cell : sequence of str
        Columns that name a cell; the first is the data set.

    Returns
    -------
    DataFrame
        By method: cells, mean and error over cells, sets, mean and error over sets, and sets on which it is ahead.
    """
    import pandas as pd

    scores = _blocks(frame, metric, cell)
    others = [name for name in scores.columns if name != reference]
    lines = {name: _difference(scores[reference] - scores[name], cell[0]) for name in others}
    return pd.DataFrame.from_dict(lines, orient="index")


def _difference(difference: pd.Series, level: str) -> dict[str, float]:
    cells = difference.dropna()
    sets = cells.groupby(level=level, sort=False).mean()
    by_cell = {"cells": len(cells), "by cell": cells.mean(), "se by cell": cells.sem()}
    return {
        **by_cell,
        "sets": len(sets),
        "by set": sets.mean(),
        "se by set": sets.sem(),
        "ahead": int((sets > 0).sum()),
    }


def _blocks(frame: pd.DataFrame, metric: str, blocks: Sequence[str]) -> pd.DataFrame:
    """Mean of each method (columns) in each block (rows)."""
    means = frame.groupby([*blocks, "method"], sort=False, dropna=False)[metric].mean()
    return means.unstack("method")
