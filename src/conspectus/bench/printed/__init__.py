"""The numbers that the papers print, so that every experiment can stand beside them."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

COLUMNS = ("experiment", "dataset", "setting", "method", "metric", "value", "std", "note")
METRICS = ("acc", "nmi", "purity", "f1", "ari", "ri", "seconds")


@dataclass(frozen=True, slots=True)
class PrintedCell:
    """One number of a paper, with all that is needed to find ours beside it.

    Attributes
    ----------
    experiment : str
        The named experiment that repeats the table or figure, as ``"apmc-table1"``.
    dataset : str
        The data set under the paper's name for it.
    setting : str
        What varies in the table, as ``"per=0.1;sf=0.3"``; empty where nothing does.
    method : str
        The name of the method in :func:`conspectus.all_methods`; the paper's label, where it differs, is in the note.
    metric : str
        One of :data:`METRICS`.
    value, std : float or None
        As printed. None where the paper has no number, or the scan does not say whose it is; the note tells which.
    note : str
        Remarks, separated by ``"; "``.
    """

    experiment: str
    dataset: str
    setting: str
    method: str
    metric: str
    value: float | None
    std: float | None
    note: str

    @property
    def settings(self) -> dict[str, str]:
        """The setting as a dictionary, in the order in which it is written."""
        return dict(pair.split("=", 1) for pair in self.setting.split(";") if pair)

    @property
    def percent(self) -> float | None:
        """The value in percent, whether the paper prints percents or fractions."""
        if self.value is None or "fraction" not in self.note.split("; "):
            return self.value
        return 100 * self.value

    @property
    def difference(self) -> bool:
        """Whether the number is what the method gains on the one named by ``minus`` in the setting, not a score."""
        return "minus" in self.settings


def printed(experiment: str) -> list[PrintedCell]:
    """Give the numbers that a paper prints for an experiment, to be shown beside ours.

    Parameters
    ----------
    experiment : str
        The name of an experiment, as in ``conspectus bench list``.

    Returns
    -------
    list of PrintedCell
        In the order of the paper; empty for an experiment whose paper shows curves and no numbers.

    Examples
    --------
    >>> [cell.value for cell in printed("gpmvc-table2")[:2]]
    [0.81, 0.708]
    """
    return [cell for cell in _cells() if cell.experiment == experiment]


@cache
def _cells() -> tuple[PrintedCell, ...]:
    tables = sorted((f for f in files(__name__).iterdir() if f.name.endswith(".csv")), key=lambda f: f.name)
    return tuple(_cell(row) for f in tables for row in csv.DictReader(f.read_text(encoding="utf8").splitlines()))


def _cell(row: dict[str, str]) -> PrintedCell:
    return PrintedCell(
        experiment=row["experiment"],
        dataset=row["dataset"],
        setting=row["setting"],
        method=row["method"],
        metric=row["metric"],
        value=_number(row["value"]),
        std=_number(row["std"]),
        note=row["note"],
    )


def _number(text: str) -> float | None:
    return float(text) if text else None
