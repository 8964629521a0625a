"""Tables of results: mean and deviation, the best and the second marked, "-" with its reason where there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

NAMES = {
    "acc": "ACC",
    "nmi": "NMI",
    "nmi_geometric": "NMI, geometric mean",
    "nmi_max": "NMI, larger entropy",
    "nmi_min": "NMI, smaller entropy",
    "f1": "F1",
    "ari": "adjusted Rand index",
    "ri": "Rand index",
    "cpu_seconds": "CPU seconds",
    "memory_mb": "peak memory, MiB",
}
PERCENT = ("acc", "nmi", "nmi_geometric", "nmi_max", "nmi_min", "purity", "f1", "ari", "ri")


@dataclass(frozen=True)
class Table:
    """A metric by method (rows) and setting (columns).

    Attributes
    ----------
    mean, std, count : DataFrame
        Over the runs of a cell; NaN and 0 where no run gave a value.
    why : DataFrame of str
        Why a cell is empty.
    metric : str
        What is shown; scores are shown in percent.
    across : bool
        Whether what is compared stands in the columns: the best is then marked in each row.
    marked : bool
        Whether the best and the second are marked at all: where settings are compared, there is nothing to win.
    """

    mean: pd.DataFrame
    std: pd.DataFrame
    count: pd.DataFrame
    why: pd.DataFrame
    metric: str
    across: bool = False
    marked: bool = True

    @property
    def scale(self) -> float:
        """Scores are fractions in the store and percents in a table."""
        return 100.0 if self.metric.removeprefix("oracle_") in PERCENT else 1.0


def called(column: str) -> str:
    """How a column is called in captions and on axes."""
    name = NAMES.get(column, column.split(".")[-1].replace("_", " "))
    return f"{name} (%)" if column in PERCENT else name


def table(frame: pd.DataFrame, metric: str, columns: Sequence[str] = ("data",), rows: str = "method") -> Table:
    """Put the runs of a frame into the cells of a table, in the order of their first appearance.

    Parameters
    ----------
    frame : DataFrame
        One row a run, as `conspectus.bench.results.frame` gives it.
    metric : str
        A column of numbers.
    columns, rows : str
        The columns of the frame that name the columns and the rows of the table.

    Returns
    -------
    Table
    """
    columns = list(columns)
    frame = frame.assign(**{name: frame[name].astype(object).where(frame[name].notna(), "any") for name in columns})
    groups = frame.groupby([rows, *columns], sort=False, dropna=False)
    order = frame[rows].drop_duplicates(), frame[columns].drop_duplicates()

    def spread(values: pd.Series) -> pd.DataFrame:
        wide = values.unstack(columns)
        keys = [tuple(record) if len(columns) > 1 else record[0] for record in order[1].itertuples(index=False)]
        return wide.reindex(index=order[0].tolist(), columns=keys)

    cells = groups[metric]
    count = spread(cells.count()).fillna(0).astype(int)
    why = spread(groups["why"].agg(_reason))
    return Table(spread(cells.mean()), spread(cells.std(ddof=1)), count, why, metric, columns == ["method"])


def markdown(table: Table) -> str:
    """A Markdown table: best bold, second underlined, reasons for empty cells below."""
    cells, reasons = _cells(table, _MARKDOWN)
    head = ["", *(_column(name) for name in table.mean.columns)]
    lines = [_bar(head), _bar(["---"] + ["---:"] * (len(head) - 1))]
    lines += [_bar([str(name), *row]) for name, row in zip(table.mean.index, cells)]
    notes = [f"- {mark}: {reason}" for reason, mark in reasons.items()]
    return "\n".join([*lines, *([""] if notes else []), *notes]) + "\n"


def latex(table: Table) -> str:
    """A LaTeX tabular for the package booktabs."""
    cells, reasons = _cells(table, _LATEX)
    head = ["", *(_plain(_column(name)) for name in table.mean.columns)]
    body = [" & ".join([_plain(str(name)), *row]) + r" \\" for name, row in zip(table.mean.index, cells)]
    begin = [rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}", r"\toprule", " & ".join(head) + r" \\", r"\midrule"]
    notes = [f"% {mark}: {reason}" for reason, mark in reasons.items()]
    return "\n".join([*begin, *body, r"\bottomrule", r"\end{tabular}", *notes]) + "\n"


def csv(table: Table) -> str:
    """Long CSV, one line a cell: row, column, mean, std, count, reason."""
    import pandas as pd

    flat = {name: getattr(table, name).copy() for name in ("mean", "std", "count", "why")}
    for part in flat.values():
        part.columns = [_column(name) for name in part.columns]
    long = {name: part.rename_axis("row").reset_index().melt("row") for name, part in flat.items()}
    columns = {"row": long["mean"]["row"], "column": long["mean"]["variable"], "metric": table.metric}
    values = {name: part["value"] for name, part in long.items()}
    return str(pd.DataFrame({**columns, **values}).to_csv(index=False, lineterminator="\n"))


RENDER: dict[str, Callable[[Table], str]] = {"md": markdown, "tex": latex, "csv": csv}


@dataclass(frozen=True)
class _Style:
    best: str
    second: str
    plus: str
    mark: str


_MARKDOWN = _Style("**{}**", "<u>{}</u>", " ± ", "<sup>{}</sup>")
_LATEX = _Style(r"\textbf{{{}}}", r"\underline{{{}}}", r" $\pm$ ", "$^{{{}}}$")


def _cells(table: Table, style: _Style) -> tuple[list[list[str]], dict[str, str]]:
    """The text of every cell, and a letter for every reason of an empty one."""
    shown = (table.mean * table.scale).round(_digits(table.metric))
    best, second = _marks(table, shown)
    reasons: dict[str, str] = {}
    text = []
    for row in shown.index:
        line = []
        for column in shown.columns:
            if table.count.at[row, column] == 0:
                line.append("-" + _footnote(table.why.at[row, column], reasons, style))
            else:
                line.append(_number(table, row, column, style, best.at[row, column], second.at[row, column]))
        text.append(line)
    return text, reasons


def _number(table: Table, row: object, column: object, style: _Style, best: bool, second: bool) -> str:
    digits = _digits(table.metric)
    text = f"{table.mean.at[row, column] * table.scale:.{digits}f}"
    if table.count.at[row, column] > 1:
        text += f"{style.plus}{table.std.at[row, column] * table.scale:.{digits}f}"
    return style.best.format(text) if best else style.second.format(text) if second else text


def _footnote(reason: object, reasons: dict[str, str], style: _Style) -> str:
    if not isinstance(reason, str) or not reason:
        return ""
    return style.mark.format(reasons.setdefault(reason, _letter(len(reasons))))


def _letter(number: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    head, last = divmod(number, 26)
    return (_letter(head - 1) if head else "") + chr(ord("a") + last)


def _marks(table: Table, shown: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    if not table.marked:
        return shown != shown, shown != shown
    best, second = _ranked(shown.T if table.across else shown, table.metric)
    return (best.T, second.T) if table.across else (best, second)


def _ranked(shown: pd.DataFrame, metric: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Where the best and where the second value of each column stands; what looks equal ranks equal."""
    better = -shown if metric in LOWER else shown
    ranks = better.rank(method="dense", ascending=False)
    several = shown.notna().sum() > 1
    return (ranks == 1) & several, (ranks == 2) & several


LOWER = ("seconds", "cpu_seconds", "memory_mb", "iterations")
"""Of these less is better."""


def _digits(metric: str) -> int:
    return 2 if metric in PERCENT or metric in ("seconds", "cpu_seconds") else 1


def _column(name: object) -> str:
    parts = name if isinstance(name, tuple) else (name,)
    said = " ".join(
        f"{part:g}" if isinstance(part, float) else str(part) for part in parts if part == part and part != ""
    )
    return said or "any"


def _bar(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _plain(text: str) -> str:
    return "".join("\\" + sign if sign in "&%$#_{}" else sign for sign in text)


def _reason(values: pd.Series) -> str:
    """The most frequent reason of a group."""
    stated = values.dropna()
    return str(stated.mode().iloc[0]) if len(stated) else ""
