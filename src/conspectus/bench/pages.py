"""What an experiment prints: its tables beside the printed numbers, as one Markdown page and as files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from conspectus.bench import beside, figures
from conspectus.bench.experiments.base import Experiment
from conspectus.bench.printed import printed
from conspectus.bench.results import NOT_RUN, frame
from conspectus.bench.shows import Piece, with_oracles
from conspectus.bench.store import Store
from conspectus.bench.tables import RENDER

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Page:
    """An experiment's rows, what is made of them, and how they stand to the printed numbers."""

    experiment: Experiment
    rows: pd.DataFrame
    pieces: tuple[Piece, ...]
    pairs: tuple[beside.Pair, ...]
    oracle: bool = False

    @property
    def text(self) -> str:
        """The page in Markdown, with a heading of the second level."""
        parts = [f"## {self.experiment.title}", self._command(), _bullets(self._notes())]
        for piece in self.pieces:
            parts += [f"### {piece.title}"] if piece.title else []
            parts += [piece.text]
        if self.pairs:
            parts += ["### Beside the paper", _measured(self.pairs, self.oracle)]
        return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"

    def _command(self) -> str:
        return f"    conspectus bench run {self.experiment.name}{self.experiment.options}"

    def _notes(self) -> list[str]:
        return [*_coverage(self.rows), *self.experiment.plan.words(), *self.experiment.notes]

    def write(self, folder: Path) -> list[Path]:
        """The page, each table as Markdown, LaTeX and CSV, each figure as PNG and PDF."""
        folder.mkdir(parents=True, exist_ok=True)
        written = [_write(folder / f"{self.experiment.name}.md", self.text)]
        for piece in self.pieces:
            for number, table in enumerate(piece.tables, start=1):
                stem = f"{piece.name}-{table.metric}" + (f"-{number}" if len(piece.tables) > 1 else "")
                written += [_write(folder / f"{stem}.{kind}", render(table)) for kind, render in RENDER.items()]
            if piece.figure is not None:
                written += figures.save(piece.figure, folder / piece.name)
        return written


def page(experiment: Experiment, store: Store, *, drawn: bool = False, oracle: bool = False) -> Page:
    """Make an experiment's page from what the store has.

    Parameters
    ----------
    experiment : Experiment
        Whole, or `Experiment.quick`.
    store : Store
        Where its rows are.
    drawn : bool, default=False
        Make figures, too (needs matplotlib).
    oracle : bool, default=False
        Also show what was chosen with the labels.

    Returns
    -------
    Page
    """
    rows = frame(experiment.plan.tasks, store)
    if not len(rows):
        return Page(experiment, rows, (), ())
    begun = set(rows.loc[rows["why"] != NOT_RUN, "method"])
    shown = rows[rows["method"].isin(begun) & ~rows["printed_method"].str.contains("oracle=")]
    shown = with_oracles(shown) if oracle else shown
    pieces = tuple(show.make(shown, drawn=drawn) for show in experiment.shows) if len(shown) else ()
    pairs = tuple(beside.beside(experiment.reading, rows, oracle=oracle))
    return Page(experiment, rows, pieces, pairs, oracle)


def _measured(pairs: Sequence[beside.Pair], oracle: bool) -> str:
    return f"{beside.summary(pairs)}\n\n{beside.by_method(pairs)}\n{beside.markdown(pairs, oracle=oracle)}"


def _coverage(rows: pd.DataFrame) -> list[str]:
    """How much of the experiment the numbers rest on."""
    if not len(rows):
        return ["nothing of this experiment can be run here"]
    left = int((rows["why"] == NOT_RUN).sum())
    failed = int(rows["error"].notna().sum())
    masks = rows.loc[rows["why"] != NOT_RUN, "mask"].nunique()
    said = f"{len(rows) - left} of {len(rows)} tasks are in the store"
    said += f", of {masks} masks" if masks > 1 else ""
    said += f"; {failed} of them gave no result, for the reasons below the tables" if failed else ""
    begun = set(rows.loc[rows["why"] != NOT_RUN, "method"])
    waiting = [name for name in rows["method"].drop_duplicates() if name not in begun]
    return [said, *([f"not run yet: {', '.join(waiting)}"] if waiting else [])]


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf8")
    return path


def has_printed(experiment: Experiment) -> bool:
    """Whether the paper prints numbers for it."""
    return bool(printed(experiment.name))
