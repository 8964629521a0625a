"""What methods ask of the data. A method says it; the base checks it once and names what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from conspectus.errors import InputError
from conspectus.views.say import some, view_label
from conspectus.views.table import Views


@dataclass(frozen=True)
class Requires:
    """What a method asks of the data.

    Attributes
    ----------
    max_views : int or None
        The most views it can take.
    nonnegative : bool
        Whether entries must be nonnegative (after preparation).
    common_samples : bool
        Whether some samples must be seen by several views at once.
    max_samples : int or None
        Beyond this many samples it refuses, for it holds `matrices` arrays of samples by samples.
    matrices : int
        How many such arrays it holds (times the number of views where `per_view`).
    per_view : bool
        Whether it holds them for each view.
    instead : str
        What to use where the method cannot run.
    """

    max_views: int | None = None
    nonnegative: bool = False
    common_samples: bool = False
    max_samples: int | None = None
    matrices: int = 1
    per_view: bool = False
    instead: str = "AnchorConsensus, APMC or EEIMVC"

    def words(self) -> str:
        """Return the requirements as a person reads them."""
        said = []
        if self.max_views:
            said.append("one view" if self.max_views == 1 else f"at most {self.max_views} views")
        if self.nonnegative:
            said.append("nonnegative data")
        if self.common_samples:
            said.append("samples that views share")
        if self.max_samples:
            said.append(f"at most {self.max_samples:,} samples")
        return "; ".join(said) or "-"

    def bytes(self, n: int, n_views: int) -> int:
        """Return the memory of the arrays of samples by samples."""
        return 8 * n * n * self.matrices * (n_views if self.per_view else 1)


def check(method: Any, views: Views) -> None:
    """Refuse data that the method cannot take."""
    requires: Requires = method.requires
    name = type(method).__name__
    if requires.max_views is not None and views.n_views > requires.max_views:
        advice = (
            "wrap it, as BestSingleView(...) or Concatenated(...)"
            if requires.max_views == 1
            else f"use {requires.instead}, or a pair of views"
        )
        raise InputError(f"{name} takes {requires.words()}, but there are {views.n_views}: {advice}")
    limit = getattr(method, "max_samples", requires.max_samples)
    if limit is not None and len(views) > limit:
        need = requires.bytes(len(views), views.n_views) / 2**30
        raise InputError(
            f"{name} holds matrices of samples by samples: {len(views):,} samples need {need:.1f} GiB "
            f"(it takes at most {limit:,}); use {requires.instead}"
        )
    if requires.common_samples and views.n_views > 1 and not len(views.complete):
        _refuse_strangers(name, requires, views)
    if requires.nonnegative and method._preparation in (None, "l2", "sum"):
        _refuse_negative(method, views)


def _refuse_strangers(name: str, requires: Requires, views: Views) -> None:
    """Some two views must share samples."""
    shared = views.seen.astype(np.float64).T @ views.seen
    np.fill_diagonal(shared, 0)
    if not shared.any():
        raise InputError(
            f"{name} needs samples that several views have seen, and there are none: use {requires.instead}"
        )


def _refuse_negative(method: Any, views: Views) -> None:
    """Name the first view with a negative entry."""
    for v, label in enumerate(views.names):
        if views.statistics(v).low.min() < 0:
            column = int(np.argmin(views.statistics(v).low))
            columns = views.columns[v]
            raise InputError(
                f"Negative values in data passed to {type(method).__name__}: {view_label(v, label)}, column "
                f"{some([columns[column] if columns else column])}: use prepare='clip' or prepare='minmax'"
            )
