"""What a clustering is, in a few lines or as a record: samples, views, who misses what, sizes of the clusters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from conspectus._typing import Float, Int


def summary_record(name: str, model: Any, views: Any, seconds: float) -> dict[str, Any]:
    """Return the summary of a fitted model as plain values, ready for JSON."""
    seen = model.views_seen_  # a method may read rows of zeros as not seen
    return {
        "method": name,
        "parameters": {key: _plain(value) for key, value in model.get_params(deep=False).items()},
        "samples": len(views),
        "incomplete_samples": int((~seen.all(axis=1)).sum()),
        "views": [
            {"name": view, "columns": width, "seen": int(seen[:, v].sum()), "missing": int((~seen[:, v]).sum())}
            for v, (view, width) in enumerate(zip(views.names, views.widths))
        ],
        "zero_rows_read_as_unseen": getattr(model, "zero_rows_", {}),
        "preparation": model.preparation_.notes_,
        "clusters": cluster_rows(model.labels_, seen.all(axis=1), model.confidence()),
        "seconds": round(seconds, 3),
    }


def cluster_rows(labels: Int, complete: Any, confidence: Float) -> list[dict[str, Any]]:
    """Return size, incomplete samples and mean confidence of each cluster."""
    return [
        {
            "label": int(label),
            "samples": int((labels == label).sum()),
            "incomplete": int((~complete[labels == label]).sum()),
            "confidence": round(float(confidence[labels == label].mean()), 4),
        }
        for label in np.unique(labels)
    ]


def summary_text(name: str, model: Any, views: Any, seconds: float) -> None:
    """Print the summary of a fitted model for a person."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print("\n".join([views.summary(), *_how_it_was_read(model)]))
    table = Table("cluster", "samples", "share", "incomplete", "confidence", box=None, header_style="bold")
    for column in table.columns:
        column.justify = "right"
    for row in cluster_rows(model.labels_, model.views_seen_.all(axis=1), model.confidence()):
        share = f"{row['samples'] / len(views):.1%}"
        counts = (f"{row['label']}", f"{row['samples']:,}", share, f"{row['incomplete']:,}", f"{row['confidence']:.2f}")
        table.add_row(*counts)
    console.print(table)
    console.print(f"{name}: {len(table.rows)} clusters in {seconds:.1f} s")


def _how_it_was_read(model: Any) -> Iterator[str]:
    """Lines on what was done to the data before they were clustered."""
    zeros = {name: count for name, count in getattr(model, "zero_rows_", {}).items() if count}
    if zeros:
        yield f"  rows of zeros read as not seen: {', '.join(f'{name} {count:,}' for name, count in zeros.items())}"
    notes = model.preparation_.notes_
    if len(set(notes.values())) == 1:
        notes = {"each view": next(iter(notes.values()))}
    width = max(map(len, notes))
    yield from ("  prepared:", *(f"    {name:<{width}}  {note}" for name, note in notes.items()))


def _plain(value: Any) -> Any:
    """A parameter as JSON can hold it."""
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
