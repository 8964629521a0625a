"""What a person wants to know about the data first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from conspectus.views.table import Views

MOST_PATTERNS = 8


def describe(views: Views) -> str:
    """Return samples, views, how many samples miss what, and the patterns of presence, as text."""
    n, seen = len(views), views.seen
    incomplete, missing = n - len(views.complete), int((~seen).sum())
    width = max([len(name) for name in views.names] + [4])
    lines = [
        f"{n:,} samples, {views.n_views} view{'s' * (views.n_views != 1)}; {incomplete:,} samples "
        f"({_percent(incomplete, n)}) miss a view, {missing:,} of {seen.size:,} entries "
        f"({_percent(missing, seen.size)}) are missing"
    ]
    lines += [
        f"  {name:<{width}}  {columns:>7,} columns  {int(seen[:, v].sum()):>9,} seen  "
        f"{int((~seen[:, v]).sum()):>9,} missing"
        for v, (name, columns) in enumerate(zip(views.names, views.widths))
    ]
    distinct, group = views.patterns
    counts = np.bincount(group, minlength=len(distinct))
    order = np.argsort(-counts, kind="stable")
    if incomplete:
        lines.append("  patterns, the most frequent first:")
        lines += [f"    {_pattern(views, distinct[g])}  {counts[g]:,}" for g in order[:MOST_PATTERNS]]
        if len(order) > MOST_PATTERNS:
            rest = order[MOST_PATTERNS:]
            lines.append(f"    {len(rest)} more patterns  {int(counts[rest].sum()):,}")
    return "\n".join(lines)


def _pattern(views: Views, row: np.ndarray) -> str:
    """One pattern as dots, with the views that it has in words."""
    dots = "".join("●" if present else "○" for present in row)
    having = [name for name, present in zip(views.names, row) if present]
    return f"{dots}  {'all views' if row.all() else ' + '.join(having) or 'no view'}"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / max(whole, 1):.0f} %"
