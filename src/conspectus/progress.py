"""A progress bar with the objective, shown on standard error where it was asked for."""

from __future__ import annotations

from types import TracebackType
from typing import Any


class Progress:
    """Shows how far a run is; does nothing when it is not shown."""

    def __init__(self, label: str, total: int, *, shown: bool) -> None:
        self._label, self._total, self._shown = label, total, shown
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        if self._shown:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("objective {task.fields[objective]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            self._task = self._bar.add_task(self._label, total=self._total, objective="-")
            self._bar.start()
        return self

    def update(self, done: int, objective: float) -> None:
        """Say that `done` iterations are made."""
        if self._bar is not None:
            self._bar.update(self._task, completed=done, objective=f"{objective:.6g}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
