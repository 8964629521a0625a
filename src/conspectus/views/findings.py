"""What is odd about the data: said as warnings when a method is fitted."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from conspectus._typing import Int
from conspectus.errors import DataWarning
from conspectus.numerics.backend import to_numpy
from conspectus.views.say import some, view_label

if TYPE_CHECKING:
    from conspectus.views.table import Views


@dataclass(frozen=True)
class Finding:
    """One odd thing: which view, what kind, how many, and a sentence with the remedy."""

    view: int
    kind: str
    count: int
    text: str


def warn_about(views: Views) -> None:
    """Give one `DataWarning` for each view that has findings."""
    found = findings(views)
    for v in sorted({finding.view for finding in found}):
        text = "; ".join(finding.text for finding in found if finding.view == v)
        warnings.warn(f"{view_label(v, views.names[v])}: {text}", DataWarning, stacklevel=4)


def findings(views: Views) -> list[Finding]:
    """Look for what spoils results without being an error."""
    found = strangers(views)
    if not views.square:
        for v in range(views.n_views):
            found += _of_view(views, v)
    return found


def overlaps(views: Views) -> Int:
    """Return how many samples each two views share."""
    seen = views.seen.astype(np.float64)  # a product of integers is not a BLAS product
    return np.asarray(np.rint(seen.T @ seen), dtype=np.int64)


def strangers(views: Views) -> list[Finding]:
    """Find views that no chain of shared samples connects with the first ones."""
    n_groups, group = connected_components(sparse.csr_array(overlaps(views) > 0), directed=False)
    if n_groups < 2:
        return []
    largest = np.bincount(group).argmax()
    return [
        Finding(
            v,
            "shares no sample",
            int(views.seen[:, v].sum()),
            f"it shares no sample with {some(n for n, g in zip(views.names, group) if g != group[v])}: clusters of the "
            "two sides cannot be matched; add samples that both have seen",
        )
        for v in range(views.n_views)
        if group[v] != largest
    ]


def _of_view(views: Views, v: int) -> list[Finding]:
    """Look at one view's columns and rows."""
    facts, found = views.statistics(v), []
    constant = facts.constant
    if constant.all():
        found.append(Finding(v, "constant view", len(constant), "every column is constant: leave the view out"))
    elif constant.any():
        names: tuple[Any, ...] = views.columns[v] or tuple(range(len(constant)))
        which = some(names[j] for j in np.flatnonzero(constant))
        found.append(
            Finding(v, "constant column", int(constant.sum()), f"constant columns ({which}) say nothing: drop them")
        )
    dense = not sparse.issparse(views.sources[v])
    if dense and facts.zero_rows > 0.01 * facts.count and not constant.all():
        found.append(
            Finding(
                v,
                "zero rows",
                facts.zero_rows,
                f"{facts.zero_rows} of {facts.count} rows are all zero: if they stand for absent samples, "
                "use as_views(..., zero_rows='unseen')",
            )
        )
    if facts.whole and facts.low.min() >= 0 and facts.high.max() > 1000 * _typical(views, v):
        text = f"counts reach {facts.high.max():.0f}, far above their median: use prepare='log1p'"
        found.append(Finding(v, "counts", int(facts.nonzero.sum()), text))
    return found


def _typical(views: Views, v: int) -> float:
    """The median of the non-zero entries of the first rows."""
    data = views.rows(views.observed(v)[: views.chunk]).data(v)
    values = data.data if sparse.issparse(data) else to_numpy(data).reshape(-1)
    values = values[values != 0]
    return float(np.median(values)) if len(values) else np.inf
